package nested_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowalloc "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/nested"
	"github.com/gpuframe/gpuframe/memory"
)

// TestExplodeTiles repeats values of each width over several tiles, with lists longer than a
// tile and runs of empty lists that are.
func TestExplodeTiles(t *testing.T) {
	d := &arrow.Decimal128Type{Precision: 30, Scale: 2}
	fields := []arrow.Field{
		{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int16), Nullable: true}, {Name: "i8", Type: arrow.PrimitiveTypes.Int8},
		{Name: "i16", Type: arrow.PrimitiveTypes.Int16}, {Name: "i32", Type: arrow.PrimitiveTypes.Int32}, {Name: "i64", Type: arrow.PrimitiveTypes.Int64},
		{Name: "d", Type: d}, {Name: "some", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String},
	}
	schema := arrow.NewSchema(fields, nil)
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(5)
		for _, most := range []int{2, 40, 6000} {
			b := array.NewRecordBuilder(arrowalloc.DefaultAllocator, schema)
			lists := b.Field(0).(*array.ListBuilder)
			items := lists.ValueBuilder().(*array.Int16Builder)
			var lengths []int
			for elements := 0; elements < 7000; {
				length := g.IntN(most)
				if g.IntN(4000/most+1) == 0 { // many empty lists
					lengths = append(lengths, make([]int, g.IntN(2500))...)
				}
				lengths, elements = append(lengths, length), elements+length
			}
			for row, length := range lengths {
				if length == 0 && row%2 == 0 {
					lists.AppendNull()
				} else {
					lists.Append(true)
				}
				for i := range length {
					items.Append(int16(i))
				}
				b.Field(1).(*array.Int8Builder).Append(int8(row))
				b.Field(2).(*array.Int16Builder).Append(int16(row))
				b.Field(3).(*array.Int32Builder).Append(int32(row))
				b.Field(4).(*array.Int64Builder).Append(int64(row))
				b.Field(5).(*array.Decimal128Builder).Append(decimal128.FromI64(int64(row)))
				if row%5 == 0 {
					b.Field(6).AppendNull()
				} else {
					b.Field(6).(*array.Int32Builder).Append(int32(row))
				}
				b.Field(7).(*array.StringBuilder).Append(fmt.Sprint(row))
			}
			record := b.NewRecord()
			table, err := buffer.FromRecord(mgr, record)
			require.NoError(t, err)
			for _, drop := range []bool{false, true} {
				made, err := nested.Explode(t.Context(), table, []string{"list"}, nested.ExplodeOptions{DropEmpty: drop})
				require.NoError(t, err)
				got, at := columntest.Fetch(t, made), 0
				for row, length := range lengths {
					n := length
					if n == 0 && !drop {
						n = 1
					}
					for i := range n {
						if length > 0 {
							require.Equal(t, int16(i), got.Column(0).(*array.Int16).Value(at))
						} else {
							require.True(t, got.Column(0).IsNull(at))
						}
						for k := 1; k < len(fields); k++ {
							want := record.Column(k).ValueStr(row)
							if got.Column(k).ValueStr(at) != want {
								t.Fatalf("lists up to %d, drop %v, %s of element %d: %s, expected %s of row %d", most, drop, fields[k].Name, at, got.Column(k).ValueStr(at), want, row)
							}
						}
						at++
					}
				}
				require.Equal(t, at, int(got.NumRows()))
			}
			require.NoError(t, table.Release())
			record.Release()
			b.Release()
		}
	})
}
