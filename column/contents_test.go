package column_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// integers makes an Arrow buffer of integers of a width.
func integers(width int, values ...int64) *arrowmemory.Buffer {
	bytes := make([]byte, 0, width*len(values))
	for _, value := range values {
		word := binary.LittleEndian.AppendUint64(nil, uint64(value))
		bytes = append(bytes, word[:width]...)
	}
	return buffer(bytes)
}

func arrayOf(t arrow.DataType, length, nulls int, buffers []*arrowmemory.Buffer, children ...arrow.ArrayData) arrow.Array {
	return malformed{nil, array.NewData(t, length, buffers, children, nulls, 0)}
}

// unsound are arrays with consistent parts and invalid contents. File readers may
// return such arrays.
func unsound() map[string]struct {
	array arrow.Array
	want  string
} {
	number := arrow.PrimitiveTypes.Int32
	three := array.NewData(number, 3, []*arrowmemory.Buffer{nil, integers(4, 1, 2, 3)}, nil, 0, 0)
	text := func(width int, offsets ...int64) arrow.Array {
		t := arrow.DataType(arrow.BinaryTypes.String)
		if width == 8 {
			t = arrow.BinaryTypes.LargeString
		}
		return arrayOf(t, len(offsets)-1, 0, []*arrowmemory.Buffer{nil, integers(width, offsets...), buffer([]byte("abc"))})
	}
	view := func(words ...int64) arrow.Array {
		return arrayOf(arrow.BinaryTypes.StringView, len(words)/4, 0, []*arrowmemory.Buffer{nil, integers(4, words...), buffer(make([]byte, 20))})
	}
	listView := func(validity *arrowmemory.Buffer, offset, size int64) arrow.Array {
		nulls := 0
		if validity != nil {
			nulls = 1
		}
		return arrayOf(arrow.ListViewOf(number), 2, nulls, []*arrowmemory.Buffer{validity, integers(4, 0, offset), integers(4, 3, size)}, three)
	}
	union := func(id, offset int64) arrow.Array {
		t := arrow.DenseUnionOf([]arrow.Field{{Name: "n", Type: number}}, []arrow.UnionTypeCode{4})
		return arrayOf(t, 2, 0, []*arrowmemory.Buffer{nil, integers(1, 4, id), integers(4, 0, offset)}, three)
	}
	sparse := arrow.SparseUnionOf([]arrow.Field{{Name: "n", Type: number}}, []arrow.UnionTypeCode{4})
	runs := func(ends ...int64) arrow.Array {
		e := array.NewData(arrow.PrimitiveTypes.Int16, len(ends), []*arrowmemory.Buffer{nil, integers(2, ends...)}, nil, 0, 0)
		return arrayOf(arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, number), 9, 0, []*arrowmemory.Buffer{nil}, e, three)
	}
	dictionary := func(width int, t arrow.DataType, values arrow.ArrayData, indices ...int64) arrow.Array {
		data := array.NewData(&arrow.DictionaryType{IndexType: t, ValueType: values.DataType()}, len(indices), []*arrowmemory.Buffer{nil, integers(width, indices...)}, nil, 0, 0)
		data.SetDictionary(values)
		return malformed{nil, data}
	}
	inner := text(4, 0, -7, 3)
	list := arrayOf(arrow.ListOf(arrow.BinaryTypes.String), 1, 0, []*arrowmemory.Buffer{nil, integers(4, 0, 2)}, inner.Data())
	return map[string]struct {
		array arrow.Array
		want  string
	}{
		"text":                  {text(4, 0, -7, 3), "buffer 1 (offsets): number 1 is -7, less than the 0 before it"},
		"text beyond":           {text(4, 0, 99, 3), "buffer 1 (offsets): number 2 is 3, less than the 99 before it"},
		"large text":            {text(8, 0, math.MinInt64, 3), "number 1 is -9223372036854775808"},
		"large text beyond":     {text(8, 0, math.MaxInt64, 3), "number 2 is 3"},
		"list":                  {arrayOf(arrow.ListOf(number), 2, 0, []*arrowmemory.Buffer{nil, integers(4, 0, 1<<30, 3)}, three), "buffer 1 (offsets): number 2 is 3"},
		"text in a list":        {list, "child 0 (item): buffer 1 (offsets): number 1 is -7"},
		"view beyond":           {view(15, 0, 0, 5, 15, 0, 0, 6), "buffer 1 (views): number 1 points to 15 bytes at 6 of data buffer 0"},
		"view of no buffer":     {view(3, 0, 0, 0, 15, 0, 7, 0), "number 1 points"},
		"view of less":          {view(-1, 0, 0, 0), "number 0 points to -1 bytes"},
		"list view":             {listView(nil, 2, 2), "list 1 is 2 elements at 2 of a child of 3"},
		"list view before":      {listView(nil, -1, 2), "list 1 is 2 elements at -1"},
		"list view under null":  {listView(buffer([]byte{1}), 77, 1), "list 1 is 1 elements at 77"},
		"union of no type":      {union(3, 0), "buffer 0 (type ids): number 1 is 3"},
		"union beyond":          {union(4, 3), "buffer 1 (offsets): number 1 is 3, but child 0 has 3 elements"},
		"union before":          {union(4, -1), "buffer 1 (offsets): number 1 is -1"},
		"sparse union":          {arrayOf(sparse, 2, 0, []*arrowmemory.Buffer{nil, integers(1, 4, -4)}, three), "buffer 0 (type ids): number 1 is -4"},
		"runs that shrink":      {runs(5, 2, 9), "child 0 (run ends): number 1 is 2, after 5"},
		"runs of nothing":       {runs(2, 2, 9), "child 0 (run ends): number 1 is 2, after 2"},
		"index beyond":          {dictionary(1, arrow.PrimitiveTypes.Int8, three, 0, 3), "buffer 1 (indices): number 1 is 3, but the dictionary has 3 values"},
		"index before":          {dictionary(2, arrow.PrimitiveTypes.Int16, three, 0, -1), "number 1 is -1"},
		"wide index":            {dictionary(8, arrow.PrimitiveTypes.Uint64, three, 0, -1), "number 1 is 18446744073709551615"},
		"text in a dictionary":  {dictionary(4, number, inner.Data(), 0, 1), "dictionary: buffer 1 (offsets): number 1 is -7"},
		"large text dictionary": {dictionary(4, number, text(8, 0, 1<<60, 3).Data(), 0, 1), "dictionary: buffer 1 (offsets): number 2 is 3"},
	}
}

