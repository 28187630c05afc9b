package buffer_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

var errInjected = errors.New("injected")

// flightSchema has columns of several layouts, and metadata on the schema and on
// fields.
func flightSchema() *arrow.Schema {
	metadata := arrow.NewMetadata([]string{"source", "year"}, []string{"tests", "2026"})
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	return arrow.NewSchema([]arrow.Field{
		{Name: "delay", Type: arrow.PrimitiveTypes.Int64, Nullable: true, Metadata: arrow.NewMetadata([]string{"unit"}, []string{"min"})},
		{Name: "origin", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "cancelled", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "stops", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true},
		{Name: "carrier", Type: dictionary, Nullable: true},
		{Name: "distance", Type: arrow.PrimitiveTypes.Float64, Metadata: arrow.NewMetadata([]string{"unit"}, []string{"mi"})},
	}, &metadata)
}

// flights makes a record that lives until the end of the test. All rows differ, and
// every seventh has nulls.
func flights(t testing.TB, rows int) arrow.Record {
	t.Helper()
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, flightSchema())
	defer b.Release()
	for row := range rows {
		b.Field(5).(*array.Float64Builder).Append(float64(row) / 4)
		if row%7 == 3 {
			for i := range 5 {
				b.Field(i).AppendNull()
			}
			continue
		}
		b.Field(0).(*array.Int64Builder).Append(int64(row) * 1000)
		b.Field(1).(*array.StringBuilder).Append(fmt.Sprint("airport ", row))
		b.Field(2).(*array.BooleanBuilder).Append(row%3 == 0)
		stops := b.Field(3).(*array.ListBuilder)
		stops.Append(true)
		for k := range row % 4 {
			stops.ValueBuilder().(*array.Int32Builder).Append(int32(row + k))
		}
		require.NoError(t, b.Field(4).(*array.BinaryDictionaryBuilder).AppendString(fmt.Sprint("carrier ", row%5)))
	}
	record := b.NewRecord()
	t.Cleanup(record.Release)
	return record
}

// emptyOf is a record of rows without columns.
func emptyOf(rows int64) arrow.Record {
	return array.NewRecord(arrow.NewSchema(nil, nil), nil, rows)
}

// batches cuts a record into batches that live until the end of the test.
func batches(t testing.TB, whole arrow.Record, lengths ...int64) []arrow.Record {
	t.Helper()
	var from int64
	records := make([]arrow.Record, len(lengths))
	for i, length := range lengths {
		records[i] = whole.NewSlice(from, from+length)
		t.Cleanup(records[i].Release)
		from += length
	}
	require.Equal(t, whole.NumRows(), from)
	return records
}

func readerOf(t testing.TB, schema *arrow.Schema, records ...arrow.Record) array.RecordReader {
	t.Helper()
	reader, err := array.NewRecordReader(schema, records)
	require.NoError(t, err)
	t.Cleanup(reader.Release)
	return reader
}

// stopping is a reader that ends with an error after some batches.
type stopping struct {
	array.RecordReader
	batches int
	err     error
}

func (s *stopping) Next() bool {
	s.batches--
	return s.batches >= 0 && s.RecordReader.Next()
}

func (s *stopping) Err() error { return s.err }

// failing is a resource that fails allocation number fail.
type failing struct {
	memory.Resource
	count, fail atomic.Int64
}

func (f *failing) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	if f.count.Add(1) == f.fail.Load() {
		return resource.Allocation{}, errInjected
	}
	return f.Resource.Allocate(bytes, stream)
}

// upload copies a record to the device until the end of the test.
func upload(t testing.TB, mgr *memory.Manager, record arrow.Record) *buffer.Buffer {
	t.Helper()
	table, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, table.Release()) })
	return table
}

// counted makes a table with its row count on the device, until the end of the test.
func counted(t testing.TB, mgr *memory.Manager, record arrow.Record, rows int64) *buffer.Buffer {
	t.Helper()
	whole := upload(t, mgr, record)
	count := onDevice(t, mgr, rows)
	table, err := buffer.New(whole.Schema(), columnsOf(whole), buffer.Rows{Count: whole.Capacity(), Device: count})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, table.Release()) })
	return table
}

// onDevice copies numbers to the device until the end of the test.
func onDevice(t testing.TB, mgr *memory.Manager, values ...int64) memory.Slice[int64] {
	t.Helper()
	slice, err := memory.NewSlice[int64](mgr, len(values), memory.AllocateOptions{Tag: "rows"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, slice.Release()) })
	require.NoError(t, slice.Upload(t.Context(), nil, values))
	return slice
}

func columnsOf(table *buffer.Buffer) []*column.Column {
	columns := make([]*column.Column, table.NumColumns())
	for i := range columns {
		columns[i] = table.Column(i)
	}
	return columns
}

// requireRecord requires that the table has the contents of the record.
func requireRecord(t testing.TB, want arrow.Record, table *buffer.Buffer) {
	t.Helper()
	got, err := table.Record(t.Context())
	require.NoError(t, err)
	defer got.Release()
	requireSame(t, want, got)
}

func requireSame(t require.TestingT, want, got arrow.Record) {
	require.True(t, want.Schema().Equal(got.Schema()), "want %v\ngot  %v", want.Schema(), got.Schema())
	require.True(t, want.Schema().Metadata().Equal(got.Schema().Metadata()))
	require.Equal(t, want.NumRows(), got.NumRows())
	require.True(t, array.RecordEqual(want, got), "want %v\ngot  %v", want, got)
}

// requireEmpty requires that nothing is allocated.
func requireEmpty(t testing.TB, mgr *memory.Manager) {
	t.Helper()
	require.Zero(t, mgr.Stats().InUse)
	require.Zero(t, mgr.Stats().Blocks)
}

func hostManager(t *testing.T) *memory.Manager {
	return devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
}
