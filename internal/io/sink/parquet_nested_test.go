package sink_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/sink"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// nestedLeaves are types of values within lists and structs.
var nestedLeaves = []arrow.DataType{
	arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Float64,
	arrow.BinaryTypes.String, arrow.BinaryTypes.LargeBinary, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Timestamp_us,
	&arrow.Decimal128Type{Precision: 38, Scale: 2}, &arrow.FixedSizeBinaryType{ByteWidth: 5},
}

// deepest is the number of types around the values of a column.
const deepest = 4

// drawNestedType draws a type with up to depth lists, maps and structs around values. Parts may have no nulls if required is true.
func drawNestedType(r *rapid.T, depth int, required bool) arrow.DataType {
	kind := rapid.IntRange(0, 3).Draw(r, "kind")
	if depth == 0 || kind == 0 {
		return rapid.SampledFrom(nestedLeaves).Draw(r, "type")
	}
	part := func(name string) arrow.Field {
		return arrow.Field{Name: name, Type: drawNestedType(r, depth-1, required), Nullable: !required || rapid.IntRange(0, 3).Draw(r, "nullable") > 0}
	}
	switch kind {
	case 1:
		elements := drawNestedType(r, depth-1, required)
		if required && rapid.IntRange(0, 2).Draw(r, "fixed size") == 0 {
			return arrow.FixedSizeListOf(rapid.Int32Range(1, 3).Draw(r, "elements"), elements)
		}
		return arrow.ListOf(elements)
	case 2:
		value := part("value")
		m := arrow.MapOf(rapid.SampledFrom(nestedLeaves).Draw(r, "keys"), value.Type)
		m.SetItemNullable(value.Nullable)
		return m
	}
	fields := []arrow.Field{part("f0"), part("f1"), part("f2")}
	return arrow.StructOf(fields[:rapid.IntRange(1, 3).Draw(r, "fields")]...)
}

// withoutNulls removes the nulls of the parts of an array that may have none by its type.
func withoutNulls(data arrow.ArrayData, nullable bool) arrow.ArrayData {
	buffers := append([]*arrowmemory.Buffer{}, data.Buffers()...)
	nulls := data.NullN()
	if !nullable {
		buffers[0], nulls = nil, 0
	}
	children := append([]arrow.ArrayData{}, data.Children()...)
	if nested, ok := data.DataType().(arrow.NestedType); ok {
		for i, field := range nested.Fields() {
			children[i] = withoutNulls(children[i], field.Nullable)
		}
	}
	return array.NewData(data.DataType(), data.Len(), buffers, children, nulls, data.Offset())
}

// drawNestedTable draws a record with columns of lists, maps, structs and values, at every level with offsets, nulls and lists
// that are null but have elements.
func drawNestedTable(r *rapid.T, required bool) arrow.Record {
	g := arraytest.NewGenerator(rapid.Uint64().Draw(r, "seed"))
	rows := rapid.SampledFrom([]int{1, 9, 70, 300}).Draw(r, "rows")
	var fields []arrow.Field
	var columns []arrow.Array
	for i := range rapid.IntRange(1, 3).Draw(r, "columns") {
		field := arrow.Field{Name: fmt.Sprintf("c%d", i), Type: drawNestedType(r, deepest, required), Nullable: !required || rapid.Bool().Draw(r, "nullable")}
		g.Nulls = rapid.SampledFrom([]arraytest.Nulls{arraytest.NoneNull, arraytest.SomeNull, arraytest.SomeNull, arraytest.AllNull}).Draw(r, "nulls")
		g.Sliced = rapid.Bool().Draw(r, "sliced")
		fields = append(fields, field)
		columns = append(columns, array.MakeFromData(withoutNulls(g.Array(field.Type, rows).Data(), field.Nullable)))
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(rows))
}

func requireSame(r *rapid.T, want, got arrow.Array, about string) {
	require.Equal(r, want.Len(), got.Len(), about)
	for i := range want.Len() {
		if !arraytest.Same(want, i, got, i) {
			require.Equal(r, want.ValueStr(i), got.ValueStr(i), "%s, row %d", about, i)
			require.Fail(r, "another value", "%s, row %d: %s", about, i, want.ValueStr(i))
		}
	}
}

