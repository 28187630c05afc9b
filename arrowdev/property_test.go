//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/arrowdev/internal/producertest"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// drawType draws a type that is nested up to levels deep.
func drawType(t *rapid.T, levels int) arrow.DataType {
	if levels == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		return rapid.SampledFrom(arraytest.FlatTypes()).Draw(t, "type")
	}
	inner := func() arrow.DataType { return drawType(t, levels-1) }
	fields := make([]arrow.Field, rapid.IntRange(1, 3).Draw(t, "fields"))
	nesting := rapid.IntRange(0, 9).Draw(t, "nesting")
	if nesting > 6 {
		for i := range fields {
			fields[i] = arrow.Field{Name: fmt.Sprint("field", i), Type: inner(), Nullable: true}
		}
	}
	codes := []arrow.UnionTypeCode{7, 3, 100}[:len(fields)]
	switch nesting {
	case 0:
		return arrow.ListOf(inner())
	case 1:
		return arrow.LargeListOf(inner())
	case 2:
		return arrow.ListViewOf(inner())
	case 3:
		return arrow.FixedSizeListOf(int32(rapid.IntRange(1, 4).Draw(t, "size")), inner())
	case 4:
		return arrow.MapOf(arrow.BinaryTypes.String, inner())
	case 5:
		return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: inner()}
	case 6:
		return arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, inner())
	case 7:
		return arrow.SparseUnionOf(fields, codes)
	case 8:
		return arrow.DenseUnionOf(fields, codes)
	}
	return arrow.StructOf(fields...)
}

// A column of any type, with any slice, is exported. Its structs are imported after a
// further cut of their offset and length.
func TestRoundTripOfAnyColumn(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		property.Check(t, func(rt *rapid.T) {
			g := arraytest.NewGenerator(rapid.Uint64().Draw(rt, "seed"))
			g.Nulls = rapid.SampledFrom([]arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull}).Draw(rt, "nulls")
			g.Sliced = rapid.Bool().Draw(rt, "sliced")
			n := rapid.IntRange(0, 40).Draw(rt, "length")
			whole := recordOf(g.Array(drawType(rt, 3), n))
			table := upload(t, m, whole)
			from := rapid.IntRange(0, n).Draw(rt, "from")
			to := rapid.IntRange(from, n).Draw(rt, "to")
			c, err := table.Column(0).Slice(from, to-from)
			require.NoError(rt, err)
			require.NoError(rt, table.Release())

			a, err := ExportColumn(c, whole.Schema().Field(0))
			require.NoError(rt, err)
			require.NoError(rt, c.Release())
			p := producertest.Disguise(deviceArray(a))
			defer p.Free()
			ahead := rapid.IntRange(0, to-from).Draw(rt, "ahead")
			behind := rapid.IntRange(0, to-from-ahead).Draw(rt, "behind")
			p.Device.Array.Offset += int64(ahead)
			p.Device.Array.Length -= int64(ahead + behind)
			if p.Device.Array.NullCount > 0 {
				p.Device.Array.NullCount = -1
			}
			back, field, err := ImportColumn(m, pointerTo(p.Device), a.Schema(), ImportOptions{Unchecked: rapid.Bool().Draw(rt, "unchecked")})
			require.NoError(rt, err)
			require.True(rt, whole.Schema().Field(0).Equal(field))
			want := array.NewSlice(whole.Column(0), int64(from+ahead), int64(to-behind))
			got := arrayOf(t, back)
			require.True(rt, array.Equal(want, got), "%v\n%v", want, got)
			require.NoError(rt, back.Release())
			require.NoError(rt, a.Release())
			require.Equal(rt, 1, p.Ended())
			requireNothingHeld(rt, m)
		})
	})
}
