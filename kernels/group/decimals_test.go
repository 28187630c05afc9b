package group_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/aggregate"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// decimalMean returns the mean of decimals of a type, or null if it has more than 38 digits.
func decimalMean(values []*big.Int, of *arrow.Decimal128Type) string {
	sum, count := new(big.Int), big.NewInt(int64(len(values)))
	for _, x := range values {
		sum.Add(sum, x)
	}
	ten := big.NewInt(10)
	sum.Mul(sum, new(big.Int).Exp(ten, big.NewInt(int64(aggregate.MeanOfDecimals(of).Scale-of.Scale)), nil))
	sign, rest := int64(sum.Sign()), new(big.Int)
	if len(values) == 0 {
		return isNull
	}
	if sum.QuoRem(sum, count, rest); rest.Lsh(rest, 1).CmpAbs(count) >= 0 {
		sum.Add(sum, big.NewInt(sign))
	}
	if sum.CmpAbs(new(big.Int).Exp(ten, big.NewInt(38), nil)) >= 0 {
		return isNull
	}
	return sum.String()
}

// TestMeansOfDecimals compares means of decimals with exact ones, for all ways in which groups are added
// up, and merged from parts.
func TestMeansOfDecimals(t *testing.T) {
	types := []*arrow.Decimal128Type{{Precision: 9, Scale: 2}, {Precision: 38}, {Precision: 34, Scale: 30}, {Precision: 38, Scale: 17}}
	ways := []strategy.Group{{}, {Add: strategy.Tiles, MeasuredRows: 1}, {Find: strategy.Partitions, Add: strategy.Partitions, MeasuredRows: 1, PlaceBits: 4}, {Add: strategy.Records, MeasuredRows: 1}}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		r := property.Random(t)
		for i, of := range types {
			for j, way := range ways {
				rows, groups := 1+r.IntN(3000), 1+r.IntN(200)
				if brief(mgr) && (i+j+property.Turn(t))%2 != 0 {
					rows = 1 + r.IntN(300)
				}
				schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "d", Type: of, Nullable: true}}, nil)
				b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
				limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(of.Precision)), nil)
				values := map[int32][]*big.Int{}
				for range rows {
					key := int32(r.IntN(groups))
					b.Field(0).(*array.Int32Builder).Append(key)
					if r.IntN(5) == 0 {
						b.Field(1).AppendNull()
						continue
					}
					x := new(big.Int).SetUint64(r.Uint64())
					x.Lsh(x, 64).Rsh(x, uint(r.IntN(127))).Mod(x, limit)
					if r.IntN(8) == 0 {
						x.Sub(limit, big.NewInt(1))
					}
					if key%2 == 0 && r.IntN(2) == 0 {
						x.Neg(x)
					}
					values[key] = append(values[key], x)
					b.Field(1).(*array.Decimal128Builder).Append(decimal128.FromBigInt(x))
				}
				record := b.NewRecord()
				b.Release()
				table, err := buffer.FromRecord(mgr, record)
				require.NoError(t, err)
				ctx := strategy.WithGroup(t.Context(), way)
				query := group.By(table, group.Columns("k")...)
				list := []group.Aggregate{group.Mean(expr.Col("d"))}
				whole, err := query.Aggregate(ctx, list)
				require.NoError(t, err)
				part, err := query.Partial(ctx, list)
				require.NoError(t, err)
				merged, err := group.Merge(ctx, schema, []*buffer.Buffer{part}, list)
				require.NoError(t, err)
				require.NoError(t, part.Release())
				for _, result := range []*buffer.Buffer{whole, merged} {
					got := columntest.Fetch(t, result)
					require.True(t, arrow.TypeEqual(aggregate.MeanOfDecimals(of), got.Column(1).DataType()), "%v", got.Column(1).DataType())
					keys, means := got.Column(0).(*array.Int32), got.Column(1).(*array.Decimal128)
					for row := range keys.Len() {
						want, text := decimalMean(values[keys.Value(row)], of), isNull
						if means.IsValid(row) {
							text = means.Value(row).BigInt().String()
						}
						require.Equal(t, want, text, fmt.Sprintf("%v, %+v, %d rows, group %d of %d", of, way, rows, keys.Value(row), groups))
					}
				}
				require.NoError(t, table.Release())
				record.Release()
			}
		}
	})
}