// Random tables of nested columns are the same when they are read again, on every device and by arrow-go.
func TestRandomNestedParquet(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(r *rapid.T) {
			record := drawNestedTable(r, true)
			var names []string
			for _, field := range record.Schema().Fields() {
				names = append(names, field.Name)
			}
			data := written(r, m, record, drawParquetOptions(r, record.NumRows(), names), rapid.SampledFrom([]int64{1 << 20, 7, 64}).Draw(r, "rows of a table"))
			s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
			require.NoError(r, err)
			back := whole(r, m, s)
			for i, field := range record.Schema().Fields() {
				requireSame(r, record.Column(i), back.Column(i), field.Type.String())
			}
			if strings.Contains(record.Schema().String(), "fixed_size_list") {
				return // arrow-go panics when it reads nulls of them
			}
			theirs := readByArrow(r, data)
			for i, field := range record.Schema().Fields() {
				requireSame(r, record.Column(i), theirs.Column(i), "arrow-go: "+field.Type.String())
			}
		})
	})
}

// entry is one of a leaf, with its value in PLAIN if it has one.
type entry struct {
	repetition, definition int16
	value                  string
}

// entriesOf returns the entries of a leaf in a file as arrow-go reads them, for each row group.
func entriesOf(t require.TestingT, data []byte, leaf int) (groups [][]entry) {
	reader, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	for i := range reader.NumRowGroups() {
		group := reader.RowGroup(i)
		about, err := group.MetaData().ColumnChunk(leaf)
		require.NoError(t, err)
		chunk, err := group.Column(leaf)
		require.NoError(t, err)
		groups = append(groups, chunkEntries(t, chunk, about.NumValues()))
	}
	return groups
}

func chunkEntries(t require.TestingT, chunk file.ColumnChunkReader, n int64) []entry {
	switch chunk := chunk.(type) {
	case *file.BooleanColumnChunkReader:
		return readEntries(t, chunk.Descriptor().MaxDefinitionLevel(), n, chunk.ReadBatch)
	case *file.Int32ColumnChunkReader:
		return readEntries(t, chunk.Descriptor().MaxDefinitionLevel(), n, chunk.ReadBatch)
	case *file.Int64ColumnChunkReader:
		return readEntries(t, chunk.Descriptor().MaxDefinitionLevel(), n, chunk.ReadBatch)
	case *file.Float64ColumnChunkReader:
		return readEntries(t, chunk.Descriptor().MaxDefinitionLevel(), n, chunk.ReadBatch)
	case *file.ByteArrayColumnChunkReader:
		return readEntries(t, chunk.Descriptor().MaxDefinitionLevel(), n, chunk.ReadBatch)
	case *file.FixedLenByteArrayColumnChunkReader:
		return readEntries(t, chunk.Descriptor().MaxDefinitionLevel(), n, chunk.ReadBatch)
	}
	panic(fmt.Sprintf("%T", chunk))
}

func readEntries[T any](t require.TestingT, present int16, n int64, read func(int64, []T, []int16, []int16) (int64, int, error)) (entries []entry) {
	for n > 0 {
		values, definitions, repetitions := make([]T, n), make([]int16, n), make([]int16, n)
		count, valueCount, err := read(n, values, definitions, repetitions)
		require.NoError(t, err)
		require.Positive(t, count)
		n -= count
		at := 0
		for i := range int(count) {
			if present == 0 {
				definitions[i] = 0
			}
			e := entry{repetition: repetitions[i], definition: definitions[i]}
			if e.definition == present {
				e.value = fmt.Sprint(values[at])
				at++
			}
			entries = append(entries, e)
		}
		require.Equal(t, valueCount, at)
	}
	return entries
}

// modelLevels appends the levels of the leaves of an element of an array, one list for each leaf.
func modelLevels(a arrow.Array, i int, nullable bool, repetition, depth, definition int16, leaves *[][]entry, leaf *int) {
	ends := nullable && a.IsNull(i)
	if nullable && !ends {
		definition++
	}
	end := func() {
		for range leavesIn(a.DataType()) {
			(*leaves)[*leaf] = append((*leaves)[*leaf], entry{repetition: repetition, definition: definition})
			*leaf++
		}
	}
	if ends {
		end()
		return
	}
	switch a := a.(type) {
	case *array.Struct:
		for n, field := range a.DataType().(*arrow.StructType).Fields() {
			modelLevels(a.Field(n), i, field.Nullable, repetition, depth, definition, leaves, leaf)
		}
	case array.ListLike:
		from, to := a.ValueOffsets(i)
		if from == to {
			end()
			return
		}
		_, isMap := a.(*array.Map)
		first := *leaf
		for element := from; element < to; element++ {
			*leaf = first
			modelLevels(a.ListValues(), int(element), !isMap, repetition, depth+1, definition+1, leaves, leaf)
			repetition = depth + 1
		}
	default:
		end()
	}
}

