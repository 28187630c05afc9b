package arrow18_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	arrow17 "github.com/apache/arrow/go/v17/arrow"
	array17 "github.com/apache/arrow/go/v17/arrow/array"
	memory17 "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/arrow18"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
)

// addresses returns the addresses of all buffers of an array of v17 or v18.
func addresses17(data arrow17.ArrayData) (list []uintptr) {
	for _, b := range data.Buffers() {
		if b != nil {
			list = append(list, uintptr(unsafe.Pointer(unsafe.SliceData(b.Bytes()))), uintptr(b.Len()))
		}
	}
	for _, c := range data.Children() {
		list = append(list, addresses17(c)...)
	}
	if data.DataType().ID() == arrow17.DICTIONARY {
		list = append(list, addresses17(data.Dictionary())...)
	}
	return list
}

func addresses18(data arrow.ArrayData) (list []uintptr) {
	for _, b := range data.Buffers() {
		if b != nil {
			list = append(list, uintptr(unsafe.Pointer(unsafe.SliceData(b.Bytes()))), uintptr(b.Len()))
		}
	}
	for _, c := range data.Children() {
		list = append(list, addresses18(c)...)
	}
	if data.DataType().ID() == arrow.DICTIONARY {
		list = append(list, addresses18(data.Dictionary())...)
	}
	return list
}

// A record of any type, also a part of one, is the same memory and the same values in v18,
// and again in v17.
func TestThereAndBack(t *testing.T) {
	require.NoError(t, arraytest.RegisterExtension())
	for seed, dataType := range arraytest.AllTypes() {
		values := arraytest.NewGenerator(uint64(seed)).Array(dataType, 50)
		field := arrow17.Field{Name: "x", Type: dataType, Nullable: true, Metadata: arrow17.NewMetadata([]string{"k"}, []string{"v"})}
		metadata := arrow17.NewMetadata([]string{"a"}, []string{"b"})
		whole := array17.NewRecord(arrow17.NewSchema([]arrow17.Field{field}, &metadata), []arrow17.Array{values}, 50)
		for _, record := range []arrow17.Record{whole, whole.NewSlice(7, 31), whole.NewSlice(50, 50)} {
			exported, err := arrow18.Export(record)
			if extension, ok := dataType.(arrow17.ExtensionType); ok && extension.StorageType().ID() == arrow17.DICTIONARY {
				require.ErrorIs(t, err, arrow18.ErrType, "arrow-go writes no schema of this type")
				continue
			}
			require.NoError(t, err, "%v", dataType)
			require.Equal(t, addresses17(record.Column(0).Data()), addresses18(exported.Column(0).Data()), "%v", dataType)
			require.Equal(t, record.NumRows(), exported.NumRows())
			back, err := arrow18.Import(exported)
			require.NoError(t, err, "%v", dataType)
			require.Equal(t, addresses17(record.Column(0).Data()), addresses17(back.Column(0).Data()), "%v", dataType)
			require.True(t, record.Schema().Equal(back.Schema()), "%v\n%v", record.Schema(), back.Schema())
			require.Equal(t, record.Schema().Field(0).Metadata, back.Schema().Field(0).Metadata)
			require.True(t, array17.Equal(record.Column(0), back.Column(0)) || dataType.ID() == arrow17.FLOAT32 || dataType.ID() == arrow17.FLOAT64, "%v", dataType)
			exported.Release()
			back.Release()
		}
	}
}

// sales returns a record of several types in memory of a counting allocator.
func sales(counted memory.Allocator) arrow.RecordBatch {
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	b := array.NewRecordBuilder(counted, arrow.NewSchema([]arrow.Field{
		{Name: "city", Type: dictionary, Nullable: true}, {Name: "price", Type: arrow.PrimitiveTypes.Float64},
		{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true}, {Name: "view", Type: arrow.BinaryTypes.StringView},
	}, nil))
	defer b.Release()
	tags := b.Field(2).(*array.ListBuilder)
	for i, city := range []string{"Oslo", "Bern", "Oslo", "Rome"} {
		if err := b.Field(0).(*array.BinaryDictionaryBuilder).AppendString(city); err != nil {
			panic(err)
		}
		b.Field(1).(*array.Float64Builder).Append(float64(10 * i))
		tags.Append(i != 2)
		if i != 2 {
			tags.ValueBuilder().(*array.StringBuilder).Append(city)
		}
		b.Field(3).(*array.StringViewBuilder).Append(fmt.Sprintf("a view of a text with number %d", i))
	}
	return b.NewRecordBatch()
}