func TestUnsoundContentsAreRefused(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		good := columnOfInts(t)
		for name, c := range unsound() {
			t.Run(name, func(t *testing.T) {
				_, err := column.FromArrays(t.Context(), mgr, [][]arrow.Array{{good}, {c.array}}, column.UploadOptions{})
				require.ErrorIs(t, err, column.ErrInvalid)
				require.ErrorContains(t, err, "column 1: ")
				require.ErrorContains(t, err, c.want)
				name := func(i int) string { return []string{"a", "b"}[i] }
				_, err = column.FromArrays(t.Context(), mgr, [][]arrow.Array{{good}, {c.array, c.array}}, column.UploadOptions{Name: name})
				require.ErrorIs(t, err, column.ErrInvalid)
				require.ErrorContains(t, err, `column 1 "b": `)
				require.ErrorContains(t, err, "chunk ")
				assert.Zero(t, mgr.Stats().Blocks)

				made, err := column.FromArray(t.Context(), mgr, c.array, column.UploadOptions{Unchecked: true})
				require.NoError(t, err, "the contents are unchecked")
				if back, err := made.Array(t.Context()); err == nil {
					assert.Contains(t, t.Name(), "list_view_under_null")
					back.Release()
				} else {
					require.ErrorIs(t, err, column.ErrInvalid, "it does not come back either")
				}
				require.NoError(t, made.Release())
			})
		}
	})
}