func leavesIn(t arrow.DataType) (n int) {
	nested, ok := t.(arrow.NestedType)
	if !ok {
		return 1
	}
	for _, field := range nested.Fields() {
		n += leavesIn(field.Type)
	}
	return n
}

// The levels of each leaf are those of a model that follows every value by itself.
func TestLevelsOfNestedParquet(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	property.Check(t, func(r *rapid.T) {
		record := drawNestedTable(r, true)
		data := written(r, m, record, sink.ParquetOptions{PageRows: rapid.SampledFrom([]int64{0, 1, 10}).Draw(r, "rows of a page")}, 1<<20)
		leaf := 0
		for i, field := range record.Schema().Fields() {
			want := make([][]entry, leavesIn(field.Type))
			for row := range record.Column(i).Len() {
				at := 0
				modelLevels(record.Column(i), row, field.Nullable, 0, 0, 0, &want, &at)
			}
			for _, entries := range want {
				got := entriesOf(r, data, leaf)
				require.Len(r, got, 1)
				for n := range got[0] {
					got[0][n].value = ""
				}
				require.Equal(r, entries, got[0], "%v, leaf %d", field, leaf)
				leaf++
			}
		}
	})
}

// joined returns the elements of arrays as one.
func joined(t require.TestingT, empty arrow.Array, parts []arrow.Array) arrow.Array {
	whole, err := array.Concatenate(append(parts, array.NewSlice(empty, 0, 0)), arrowmemory.DefaultAllocator)
	require.NoError(t, err)
	return whole
}

// plain returns an array without elements that nothing refers to: arrow-go's writer refuses them.
func plain(t require.TestingT, a arrow.Array) arrow.Array {
	valid := array.NewBooleanBuilder(arrowmemory.DefaultAllocator)
	for i := range a.Len() {
		valid.Append(a.IsValid(i))
	}
	bits := valid.NewBooleanArray().Data().Buffers()[1]
	var parts []arrow.Array
	switch a := a.(type) {
	case *array.Struct:
		var children []arrow.ArrayData
		for n := range a.NumField() {
			parts = nil
			for i := range a.Len() {
				if a.IsValid(i) {
					parts = append(parts, array.NewSlice(a.Field(n), int64(i), int64(i)+1))
				} else {
					parts = append(parts, array.MakeArrayOfNull(arrowmemory.DefaultAllocator, a.Field(n).DataType(), 1))
				}
			}
			children = append(children, plain(t, joined(t, a.Field(n), parts)).Data())
		}
		return array.MakeFromData(array.NewData(a.DataType(), a.Len(), []*arrowmemory.Buffer{bits}, children, a.NullN(), 0))
	case array.ListLike:
		offsets := []byte{0, 0, 0, 0}
		for i, total := 0, 0; i < a.Len(); i++ {
			if from, to := a.ValueOffsets(i); a.IsValid(i) {
				parts = append(parts, array.NewSlice(a.ListValues(), from, to))
				total += int(to - from)
			}
			offsets = arraytest.Append(offsets, 4, total)
		}
		buffers := []*arrowmemory.Buffer{bits, arrowmemory.NewBufferBytes(offsets)}
		children := []arrow.ArrayData{plain(t, joined(t, a.ListValues(), parts)).Data()}
		return array.MakeFromData(array.NewData(a.DataType(), a.Len(), buffers, children, a.NullN(), 0))
	}
	return a
}

// The entries of each leaf are those that arrow-go's writer gives them.
func TestNestedParquetIsThatOfArrow(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	property.Check(t, func(r *rapid.T) {
		record := drawNestedTable(r, false)
		columns := make([]arrow.Array, record.NumCols())
		for i := range columns {
			columns[i] = plain(r, record.Column(i))
		}
		theirs := array.NewRecord(record.Schema(), columns, record.NumRows())
		var want bytes.Buffer
		writer, err := pqarrow.NewFileWriter(theirs.Schema(), &want, parquet.NewWriterProperties(parquet.WithStoreDecimalAsInteger(true)), pqarrow.NewArrowWriterProperties())
		require.NoError(r, err)
		require.NoError(r, writer.Write(theirs))
		require.NoError(r, writer.Close())
		got := written(r, m, record, sink.ParquetOptions{PageRows: rapid.SampledFrom([]int64{0, 10}).Draw(r, "rows of a page")}, rapid.SampledFrom([]int64{1 << 20, 7}).Draw(r, "rows of a table"))
		leaf := 0
		for _, field := range record.Schema().Fields() {
			for range leavesIn(field.Type) {
				require.Equal(r, entriesOf(r, want.Bytes(), leaf), entriesOf(r, got, leaf), "%v, leaf %d", field, leaf)
				leaf++
			}
		}
	})
}

