package column_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// malformed is an array with possibly inconsistent parts, which arrow-go would not
// make.
type malformed struct {
	arrow.Array
	data arrow.ArrayData
}

func (m malformed) Data() arrow.ArrayData { return m.data }

// parts are the parts of an ArrayData, which may be changed.
type parts struct {
	dataType   arrow.DataType
	length     int
	buffers    []*arrowmemory.Buffer
	children   []arrow.ArrayData
	nulls      int
	offset     int
	dictionary arrow.ArrayData
}

func partsOf(d arrow.ArrayData) parts {
	return parts{d.DataType(), d.Len(), slices.Clone(d.Buffers()), slices.Clone(d.Children()), d.NullN(), d.Offset(), d.Dictionary()}
}

func (p parts) data() arrow.ArrayData {
	data := array.NewData(p.dataType, p.length, p.buffers, p.children, p.nulls, p.offset)
	data.SetDictionary(p.dictionary)
	return data
}

// mutants are arrays that each differ in one part, at any level, from a valid one and
// are invalid. If the name begins with a question mark, the array may be accepted:
// only its values are wrong.
func mutants(d arrow.ArrayData) iter.Seq2[string, arrow.ArrayData] {
	return func(yield func(string, arrow.ArrayData) bool) {
		change := func(name string, change func(p *parts)) bool {
			p := partsOf(d)
			change(&p)
			return yield(name, p.data())
		}
		for i, whole := range d.Buffers() {
			if whole == nil || whole.Len() == 0 {
				continue
			}
			doubt := ""
			if i > 1 && (d.DataType().ID() == arrow.STRING_VIEW || d.DataType().ID() == arrow.BINARY_VIEW) || i == 0 && d.NullN() == array.UnknownNullCount {
				doubt = "?"
			}
			if !change(fmt.Sprintf("%sbuffer %d is absent", doubt, i), func(p *parts) { p.buffers[i] = nil }) ||
				!change(fmt.Sprintf("%sbuffer %d is empty", doubt, i), func(p *parts) { p.buffers[i] = buffer(nil) }) {
				return
			}
			if i == 0 && doubt == "?" {
				doubt = ""
			}
			if !change(fmt.Sprintf("%sbuffer %d lacks a byte", doubt, i), func(p *parts) { p.buffers[i] = buffer(whole.Bytes()[:whole.Len()-1]) }) {
				return
			}
			noise := arraytest.NewGenerator(uint64(i)).Random(whole.Len())
			if !change(fmt.Sprintf("?buffer %d is noise", i), func(p *parts) { p.buffers[i] = buffer(noise) }) {
				return
			}
		}
		_ = change("the length is negative", func(p *parts) { p.length = -1 }) &&
			change("the offset is negative", func(p *parts) { p.offset = -1 }) &&
			change("the offset is huge", func(p *parts) { p.offset = math.MaxInt }) &&
			change("?the length is huge", func(p *parts) { p.length = math.MaxInt / 2 }) &&
			change("too many nulls", func(p *parts) { p.nulls = p.length + 1 }) &&
			change("too few nulls", func(p *parts) { p.nulls = -2 }) &&
			change("?no buffers", func(p *parts) { p.buffers = nil }) &&
			change("a child too many", func(p *parts) { p.children = append(p.children, d) }) &&
			change("another type", func(p *parts) { p.dataType = &arrow.FixedSizeBinaryType{ByteWidth: 77} }) &&
			change("no type", func(p *parts) { p.dataType = nil })
		for i, child := range d.Children() {
			_ = change(fmt.Sprintf("child %d is nil", i), func(p *parts) { p.children[i] = nil }) &&
				change(fmt.Sprintf("child %d is missing", i), func(p *parts) { p.children = slices.Delete(p.children, i, i+1) })
			for name, mutant := range mutants(child) {
				if name[0] == '?' {
					name = fmt.Sprintf("?child %d: %s", i, name[1:])
				} else {
					name = fmt.Sprintf("child %d: %s", i, name)
				}
				if !change(name, func(p *parts) { p.children[i] = mutant }) {
					return
				}
			}
		}
		if dictionary := d.Dictionary(); dictionary != (*array.Data)(nil) {
			change("no dictionary", func(p *parts) { p.dictionary = (*array.Data)(nil) })
			for name, mutant := range mutants(dictionary) {
				if !change("?dictionary: "+name, func(p *parts) { p.dictionary = mutant }) {
					return
				}
			}
		}
	}
}