func columnOfInts(t testing.TB) arrow.Array {
	t.Helper()
	return array.MakeFromData(array.NewData(arrow.PrimitiveTypes.Int8, 3, []*arrowmemory.Buffer{nil, buffer([]byte{1, 2, 3})}, nil, 0, 0))
}

// Every element is checked, in buffers of any alignment and for any division among
// the goroutines.
func TestEveryOffsetIsChecked(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{Staging: memory.StagingOptions{ChunkBytes: 256 << 10, Workers: 3}})
	for _, width := range []int{4, 8} {
		dataType := arrow.DataType(arrow.BinaryTypes.Binary)
		if width == 8 {
			dataType = arrow.BinaryTypes.LargeBinary
		}
		property.Check(t, func(r *rapid.T) {
			n := rapid.SampledFrom([]int{1, 2, 3, 9, 100, 70_000}).Draw(r, "n")
			shift := rapid.IntRange(0, 9).Draw(r, "shift")
			offset := rapid.IntRange(0, 3).Draw(r, "offset")
			bytes := make([]byte, shift+width*(offset+n+1))
			put := func(i int, value int64) {
				word := binary.LittleEndian.AppendUint64(nil, uint64(value))
				copy(bytes[shift+width*(offset+i):], word[:width])
			}
			for i := range n + 1 {
				put(i, int64(i))
			}
			bad := rapid.IntRange(-1, n-1).Draw(r, "bad")
			if bad > 0 {
				put(bad, rapid.SampledFrom([]int64{-1, int64(bad) - 2, int64(n) + 1, math.MaxInt32, math.MinInt32}).Draw(r, "becomes"))
			}
			data := array.NewData(dataType, n, []*arrowmemory.Buffer{nil, buffer(bytes[shift:]), buffer(make([]byte, n))}, nil, 0, offset)
			made, err := column.FromArray(t.Context(), mgr, malformed{nil, data}, column.UploadOptions{})
			if bad > 0 {
				require.ErrorIs(r, err, column.ErrInvalid)
				return
			}
			require.NoError(r, err)
			require.NoError(r, made.Release())
		})
	}
}

// Chunks are checked before arrow-go merges their dictionaries. Indices of nulls may
// have any value.
func TestIndicesOfNullsMayBeAnything(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	of := func(values ...int64) arrow.Array {
		number := arrow.PrimitiveTypes.Int32
		dictionary := array.NewData(number, len(values), []*arrowmemory.Buffer{nil, integers(4, values...)}, nil, 0, 0)
		data := array.NewData(&arrow.DictionaryType{IndexType: number, ValueType: number}, 2, []*arrowmemory.Buffer{buffer([]byte{1}), integers(4, 0, 77)}, nil, 1, 0)
		data.SetDictionary(dictionary)
		return array.MakeFromData(data)
	}
	for _, chunks := range [][]arrow.Array{{of(5)}, {of(5), of(5)}, {of(5), of(6)}} {
		columns, err := column.FromArrays(t.Context(), mgr, [][]arrow.Array{chunks}, column.UploadOptions{})
		require.NoError(t, err)
		back, err := columns[0].Array(t.Context())
		require.NoError(t, err)
		assert.Equal(t, len(chunks), back.NullN())
		back.Release()
		require.NoError(t, columns[0].Release())
	}
}

// A null count of a file may be wrong: the bitmap determines the number of nulls.
func TestClaimedNullsAreCounted(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for _, claimed := range []int{1, 2, 3, 8} {
		a := arrayOf(arrow.PrimitiveTypes.Int8, 8, claimed, []*arrowmemory.Buffer{buffer([]byte{0b11110001}), buffer(make([]byte, 8))})
		c, err := column.FromArray(t.Context(), mgr, a, column.UploadOptions{})
		require.NoError(t, err)
		assert.Equal(t, 3, c.NullCount())
		require.NoError(t, c.Release())
	}
}
