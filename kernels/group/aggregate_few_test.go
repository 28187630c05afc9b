package group_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// fewKeyTypes are types of keys that one block groups.
var fewKeyTypes = [][]arrow.DataType{
	{arrow.PrimitiveTypes.Int32},
	{arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean},
	{arrow.PrimitiveTypes.Uint64},
	{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Float32, arrow.FixedWidthTypes.Date32},
	{arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int64, arrow.FixedWidthTypes.Boolean},
	{arrow.FixedWidthTypes.Timestamp_us},
}

var fewValueTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int8, &arrow.Decimal128Type{Precision: 38, Scale: 3}, arrow.FixedWidthTypes.Boolean,
	arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int64,
}

// TestFewRows compares groups around the sizes of warps, blocks and the most rows of one launch
// with the model: with few groups, whose states have copies in shared memory, and with a group for
// each row.
func TestFewRows(t *testing.T) {
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		for i, n := range devicetest.Sizes(mgr.Device(), 0, 1, 31, 32, 33, 1000, 1025, 4095, 4096, 4097) {
			for j, distinct := range []int{3, max(n, 1)} {
				if n > 33 && brief(mgr) && j > 0 {
					continue
				}
				t.Run(fmt.Sprint(n, " ", j), func(t *testing.T) {
					keys, value := fewKeyTypes[(i+j)%len(fewKeyTypes)], fewValueTypes[(2*i+j)%len(fewValueTypes)]
					g := arraytest.NewGenerator(uint64(2*i + j))
					d := draw(t, mgr, g, keys, value, distinct, n)
					query, options := group.By(d.table, group.Columns(d.names()...)...), group.ByOptions{Order: group.FirstAppearance}
					takes := func(int) bool { return true }
					switch (i + j) % 3 {
					case 1:
						query, takes = query.Where(expr.Col("w")), func(row int) bool { return d.where.IsValid(row) && d.where.Value(row) }
					case 2:
						options.Nulls, takes = group.DropNulls, func(row int) bool {
							for _, key := range d.keys {
								if key.IsNull(row) {
									return false
								}
							}
							return true
						}
					}
					d.checkFew(t, query, options, takes, 4)
				})
			}
		}
	})
}

// fewFunctions are the names of models that one launch computes.
var fewFunctions = []string{"count all", "count", "count null", "sum", "product", "bit or", "bit xor", "min", "max", "arg min", "arg max", "any", "all"}

// checkFew is check with at most some of the aggregates.
func (d *drawn) checkFew(t *testing.T, query group.Query, options group.ByOptions, takes func(row int) bool, most int) {
	t.Helper()
	var models []requested
	for _, m := range modelAggregates {
		if slices.Contains(fewFunctions, m.name) && m.accepts(d.value.values.DataType()) {
			models = append(models, requested{m, d.random.IntN(2) == 0})
		}
	}
	d.random.Shuffle(len(models), func(i, j int) { models[i], models[j] = models[j], models[i] })
	models = models[:min(most, len(models))]
	aggregates := make([]group.Aggregate, len(models))
	for i, m := range models {
		aggregates[i] = m.made()
	}
	result, err := query.Aggregate(t.Context(), aggregates, options)
	require.NoError(t, err)
	d.compare(t, columntest.Fetch(t, result), models, takes)
}

// TestFewRowsOfTheHost compares sums, means and moments with those of the host, bit for bit.
func TestFewRowsOfTheHost(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for i, n := range devicetest.Sizes(dev, 1, 33, 1000, 4096) {
			for _, distinct := range []int{1, 50, n} {
				if n == 4096 && distinct == 50 || n == 1000 && brief(mgr) && distinct == 1 {
					continue
				}
				t.Run(fmt.Sprint(n, " ", distinct), func(t *testing.T) {
					g := arraytest.NewGenerator(uint64(i))
					schema := arrow.NewSchema([]arrow.Field{
						{Name: "key", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
						{Name: "y", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "d", Type: &arrow.Decimal128Type{Precision: 20, Scale: 2}, Nullable: true},
					}, nil)
					record := array.NewRecord(schema, []arrow.Array{
						columntest.Repeated(t, g, schema.Field(0).Type, distinct, n), columntest.Repeated(t, g, schema.Field(1).Type, n, n),
						columntest.Repeated(t, g, schema.Field(2).Type, n, n), columntest.Repeated(t, g, schema.Field(3).Type, n, n),
					}, int64(n))
					defer record.Release()
					x, y, d := expr.Col("x"), expr.Col("y"), expr.Col("d")
					for _, aggregates := range [][]group.Aggregate{
						{group.Sum(x), group.Mean(y), group.Sum(d), group.Mean(d), group.Variance(y, 1), group.Max(x)},
						{group.Skewness(y), group.Kurtosis(y), group.KurtosisPop(x), group.Correlation(x, y), group.Covariance(y, y, 0).Where(x.Gt(expr.Lit(0.0))), group.StdDev(x, 0)},
					} {
						var texts [2][]string
						for i, manager := range []*memory.Manager{host, mgr} {
							table, err := buffer.FromRecord(manager, record)
							require.NoError(t, err)
							result, err := group.By(table, group.Columns("key")...).Aggregate(t.Context(), aggregates, group.ByOptions{Order: group.FirstAppearance})
							require.NoError(t, err)
							require.NoError(t, table.Release())
							fetched := columntest.Fetch(t, result)
							for _, c := range fetched.Columns() {
								texts[i] = append(texts[i], columntest.Texts(c)...)
							}
						}
						require.Equal(t, texts[0], texts[1])
					}
				})
			}
		}
	})
}