// Memory is freed once, by the last release, in both directions and in any order.
func TestRelease(t *testing.T) {
	for _, originalFirst := range []bool{true, false} {
		counted := memory.NewCheckedAllocator(memory.NewGoAllocator())
		record := sales(counted)
		imported, err := arrow18.Import(record)
		require.NoError(t, err)
		part := imported.NewSlice(1, 3)
		exported, err := arrow18.Export(part)
		require.NoError(t, err)
		held := counted.CurrentAlloc()
		steps := []func(){record.Release, imported.Release, part.Release, exported.Release}
		for i := range steps {
			require.Equal(t, held, counted.CurrentAlloc(), "all memory stays until the last release")
			if originalFirst {
				steps[i]()
			} else {
				steps[len(steps)-1-i]()
			}
		}
		counted.AssertSize(t, 0)
	}
	counted := memory17.NewCheckedAllocator(memory17.NewGoAllocator())
	b := array17.NewInt64Builder(counted)
	b.AppendValues([]int64{1, 2, 3}, nil)
	values := b.NewArray()
	b.Release()
	record := array17.NewRecord(arrow17.NewSchema([]arrow17.Field{{Name: "n", Type: values.DataType()}}, nil), []arrow17.Array{values}, 3)
	values.Release()
	exported, err := arrow18.Export(record)
	require.NoError(t, err)
	record.Release()
	assert.Equal(t, []int64{1, 2, 3}, exported.Column(0).(*array.Int64).Int64Values())
	exported.Release()
	counted.AssertSize(t, 0)
}

// Extension types that the other side lacks travel as their storage, and come back.
func TestExtensions(t *testing.T) {
	b := extensions.NewUUIDBuilder(memory.DefaultAllocator)
	defer b.Release()
	require.NoError(t, b.AppendValueFromString("0191f4a2-0000-7000-8000-000000000001"))
	ids := b.NewArray()
	defer ids.Release()
	nested := arrow.StructOf(arrow.Field{Name: "id", Type: ids.DataType(), Nullable: true})
	data := array.NewData(nested, 1, []*memory.Buffer{nil}, []arrow.ArrayData{ids.Data()}, 0, 0)
	defer data.Release()
	pair := array.MakeFromData(data)
	defer pair.Release()
	record := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "id", Type: ids.DataType()}, {Name: "pair", Type: nested}}, nil), []arrow.Array{ids, pair}, 1)
	defer record.Release()
	imported, err := arrow18.Import(record)
	require.NoError(t, err)
	defer imported.Release()
	assert.Equal(t, arrow17.FIXED_SIZE_BINARY, imported.Column(0).DataType().ID())
	name, ok := imported.Schema().Field(0).Metadata.GetValue("ARROW:extension:name")
	assert.Equal(t, []any{"arrow.uuid", true}, []any{name, ok})
	back, err := arrow18.Export(imported)
	require.NoError(t, err)
	defer back.Release()
	require.True(t, array.RecordEqual(record, back))
	assert.Equal(t, "0191f4a2-0000-7000-8000-000000000001", back.Column(0).ValueStr(0))
}

func TestErrors(t *testing.T) {
	small := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int8}, {Name: "price", Type: &arrow.Decimal32Type{Precision: 5, Scale: 2}}}, nil),
		[]arrow.Array{array.MakeArrayOfNull(memory.DefaultAllocator, arrow.PrimitiveTypes.Int8, 2), array.MakeArrayOfNull(memory.DefaultAllocator, &arrow.Decimal32Type{Precision: 5, Scale: 2}, 2)}, 2)
	var none *gpuframe.Frame
	for name, test := range map[string]struct {
		of     func() (any, error)
		is     error
		column string
	}{
		"decimal32":     {func() (any, error) { return arrow18.Import(small) }, arrow18.ErrType, "price"},
		"nil import":    {func() (any, error) { return arrow18.Import(nil) }, arrow18.ErrArgument, ""},
		"nil export":    {func() (any, error) { return arrow18.Export(nil) }, arrow18.ErrArgument, ""},
		"nil schema":    {func() (any, error) { return arrow18.ImportSchema(nil) }, arrow18.ErrArgument, ""},
		"nil schema 17": {func() (any, error) { return arrow18.ExportSchema(nil) }, arrow18.ErrArgument, ""},
		"nil reader":    {func() (any, error) { return arrow18.ImportReader(nil) }, arrow18.ErrArgument, ""},
		"nil reader 17": {func() (any, error) { return arrow18.ExportReader(nil) }, arrow18.ErrArgument, ""},
		"nil frame":     {func() (any, error) { return arrow18.Record(t.Context(), none) }, arrow18.ErrArgument, ""},
	} {
		got, err := test.of()
		var typed *arrow18.Error
		require.ErrorAs(t, err, &typed, name)
		require.ErrorIs(t, err, test.is, name)
		assert.Equal(t, test.column, typed.Column, name)
		assert.True(t, got == nil || reflect.ValueOf(got).IsNil(), name)
	}
}

