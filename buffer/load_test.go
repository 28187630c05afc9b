package buffer_test

import (
	"context"
	"io"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestReaderBecomesOneTable(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		whole := flights(t, 100)
		reader := readerOf(t, whole.Schema(), batches(t, whole, 40, 0, 60)...)
		var told []buffer.Progress
		table, err := buffer.FromReader(t.Context(), mgr, reader, buffer.LoadOptions{
			Progress: func(p buffer.Progress) { told = append(told, p) },
		})
		require.NoError(t, err)
		assert.EqualValues(t, 1, mgr.Stats().Allocations)
		requireRecord(t, whole, table)

		require.Len(t, told, 4, "each batch, and the end")
		for i, rows := range []int64{40, 40, 100, 100} {
			assert.Equal(t, min(i+1, 3), told[i].Batches)
			assert.Equal(t, rows, told[i].Rows)
			assert.Equal(t, i == 3, told[i].Moved)
		}
		assert.Greater(t, told[0].Bytes, int64(40*8), "at least the distances")
		assert.Greater(t, told[2].Bytes, told[1].Bytes)
		assert.Equal(t, told[2].Bytes, told[3].Bytes)
		require.NoError(t, table.Release())
		requireEmpty(t, mgr)
	})
}

func TestEmptyReader(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		var told []buffer.Progress
		table, err := buffer.FromReader(t.Context(), mgr, readerOf(t, flightSchema()), buffer.LoadOptions{
			Progress: func(p buffer.Progress) { told = append(told, p) },
		})
		require.NoError(t, err)
		requireRecord(t, flights(t, 0), table)
		assert.Equal(t, []buffer.Progress{{Moved: true}}, told)
		require.NoError(t, table.Release())

		for range buffer.Each(t.Context(), mgr, readerOf(t, flightSchema()), buffer.LoadOptions{}) {
			t.Fatal("there is no batch")
		}
		requireEmpty(t, mgr)
	})
}

func TestReaderThatFails(t *testing.T) {
	mgr := hostManager(t)
	whole := flights(t, 30)
	parts := batches(t, whole, 10, 10, 10)
	reader := func() *stopping {
		return &stopping{RecordReader: readerOf(t, whole.Schema(), parts...), batches: 2, err: errInjected}
	}
	table, err := buffer.FromReader(t.Context(), mgr, reader(), buffer.LoadOptions{})
	require.ErrorIs(t, err, errInjected)
	assert.Nil(t, table)
	assert.Zero(t, mgr.Stats().Allocations, "nothing is moved before everything is read")

	var failures []error
	var tables int
	for table, err := range buffer.Each(t.Context(), mgr, reader(), buffer.LoadOptions{}) {
		if err != nil {
			assert.Nil(t, table)
			failures = append(failures, err)
			continue
		}
		requireRecord(t, parts[tables], table)
		tables++
		require.NoError(t, table.Release())
	}
	assert.Equal(t, 2, tables)
	require.Len(t, failures, 1)
	require.ErrorIs(t, failures[0], errInjected)
	requireEmpty(t, mgr)
}

// arrow-go's Parquet reader returns io.EOF as an error.
func TestEndOfFileIsNoError(t *testing.T) {
	mgr := hostManager(t)
	whole := flights(t, 30)
	reader := &stopping{RecordReader: readerOf(t, whole.Schema(), batches(t, whole, 10, 20)...), batches: 2, err: io.EOF}
	table, err := buffer.FromReader(t.Context(), mgr, reader, buffer.LoadOptions{})
	require.NoError(t, err)
	requireRecord(t, whole, table)
	require.NoError(t, table.Release())

	reader = &stopping{RecordReader: readerOf(t, whole.Schema(), whole), batches: 1, err: io.EOF}
	for table, err := range buffer.Each(t.Context(), mgr, reader, buffer.LoadOptions{}) {
		require.NoError(t, err)
		require.NoError(t, table.Release())
	}
	requireEmpty(t, mgr)
}

func TestEachYieldsBatchByBatch(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		whole := flights(t, 100)
		parts := batches(t, whole, 40, 0, 60)
		var told []buffer.Progress
		options := buffer.LoadOptions{Progress: func(p buffer.Progress) { told = append(told, p) }}
		var number int
		for table, err := range buffer.Each(t.Context(), mgr, readerOf(t, whole.Schema(), parts...), options) {
			require.NoError(t, err)
			requireRecord(t, parts[number], table)
			number++
			require.Len(t, told, number)
			assert.Equal(t, number, told[number-1].Batches)
			assert.True(t, told[number-1].Moved)
			assert.EqualValues(t, 1, mgr.Stats().Blocks, "one batch at a time")
			require.NoError(t, table.Release())
		}
		require.Equal(t, 3, number)
		assert.EqualValues(t, 100, told[2].Rows)
		requireEmpty(t, mgr)
	})
}

func TestEachEndsWithItsLoop(t *testing.T) {
	mgr := hostManager(t)
	whole := flights(t, 30)
	reader := readerOf(t, whole.Schema(), batches(t, whole, 10, 20)...)
	for table, err := range buffer.Each(t.Context(), mgr, reader, buffer.LoadOptions{}) {
		require.NoError(t, err)
		require.NoError(t, table.Release())
		break
	}
	assert.EqualValues(t, 1, mgr.Stats().Allocations)
	requireEmpty(t, mgr)
	require.True(t, reader.Next(), "the reader is where the loop left it")
	assert.EqualValues(t, 20, reader.Record().NumRows())
}