func TestMalformedArraysAreErrors(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	count := 0
	for number, dataType := range arraytest.AllTypes() {
		t.Run(dataType.String(), func(t *testing.T) {
			g := arraytest.NewGenerator(uint64(number))
			for _, g.Sliced = range []bool{false, true} {
				good := g.Array(dataType, 40)
				for name, mutant := range mutants(good.Data()) {
					if g.Sliced {
						name = "?" + name // positions outside the slice may be missing
					}
					count++
					try(t, mgr, name, []arrow.Array{malformed{good, mutant}})
					try(t, mgr, "?"+name, []arrow.Array{good, malformed{good, mutant}, good})
				}
			}
		})
	}
	require.Greater(t, count, 1000)
	require.Zero(t, mgr.Stats().InUse)
	require.Zero(t, mgr.Stats().Blocks)
}

// try uploads and downloads an array that may be malformed. It must not panic, leak
// memory, or fail with an unexpected error.
func try(t *testing.T, mgr *memory.Manager, name string, chunks []arrow.Array) {
	t.Helper()
	columns, err := column.FromArrays(t.Context(), mgr, [][]arrow.Array{chunks}, column.UploadOptions{})
	if err != nil {
		if name[0] != '?' {
			require.ErrorIs(t, err, column.ErrInvalid, name)
		}
		requireKnown(t, err, name)
		require.Empty(t, columns)
		require.Zero(t, mgr.Stats().Blocks, name)
		return
	}
	require.Equal(t, byte('?'), name[0], "%s: no error", name)
	back, err := columns[0].Array(t.Context())
	if err == nil {
		back.Release()
	} else {
		requireKnown(t, err, name)
	}
	require.NoError(t, columns[0].Release())
	require.Zero(t, mgr.Stats().Blocks, name)
}

// requireKnown requires an error with one of the package's reasons.
func requireKnown(t requireTB, err error, name string) {
	t.Helper()
	for _, known := range []error{column.ErrInvalid, memory.ErrOverflow, memory.ErrBudget, device.ErrOutOfMemory} {
		if errors.Is(err, known) {
			return
		}
	}
	require.NoError(t, err, name)
}

