package group_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// packedNames are the keys of packedRecord: with small ranges, with ranges of 40 bits and of all 64, and of types
// that are numbered.
var packedNames = []string{"tiny", "negative", "forty", "whole", "real", "text", "none", "truth"}

// packedRecord is n rows with few different values of each key, and with nulls.
func packedRecord(r *rand.Rand, n int) arrow.Record {
	null := []bool{false, true, true, false, false, true, true, true}
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float64,
		arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32, arrow.FixedWidthTypes.Boolean,
	}
	var fields []arrow.Field
	for i, name := range packedNames {
		fields = append(fields, arrow.Field{Name: name, Type: types[i], Nullable: null[i]})
	}
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for range n {
		for i, f := range b.Fields() {
			x := r.IntN(3)
			if null[i] && (r.IntN(4) == 0 || packedNames[i] == "none") {
				f.AppendNull()
				continue
			}
			switch f := f.(type) {
			case *array.Uint8Builder:
				f.Append(uint8(100 * x))
			case *array.Int16Builder:
				f.Append(int16(20_000 * (x - 1)))
			case *array.Int64Builder:
				f.Append(int64(x-1) << 39)
			case *array.Uint64Builder:
				f.Append([]uint64{0, math.MaxUint64, 1 << 63}[x])
			case *array.Float64Builder:
				f.Append([]float64{0, math.Copysign(0, -1), math.NaN()}[x])
			case *array.StringBuilder:
				f.Append([]string{"", "a", "bb"}[x])
			case *array.Int32Builder:
				f.AppendNull()
			case *array.BooleanBuilder:
				f.Append(x == 0)
			}
		}
	}
	return b.NewRecord()
}

// TestPackedKeys compares groups by several keys with those of the host: keys of 4, 8 and 16 bytes, and more than
// two words.
func TestPackedKeys(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
	r := rand.New(rand.NewPCG(95, 96))
	lists := [][]string{{"tiny", "negative"}, {"tiny", "forty"}, {"forty", "tiny", "forty"}, {"forty", "forty", "forty", "forty", "tiny"}, {"none", "tiny"}, {"whole", "tiny"}}
	for range 8 {
		var list []string
		for range 2 + r.IntN(18) {
			list = append(list, packedNames[r.IntN(len(packedNames))])
		}
		lists = append(lists, list)
	}
	for i, list := range lists {
		n := []int{0, 1, 900, 2500}[r.IntN(4)]
		if i < 6 {
			n = 1200
		}
		record := packedRecord(r, n)
		var answers []arrow.Record
		for _, m := range []*memory.Manager{host, mgr} {
			table, err := buffer.FromRecord(m, record)
			require.NoError(t, err)
			query := group.By(table, group.Columns(list...)...)
			if i%2 == 0 {
				query = query.Where(expr.Col("tiny").Lt(expr.Lit(uint8(200)))) // the device counts the rows
			}
			ctx := strategy.WithGroup(t.Context(), strategy.Group{MeasuredRows: 1})
			made, err := query.Aggregate(ctx, []group.Aggregate{group.CountAll(), group.CountDistinct(expr.Col("real"), expr.Col("forty"))}, group.ByOptions{Order: group.FirstAppearance})
			require.NoError(t, err, list)
			answers = append(answers, columntest.Fetch(t, made))
			require.NoError(t, table.Release())
		}
		requireEqual(t, answers[0], answers[1], fmt.Sprint(n, list))
		record.Release()
	}
}

// TestEveryAllocationOfPackedKeysFails fails each allocation.
func TestEveryAllocationOfPackedKeysFails(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		failEach(t, dev, func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			ctx = strategy.WithGroup(ctx, strategy.Group{MeasuredRows: 1})
			return group.By(table, group.Columns("k", "x", "s")...).Aggregate(ctx, []group.Aggregate{group.CountAll()})
		})
	})
}