func engine(t *testing.T) *gpuframe.Engine {
	e, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(64<<20))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

// A query reads records and readers of v18, and returns them. Nothing stays behind.
func TestQueries(t *testing.T) {
	e := engine(t)
	counted := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer counted.AssertSize(t, 0)
	record := sales(counted)
	defer record.Release()

	imported, err := arrow18.Import(record)
	require.NoError(t, err)
	defer imported.Release()
	price := gpuframe.Col("price")
	frame, err := e.Records(nil, imported).Filter(price.Gt(5)).Select(gpuframe.Col("city"), price).Collect(t.Context())
	require.NoError(t, err)
	got, err := arrow18.Record(t.Context(), frame)
	require.NoError(t, err)
	require.NoError(t, frame.Release())
	assert.Equal(t, []float64{10, 20, 30}, got.Column(1).(*array.Float64).Float64Values())
	assert.Equal(t, "Bern", got.Column(0).ValueStr(0))
	got.Release()

	theirs, err := array.NewRecordReader(record.Schema(), []arrow.RecordBatch{record, record})
	require.NoError(t, err)
	reader, err := arrow18.ImportReader(theirs)
	require.NoError(t, err)
	theirs.Release()
	ours, err := arrow18.Reader(t.Context(), e.Reader(reader).With(price.Mul(2.0).As("double")), gpuframe.BatchRows(4))
	require.NoError(t, err)
	assert.Equal(t, "double", ours.Schema().Field(4).Name)
	var doubles []float64
	for ours.Next() {
		doubles = append(doubles, ours.RecordBatch().Column(4).(*array.Float64).Float64Values()...)
	}
	require.NoError(t, ours.Err())
	assert.Equal(t, []float64{0, 20, 40, 60, 0, 20, 40, 60}, doubles)
	ours.Release()
	reader.Release()

	early, err := arrow18.Reader(t.Context(), e.Records(nil, imported, imported), gpuframe.BatchRows(1))
	require.NoError(t, err)
	early.Retain()
	require.True(t, early.Next())
	early.Release()
	early.Release()

	_, err = arrow18.Reader(t.Context(), e.Records(nil, imported).Drop("nowhere"))
	var problems *gpuframe.QueryError
	require.ErrorAs(t, err, &problems)
}

// failing is a reader that fails after one record.
type failing struct {
	array.RecordReader
	err error
}

func (f *failing) Next() bool {
	if f.err == nil && f.RecordReader.Next() {
		f.err = errBroken
		return true
	}
	return false
}

func (f *failing) Err() error { return f.err }

var errBroken = errors.New("broken")

// Errors of readers pass through both conversions.
func TestErrorsOfReaders(t *testing.T) {
	counted := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer counted.AssertSize(t, 0)
	record := sales(counted)
	defer record.Release()
	theirs, err := array.NewRecordReader(record.Schema(), []arrow.RecordBatch{record, record})
	require.NoError(t, err)
	defer theirs.Release()
	imported, err := arrow18.ImportReader(&failing{RecordReader: theirs})
	require.NoError(t, err)
	defer imported.Release()
	exported, err := arrow18.ExportReader(imported)
	require.NoError(t, err)
	defer exported.Release()
	require.True(t, exported.Next())
	require.True(t, array.RecordEqual(record, exported.RecordBatch()))
	require.False(t, exported.Next())
	require.ErrorIs(t, exported.Err(), errBroken)
	require.False(t, exported.Next(), "the error stays")
}
