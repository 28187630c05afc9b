package column_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// drawType draws a type that is nested up to levels deep.
func drawType(t *rapid.T, levels int) arrow.DataType {
	if levels == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		return rapid.SampledFrom(arraytest.FlatTypes()).Draw(t, "type")
	}
	inner := func() arrow.DataType { return drawType(t, levels-1) }
	fields := func() []arrow.Field {
		fields := make([]arrow.Field, rapid.IntRange(1, 3).Draw(t, "fields"))
		for i := range fields {
			fields[i] = arrow.Field{Name: fmt.Sprint("field", i), Type: inner(), Nullable: true}
		}
		return fields
	}
	codes := func(fields []arrow.Field) []arrow.UnionTypeCode {
		return []arrow.UnionTypeCode{7, 3, 100}[:len(fields)]
	}
	switch rapid.IntRange(0, 11).Draw(t, "nesting") {
	case 0:
		return arrow.ListOf(inner())
	case 1:
		return arrow.LargeListOf(inner())
	case 2:
		return arrow.ListViewOf(inner())
	case 3:
		return arrow.LargeListViewOf(inner())
	case 4:
		return arrow.FixedSizeListOf(int32(rapid.IntRange(1, 4).Draw(t, "size")), inner())
	case 5:
		return arrow.MapOf(arrow.BinaryTypes.String, inner())
	case 6:
		f := fields()
		return arrow.SparseUnionOf(f, codes(f))
	case 7:
		f := fields()
		return arrow.DenseUnionOf(f, codes(f))
	case 8:
		index := rapid.SampledFrom([]arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int64})
		return &arrow.DictionaryType{IndexType: index.Draw(t, "index"), ValueType: inner()}
	case 9:
		ends := rapid.SampledFrom([]arrow.DataType{arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64})
		return arrow.RunEndEncodedOf(ends.Draw(t, "run ends"), inner())
	case 10:
		storage := inner()
		if storage.ID() == arrow.NULL {
			storage = arrow.ListOf(storage) // arrow-go cannot slice an extension of null
		}
		return arraytest.NewTemperature(storage)
	}
	return arrow.StructOf(fields()...)
}

// Arrays of any type, cut into any chunks and sliced anywhere, are unchanged by an
// upload and a download.
func TestRoundTripOfAnyArray(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(rt *rapid.T) {
			dataType := drawType(rt, 3)
			g := arraytest.NewGenerator(rapid.Uint64().Draw(rt, "seed"))
			var chunks []arrow.Array
			total := 0
			for range rapid.IntRange(1, 3).Draw(rt, "chunks") {
				g.Nulls = rapid.SampledFrom([]arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull}).Draw(rt, "nulls")
				g.Sliced = rapid.Bool().Draw(rt, "sliced")
				n := rapid.IntRange(0, 40).Draw(rt, "length")
				a := g.Array(dataType, n)
				from := rapid.IntRange(0, n).Draw(rt, "from")
				to := rapid.IntRange(from, n).Draw(rt, "to")
				chunks = append(chunks, array.NewSlice(a, int64(from), int64(to)))
				total += to - from
			}
			c, err := column.FromArrays(t.Context(), mgr, [][]arrow.Array{chunks}, column.UploadOptions{})
			require.NoError(rt, err)
			defer func() {
				require.NoError(rt, c[0].Release())
				require.Zero(rt, mgr.Stats().Blocks)
			}()
			requireTidy(rt, c[0])
			offset := rapid.IntRange(0, total).Draw(rt, "offset")
			length := rapid.IntRange(0, total-offset).Draw(rt, "slice")
			slice, err := c[0].Slice(offset, length)
			require.NoError(rt, err)
			defer func() { require.NoError(rt, slice.Release()) }()
			arrays, err := column.ToArrays(t.Context(), []*column.Column{c[0], slice}, column.DownloadOptions{})
			require.NoError(rt, err)
			requireChunks(rt, chunks, arrays[0])
			requireChunks(rt, []arrow.Array{array.NewSlice(arrays[0], int64(offset), int64(offset+length))}, arrays[1])
		})
	})
}