func TestMalformedArraysNameTheBuffer(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	int64s := array.NewData(arrow.PrimitiveTypes.Int64, 4, []*arrowmemory.Buffer{nil, buffer(make([]byte, 12))}, nil, 0, 2)
	fields := arrow.StructOf(arrow.Field{Name: "id", Type: arrow.PrimitiveTypes.Int32}, arrow.Field{Name: "price", Type: arrow.PrimitiveTypes.Int64})
	id := array.NewData(arrow.PrimitiveTypes.Int32, 6, []*arrowmemory.Buffer{nil, buffer(make([]byte, 24))}, nil, 0, 0)
	offsets := func(values ...uint32) *arrowmemory.Buffer {
		var bytes []byte
		for _, value := range values {
			bytes = binary.NativeEndian.AppendUint32(bytes, value)
		}
		return buffer(bytes)
	}
	text := func(offsets *arrowmemory.Buffer) arrow.ArrayData {
		return array.NewData(arrow.BinaryTypes.String, 2, []*arrowmemory.Buffer{nil, offsets, buffer([]byte("abc"))}, nil, 0, 0)
	}
	cases := []struct {
		data arrow.ArrayData
		want string
	}{
		{int64s, `column 1 "amount": buffer 1 (values) has 12 bytes, 4 elements of int64 at offset 2 need 48`},
		{
			array.NewData(fields, 6, []*arrowmemory.Buffer{nil}, []arrow.ArrayData{id, int64s}, 0, 0),
			`column 1 "amount": child 1 (price): it has 4 elements, 6 from 0 on are needed`,
		},
		{
			array.NewData(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32), 4, []*arrowmemory.Buffer{buffer([]byte{0})}, []arrow.ArrayData{id}, 4, 0),
			`column 1 "amount": its child has 6 elements, expected 2 for each of 4 rows: null rows have elements too, which arrow-go's FixedSizeListBuilder.AppendValues does not append; use AppendNull`,
		},
		{
			array.NewData(fields, 4, []*arrowmemory.Buffer{nil}, []arrow.ArrayData{id, int64s}, 0, 0),
			`column 1 "amount": child 1 (price): buffer 1 (values) has 12 bytes, 4 elements of int64 at offset 2 need 48`,
		},
		{text(offsets(0, 1, 4)), `buffer 1 (offsets) ends with 4, but there are 3 bytes in buffer 2 (data)`},
		{text(offsets(2, 1, 1)), `buffer 1 (offsets) begins with 2 and ends with 1`},
		{text(offsets(math.MaxUint32, 1, 1)), `buffer 1 (offsets) begins with -1 and ends with 1`},
		{text(offsets(0, 1)), `buffer 1 (offsets) has 8 bytes, 2 elements of utf8 at offset 0 need 12`},
		{
			array.NewData(arrow.PrimitiveTypes.Int32, 6, []*arrowmemory.Buffer{nil, id.Buffers()[1]}, nil, 3, 0),
			`buffer 0 (validity) is absent, but 3 nulls are claimed`,
		},
		{
			array.NewData(arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int32), 6, []*arrowmemory.Buffer{nil}, []arrow.ArrayData{id, id}, 0, 0),
			`child 0 (run ends): its 6 runs end before element 6`,
		},
	}
	good := arraytest.NewGenerator(1).Array(arrow.PrimitiveTypes.Int8, 3)
	names := func(i int) string { return []string{"id", "amount"}[i] }
	for _, c := range cases {
		_, err := column.FromArrays(t.Context(), mgr, [][]arrow.Array{{good}, {malformed{good, c.data}}}, column.UploadOptions{Name: names})
		require.ErrorIs(t, err, column.ErrInvalid)
		assert.ErrorContains(t, err, c.want)
	}
	_, err := column.FromArrays(t.Context(), mgr, [][]arrow.Array{{good, good, malformed{good, int64s}}}, column.UploadOptions{})
	require.ErrorContains(t, err, "column 0: chunk 2 is of type int64, chunk 0 of int8")
	_, err = column.FromArrays(t.Context(), mgr, [][]arrow.Array{{}}, column.UploadOptions{})
	require.ErrorIs(t, err, column.ErrInvalid)
	_, err = column.FromArray(t.Context(), mgr, nil, column.UploadOptions{})
	require.ErrorIs(t, err, column.ErrInvalid)
	_, err = column.FromArray(t.Context(), nil, good, column.UploadOptions{})
	require.ErrorIs(t, err, column.ErrInvalid)
	none, err := column.FromArrays(t.Context(), mgr, nil, column.UploadOptions{})
	require.NoError(t, err)
	require.Empty(t, none)
}

