package selection_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// fixedSizeLists returns fixed-size lists of types with and without a fixed width.
func fixedSizeLists() []arrow.DataType {
	list := arrow.FixedSizeListOf
	point := arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Float32},
		arrow.Field{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
		arrow.Field{Name: "flags", Type: list(3, arrow.FixedWidthTypes.Boolean), Nullable: true})
	return []arrow.DataType{
		list(64, arrow.PrimitiveTypes.Float32), list(7, arrow.PrimitiveTypes.Int8), list(2, arrow.PrimitiveTypes.Int32),
		list(5, arrow.FixedWidthTypes.Boolean),
		list(3, list(4, arrow.PrimitiveTypes.Int16)), list(2, list(3, list(5, arrow.FixedWidthTypes.Boolean))),
		list(3, &arrow.FixedSizeBinaryType{ByteWidth: 5}), list(3, &arrow.Decimal128Type{Precision: 20}),
		list(3, arrow.BinaryTypes.String), list(2, arrow.ListOf(arrow.PrimitiveTypes.Int8)), list(2, list(2, arrow.BinaryTypes.LargeString)),
		list(3, arrow.BinaryTypes.StringView), list(4, point),
		list(3, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}),
		arrow.FixedSizeListOfNonNullable(3, arrow.PrimitiveTypes.Int16),
		arrow.StructOf(arrow.Field{Name: "e", Type: list(9, arrow.PrimitiveTypes.Float64), Nullable: true}),
	}
}

// TestFixedSizeLists takes, filters, reverses, concatenates and chooses fixed-size
// lists: sliced, with null lists and null elements.
func TestFixedSizeLists(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for number, of := range fixedSizeLists() {
			t.Run(fmt.Sprint(of), func(t *testing.T) {
				for round := range 4 {
					g := arraytest.NewGenerator(uint64(10*number + round))
					g.Nulls = []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull}[round%2]
					g.Sliced = round >= 2
					ahead, n := g.IntN(10), []int{40, 33}[round%2]
					values := g.Array(of, ahead+n)
					defer values.Release()
					seen := array.NewSlice(values, int64(ahead), int64(ahead+n))
					defer seen.Release()
					c := upload(t, mgr, values, ahead, 0)

					rows := randomRows(g.Rand, 100, n, round%2 == 0)
					taken, err := selection.TakeColumn(t.Context(), c, upload(t, mgr, indicesOf(t, arrow.PrimitiveTypes.Int32, rows), 0, 0))
					require.NoError(t, err)
					requireRows(t, download(t, taken), seen, rows)

					bits, kept := g.Array(arrow.FixedWidthTypes.Boolean, n).(*array.Boolean), []int(nil)
					defer bits.Release()
					for i := range n {
						if bits.IsValid(i) && bits.Value(i) {
							kept = append(kept, i)
						}
					}
					mask := upload(t, mgr, bits, 0, 0)
					filtered, err := selection.FilterColumn(t.Context(), c, mask)
					require.NoError(t, err)
					requireTable(t, filtered, kept, seen)

					back, err := selection.ReverseColumn(t.Context(), c)
					require.NoError(t, err)
					reversed := make([]int, n)
					for i := range reversed {
						reversed[i] = n - 1 - i
					}
					requireRows(t, download(t, back), seen, reversed)

					chosen, err := selection.Choose(t.Context(), mask, c, c)
					require.NoError(t, err)
					same := upTo(n)
					for i := range same {
						if bits.IsNull(i) {
							same[i] = -1
						}
					}
					requireRows(t, download(t, chosen), seen, same)
				}
			})
		}
	})
}

// TestEmbeddingsTakeTheirBytes filters and takes lists of 64 floats. The operators
// allocate the result and some bytes per row, not eight per element.
func TestEmbeddingsTakeTheirBytes(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		const n, size = 2000, 64
		const bytes = n * size * 4
		g := arraytest.NewGenerator(1)
		g.Nulls = arraytest.NoneNull
		values := g.Array(arrow.FixedSizeListOf(size, arrow.PrimitiveTypes.Float32), n)
		defer values.Release()
		c := upload(t, mgr, values, 0, 0)
		bits := g.Array(arrow.FixedWidthTypes.Boolean, n)
		defer bits.Release()
		mask := upload(t, mgr, bits, 0, 0)
		order := upload(t, mgr, indicesOf(t, arrow.PrimitiveTypes.Int32, upTo(n)), 0, 0)
		for name, run := range map[string]func() (releaser, error){
			"filter":  func() (releaser, error) { return selection.FilterColumn(t.Context(), c, mask) },
			"take":    func() (releaser, error) { return selection.TakeColumn(t.Context(), c, order) },
			"reverse": func() (releaser, error) { return selection.ReverseColumn(t.Context(), c) },
		} {
			before := mgr.Stats().InUse
			mgr.ResetPeak()
			made, err := run()
			require.NoError(t, err)
			require.LessOrEqual(t, mgr.Stats().Peak-before, uint64(bytes+40*n), name)
			require.NoError(t, made.Release())
		}
	})
}