func TestCancelledLoads(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		whole := flights(t, 100)
		parts := batches(t, whole, 50, 50)
		ctx, cancel := context.WithCancelCause(t.Context())
		var told int
		table, err := buffer.FromReader(ctx, mgr, readerOf(t, whole.Schema(), parts...), buffer.LoadOptions{
			Progress: func(buffer.Progress) { told++; cancel(errInjected) },
		})
		require.ErrorIs(t, err, errInjected)
		require.ErrorIs(t, err, context.Canceled)
		assert.Nil(t, table)
		assert.Equal(t, 1, told)

		table, err = buffer.FromRecords(ctx, mgr, parts, buffer.LoadOptions{})
		require.ErrorIs(t, err, errInjected)
		assert.Nil(t, table)

		ctx, cancel = context.WithCancelCause(t.Context())
		defer cancel(nil)
		var results []error
		for table, err := range buffer.Each(ctx, mgr, readerOf(t, whole.Schema(), parts...), buffer.LoadOptions{}) {
			results = append(results, err)
			require.NoError(t, table.Release()) // nil with an error
			cancel(errInjected)
		}
		require.Len(t, results, 2)
		require.NoError(t, results[0])
		require.ErrorIs(t, results[1], errInjected)
		require.ErrorIs(t, results[1], context.Canceled)
		requireEmpty(t, mgr)
	})
}

// odd is a record that array.NewRecord would refuse.
type odd struct {
	arrow.Record
	schema  *arrow.Schema
	columns []arrow.Array
	rows    int64
}

func (o *odd) Retain()                  {}
func (o *odd) Release()                 {}
func (o *odd) Schema() *arrow.Schema    { return o.schema }
func (o *odd) NumRows() int64           { return o.rows }
func (o *odd) NumCols() int64           { return int64(len(o.columns)) }
func (o *odd) Columns() []arrow.Array   { return o.columns }
func (o *odd) Column(i int) arrow.Array { return o.columns[i] }

func TestRecordsThatDoNotFit(t *testing.T) {
	mgr := hostManager(t)
	record := flights(t, 20)
	columns := record.Columns()
	half := batches(t, record, 10, 10)[0].Columns()
	renamed := slices.Clone(record.Schema().Fields())
	renamed[0].Name = "arrival delay"
	swapped := slices.Clone(columns)
	swapped[0], swapped[5] = swapped[5], swapped[0]

	for name, c := range map[string]struct {
		records []arrow.Record
		want    error
		says    string
	}{
		"no record":           {nil, buffer.ErrSchema, "no record"},
		"nil record":          {[]arrow.Record{record, nil}, buffer.ErrSchema, "record 1 is nil"},
		"another schema":      {[]arrow.Record{record, &odd{schema: arrow.NewSchema(renamed, nil), columns: columns, rows: 20}}, buffer.ErrSchema, "record 1"},
		"no schema":           {[]arrow.Record{&odd{columns: columns, rows: 20}}, buffer.ErrSchema, "nil"},
		"no schema later":     {[]arrow.Record{record, &odd{columns: columns, rows: 20}}, buffer.ErrSchema, "record 1"},
		"missing columns":     {[]arrow.Record{&odd{schema: record.Schema(), columns: columns[:5], rows: 20}}, buffer.ErrSchema, "5 columns for 6 fields"},
		"nil column":          {[]arrow.Record{&odd{schema: record.Schema(), columns: make([]arrow.Array, 6), rows: 20}}, buffer.ErrSchema, `"delay" is nil`},
		"wrong types":         {[]arrow.Record{&odd{schema: record.Schema(), columns: swapped, rows: 20}}, buffer.ErrSchema, `"delay" is of type float64`},
		"columns too short":   {[]arrow.Record{&odd{schema: record.Schema(), columns: half, rows: 20}}, buffer.ErrRows, `"delay" has 10 elements for 20 rows`},
		"one column too long": {[]arrow.Record{&odd{schema: record.Schema(), columns: append(slices.Clone(half[:5]), columns[5]), rows: 10}}, buffer.ErrRows, `"distance" has 20 elements`},
		"negative rows":       {[]arrow.Record{&odd{schema: arrow.NewSchema(nil, nil), rows: -1}}, buffer.ErrRows, "-1 rows"},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := buffer.FromRecords(t.Context(), mgr, c.records, buffer.LoadOptions{})
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.says)
			assert.Nil(t, table)
			requireEmpty(t, mgr)
		})
	}
}

// lying is a reader with records of another schema than its own.
type lying struct {
	stopping
	schema *arrow.Schema
}

func (l *lying) Schema() *arrow.Schema { return l.schema }

func TestReaderWhoseRecordsDoNotFit(t *testing.T) {
	mgr := hostManager(t)
	record := flights(t, 20)
	for _, fields := range [][]arrow.Field{nil, record.Schema().Fields()[:1]} {
		reader := &lying{stopping{RecordReader: readerOf(t, record.Schema(), record), batches: 1}, arrow.NewSchema(fields, nil)}
		_, err := buffer.FromReader(t.Context(), mgr, reader, buffer.LoadOptions{})
		require.ErrorIs(t, err, buffer.ErrSchema)
		requireEmpty(t, mgr)
	}
}