// Arrays of a few bytes can claim large data, so that 32-bit offsets overflow when
// chunks are joined.
func TestChunksThatOverflow(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{Budget: 1 << 20})
	nulls := func(t arrow.DataType, length int, buffers []*arrowmemory.Buffer, children ...arrow.ArrayData) arrow.Array {
		return malformed{nil, array.NewData(t, length, buffers, children, 0, 0)}
	}
	many := array.NewNull(math.MaxInt32).Data()
	offsets := binary.NativeEndian.AppendUint32(make([]byte, 4), math.MaxInt32)
	list := nulls(arrow.ListOf(arrow.Null), 1, []*arrowmemory.Buffer{nil, buffer(offsets)}, many)
	view := nulls(arrow.ListViewOf(arrow.Null), 1, []*arrowmemory.Buffer{nil, buffer(make([]byte, 4)), buffer(offsets[4:])}, many)
	dense := arrow.DenseUnionOf([]arrow.Field{{Name: "null", Type: arrow.Null}}, []arrow.UnionTypeCode{0})
	union := nulls(dense, 1, []*arrowmemory.Buffer{nil, buffer([]byte{0}), buffer(make([]byte, 4))}, many)
	ends := array.NewData(arrow.PrimitiveTypes.Int16, 1, []*arrowmemory.Buffer{nil, buffer([]byte{0xff, 0x7f})}, nil, 0, 0)
	runs := nulls(arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, arrow.Null), math.MaxInt16, []*arrowmemory.Buffer{nil}, ends, array.NewNull(1).Data())
	huge := malformed{nil, array.NewData(arrow.Null, math.MaxInt, []*arrowmemory.Buffer{nil}, nil, math.MaxInt, 0)}
	for name, array := range map[string]arrow.Array{"list": list, "list view": view, "dense union": union, "run ends": runs, "null": huge} {
		t.Run(name, func(t *testing.T) {
			c, err := column.FromArray(t.Context(), mgr, array, column.UploadOptions{})
			require.NoError(t, err, "one of them fits")
			require.NoError(t, c.Release())
			columns, err := column.FromArrays(t.Context(), mgr, [][]arrow.Array{{array, array}}, column.UploadOptions{})
			if wide, ok := layout.Wide(array.Data().DataType()); ok && math.MaxInt > math.MaxInt32 {
				require.NoError(t, err)
				require.True(t, arrow.TypeEqual(wide, columns[0].Type()), columns[0].Type())
				require.EqualValues(t, int64(2*math.MaxInt32), columns[0].Child(0).Len())
				require.NoError(t, columns[0].Release())
				return
			}
			require.ErrorIs(t, err, memory.ErrOverflow)
		})
	}
	pair := arrow.StructOf(arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int32})
	g := arraytest.NewGenerator(1)
	g.Nulls = arraytest.NoneNull
	var chunks []arrow.Array
	for range 20 {
		values := g.Array(pair, 100)
		indices := g.Array(arrow.PrimitiveTypes.Uint8, 0)
		chunks = append(chunks, array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: pair}, indices, values))
	}
	_, err := column.FromArrays(t.Context(), mgr, [][]arrow.Array{chunks}, column.UploadOptions{})
	require.ErrorIs(t, err, memory.ErrOverflow)
	require.ErrorContains(t, err, "wider index type")
}

func FuzzFromArray(f *testing.F) {
	types := []arrow.DataType{
		arrow.BinaryTypes.String, arrow.BinaryTypes.StringView, arrow.ListOf(arrow.PrimitiveTypes.Int16),
		arrow.ListViewOf(arrow.FixedWidthTypes.Boolean), arrow.FixedSizeListOf(3, arrow.BinaryTypes.LargeBinary),
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int8),
		arrow.DenseUnionOf([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int16}}, []arrow.UnionTypeCode{3}),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
	}
	for i := range types {
		f.Add(uint8(i), 3, 1, -1, []byte{0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}, uint8(12), uint8(200))
	}
	dev, err := device.Open("host")
	require.NoError(f, err)
	mgr, err := memory.NewManager(dev, memory.Options{Budget: 1 << 20})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, which uint8, length, offset, nulls int, bytes []byte, first, second uint8) {
		// The bytes are cut at the given positions into the buffers of the array and
		// of its child.
		cut := func(from, to uint8) *arrowmemory.Buffer {
			low, high := min(int(from), len(bytes)), min(int(to), len(bytes))
			return buffer(bytes[min(low, high):high])
		}
		dataType := types[int(which)%len(types)]
		var children []arrow.ArrayData
		for _, child := range childTypes(dataType) {
			buffers := []*arrowmemory.Buffer{nil, cut(first, second), cut(second, 255)}
			children = append(children, array.NewData(child, int(second), buffers, nil, 0, int(first)%4))
		}
		data := array.NewData(dataType, length, []*arrowmemory.Buffer{cut(0, first), cut(0, second), cut(first, 255)}, children, nulls, offset)
		if dataType.ID() == arrow.DICTIONARY {
			data.SetDictionary(array.NewData(arrow.BinaryTypes.String, int(second)%5, []*arrowmemory.Buffer{nil, cut(first, 255), cut(second, 255)}, nil, 0, 0))
		}
		try(t, mgr, "?fuzzed", []arrow.Array{malformed{nil, data}})
		try(t, mgr, "?fuzzed", []arrow.Array{malformed{nil, data}, malformed{nil, data}})
	})
}

func childTypes(t arrow.DataType) (types []arrow.DataType) {
	if nested, ok := t.(arrow.NestedType); ok {
		for _, field := range nested.Fields() {
			types = append(types, field.Type)
		}
	}
	return types
}