// Offset indexes have the rows that pages begin with, column indexes the entries without a value.
func TestIndexesOfNestedParquet(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	property.Check(t, func(r *rapid.T) {
		record := drawNestedTable(r, true)
		pageRows := rapid.SampledFrom([]int64{0, 1, 10, 33}).Draw(r, "rows of a page")
		data := written(r, m, record, sink.ParquetOptions{PageRows: pageRows, NoDictionaries: rapid.Bool().Draw(r, "no dictionaries")}, 1<<20)
		reader, err := file.NewParquetReader(bytes.NewReader(data))
		require.NoError(r, err)
		for leaf, chunk := range reader.MetaData().GetRowGroups()[0].GetColumns() {
			entries := entriesOf(r, data, leaf)[0]
			present := reader.MetaData().Schema.Column(leaf).MaxDefinitionLevel()
			starts := []int{} // of rows
			for i, e := range entries {
				if e.repetition == 0 {
					starts = append(starts, i)
				}
			}
			require.Len(r, starts, int(record.NumRows()))
			starts = append(starts, len(entries))
			nulls := func(part []entry) (n int) {
				for _, e := range part {
					if e.definition < present {
						n++
					}
				}
				return n
			}
			require.EqualValues(r, nulls(entries), chunk.GetMetaData().GetStatistics().GetNullCount())
			at := int(chunk.GetOffsetIndexOffset())
			places := compact(data, &at, 12).(map[int]any)[1].([]any)
			var index map[int]any
			if at = int(chunk.GetColumnIndexOffset()); at > 0 {
				index = compact(data, &at, 12).(map[int]any)
			}
			for i, place := range places {
				begin, end := place.(map[int]any)[3].(int64), record.NumRows()
				if i+1 < len(places) {
					end = places[i+1].(map[int]any)[3].(int64)
				}
				page := entries[starts[begin]:starts[end]]
				header, err := pages.Read(data[place.(map[int]any)[1].(int64):])
				require.NoError(r, err)
				require.EqualValues(r, len(page), header.Values)
				if index != nil {
					require.EqualValues(r, nulls(page), index[5].([]any)[i])
					require.Equal(r, nulls(page) == len(page), index[1].([]any)[i])
				}
			}
		}
	})
}

// A list of a fixed size that has no nulls has elements where the struct around it is null, the file has none there.
func TestFixedListsInNullStructs(t *testing.T) {
	numbers := array.NewInt32Builder(arrowmemory.DefaultAllocator)
	defer numbers.Release()
	numbers.AppendValues([]int32{0, 1, 2, 3, 4, 5}, nil)
	elements := numbers.NewInt32Array()
	defer elements.Release()
	lists := array.NewData(arrow.FixedSizeListOf(2, elements.DataType()), 3, []*arrowmemory.Buffer{nil}, []arrow.ArrayData{elements.Data()}, 0, 0)
	defer lists.Release()
	field := arrow.Field{Name: "s", Type: arrow.StructOf(arrow.Field{Name: "f", Type: lists.DataType()}), Nullable: true}
	structs := array.NewData(field.Type, 3, []*arrowmemory.Buffer{arrowmemory.NewBufferBytes([]byte{0b101})}, []arrow.ArrayData{lists}, 1, 0)
	defer structs.Release()
	want := array.NewStructData(structs)
	defer want.Release()
	record := array.NewRecord(arrow.NewSchema([]arrow.Field{field}, nil), []arrow.Array{want}, 3)
	defer record.Release()
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		data := written(t, m, record, sink.ParquetOptions{}, 1<<20)
		s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		got := whole(t, m, s).Column(0).(*array.Struct)
		require.True(t, got.IsValid(0) && got.IsNull(1) && got.IsValid(2))
		list := got.Field(0).(*array.FixedSizeList)
		for _, row := range []int{0, 2} {
			begin, end := list.ValueOffsets(row)
			require.Equal(t, elements.Int32Values()[2*row:2*row+2], list.ListValues().(*array.Int32).Int32Values()[begin:end])
		}
	})
}
