package buffer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/hostarray"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// LoadOptions configure how records move to a device. The zero value is right
// for most programs.
type LoadOptions struct {
	// Stream is the stream that the table's memory belongs to. If it is set, the load
	// returns as soon as the records may be released, and only work on this stream is
	// ordered after the transfer. Nil means the manager's stream; the load then waits
	// until every stream may use the table.
	Stream *device.Stream
	// Tag is the tag of the memory in the manager's statistics.
	Tag string
	// Unchecked skips the checks of contents that column.FromArrays makes, for
	// records that the program made itself.
	Unchecked bool
	// Progress is called by FromReader and Each after every batch, and by FromReader
	// again when all rows are on the device. It is called on the loading goroutine
	// and should return soon.
	Progress func(Progress)
}

// Progress describes how far a load has come.
type Progress struct {
	// Batches, Rows and Bytes count the data that was read. Bytes is the length of
	// the Arrow buffers.
	Batches int
	Rows    int64
	Bytes   int64
	// Moved reports whether the data is on the device.
	Moved bool
}

// FromRecord copies a record to the manager's device, in one allocation and one
// pipelined transfer, and waits for the transfer. The record may be released
// afterwards. The caller releases the table. [FromRecordWith] takes a context and
// options.
//
// # Errors
//
// The record is checked: see column.FromArrays. An invalid record gives an error that
// wraps column.ErrInvalid. If other requests wait for memory, the call fails, because
// it has no context that could end its wait.
func FromRecord(m *memory.Manager, record arrow.Record) (*Buffer, error) {
	return fromRecords(context.Background(), m, []arrow.Record{record}, LoadOptions{}, true)
}

// FromRecordWith is [FromRecord] with options, and a context that ends its waits. If
// other requests wait for memory, it waits for its turn.
func FromRecordWith(ctx context.Context, m *memory.Manager, record arrow.Record, options LoadOptions) (*Buffer, error) {
	return FromRecords(ctx, m, []arrow.Record{record}, options)
}

// FromRecords copies records of one schema to the device as one table, in one
// allocation and one pipelined transfer. The records may be released when it returns.
// At least one record is needed, for its schema. Text of more than 2 GiB in all records
// together becomes large_utf8: see [column.FromArrays]. If other requests wait for memory,
// it waits for its turn. The caller releases the table.
func FromRecords(ctx context.Context, m *memory.Manager, records []arrow.Record, options LoadOptions) (*Buffer, error) {
	return fromRecords(ctx, m, records, options, false)
}

func fromRecords(ctx context.Context, m *memory.Manager, records []arrow.Record, options LoadOptions, failAtOnce bool) (*Buffer, error) {
	if len(records) == 0 {
		return nil, fmt.Errorf("buffer: load: no records, expected at least one for the schema: %w", ErrSchema)
	}
	for i, record := range records {
		if record == nil {
			return nil, fmt.Errorf("buffer: load: record %d is nil: %w", i, ErrSchema)
		}
	}
	schema := records[0].Schema()
	return load(ctx, m, schema, records, options, failAtOnce)
}

func load(ctx context.Context, m *memory.Manager, schema *arrow.Schema, records []arrow.Record, options LoadOptions, failAtOnce bool) (*Buffer, error) {
	chunks, rows, err := transpose(schema, records)
	if err != nil {
		return nil, fmt.Errorf("buffer: load: %w", err)
	}
	columns, err := column.FromArrays(ctx, m, chunks, column.UploadOptions{
		Stream: options.Stream, Tag: options.Tag, Unchecked: options.Unchecked, FailAtOnce: failAtOnce,
		Name: func(i int) string { return schema.Field(i).Name },
	})
	if err != nil {
		return nil, fmt.Errorf("buffer: load: %w", err)
	}
	wide := layout.WithOffsets(schema, len(columns), func(i int) arrow.DataType { return columns[i].Type() })
	table, err := New(wide, columns, Rows{Count: rows, Manager: m})
	for _, c := range columns {
		err = errors.Join(err, c.Release()) // the table holds its own references
	}
	if err != nil {
		return nil, errors.Join(err, table.Release())
	}
	return table, nil
}

// transpose lists the chunks of every column.
func transpose(schema *arrow.Schema, records []arrow.Record) (chunks [][]arrow.Array, rows int64, err error) {
	if schema == nil {
		return nil, 0, fmt.Errorf("the schema is nil: %w", ErrSchema)
	}
	width := schema.NumFields()
	all := make([]arrow.Array, width*len(records))
	chunks = make([][]arrow.Array, width)
	for i := range chunks {
		chunks[i] = all[i*len(records) : (i+1)*len(records)]
	}
	for r, record := range records {
		if !record.Schema().Equal(schema) {
			return nil, 0, fmt.Errorf("record %d does not have the table's schema: %w", r, ErrSchema)
		}
		if record.NumCols() != int64(width) {
			return nil, 0, fmt.Errorf("record %d has %d columns for %d fields: %w", r, record.NumCols(), width, ErrSchema)
		}
		for i := range chunks {
			chunk := record.Column(i)
			if chunk == nil {
				return nil, 0, fmt.Errorf("record %d, column %q is nil: %w", r, schema.Field(i).Name, ErrSchema)
			}
			if int64(chunk.Len()) != record.NumRows() {
				return nil, 0, fmt.Errorf("record %d, column %q has %d elements for %d rows: %w",
					r, schema.Field(i).Name, chunk.Len(), record.NumRows(), ErrRows)
			}
			chunks[i][r] = chunk
		}
		rows += record.NumRows()
	}
	return chunks, rows, nil
}

// FromReader reads all batches of a reader and copies them to the device as one
// table, in one allocation and one transfer. The batches stay in host memory until
// the last one is read, because the table's size is unknown before; use [Each] if
// they do not fit. The caller releases the table and keeps the reader.
//
// A reader without batches gives a table without rows. If it has no schema either,
// because it infers its schema from the data, the error wraps [ErrSchema].
func FromReader(ctx context.Context, m *memory.Manager, reader array.RecordReader, options LoadOptions) (*Buffer, error) {
	if err := checkReader(m, reader); err != nil {
		return nil, err
	}
	var records []arrow.Record
	defer func() { release.Arrow(records) }()
	var progress Progress
	for reader.Next() {
		if err := cancel.Error(ctx); err != nil {
			return nil, fmt.Errorf("buffer: read: %w", err)
		}
		record := reader.Record()
		record.Retain()
		records = append(records, record)
		progress.add(record)
		options.report(progress)
	}
	if err := readerError(reader); err != nil {
		return nil, err
	}
	schema, err := schemaOf(reader)
	if err != nil {
		return nil, err
	}
	if len(records) == 0 {
		empty, err := hostarray.EmptyRecord(schema)
		if err != nil {
			return nil, fmt.Errorf("buffer: read: %w: %w", err, column.ErrInvalid)
		}
		records = append(records, empty)
	}
	table, err := load(ctx, m, schema, records, options, false)
	if err != nil {
		return nil, err
	}
	progress.Moved = true
	options.report(progress)
	return table, nil
}

// Each reads a reader batch by batch and yields every batch as a table on the device.
// The host holds one batch at a time. The loop's body releases each table; after an
// error the loop ends. The caller keeps the reader. A reader without batches yields
// nothing, or the error of [FromReader] if it has no schema either.
func Each(ctx context.Context, m *memory.Manager, reader array.RecordReader, options LoadOptions) iter.Seq2[*Buffer, error] {
	return func(yield func(*Buffer, error) bool) {
		if err := checkReader(m, reader); err != nil {
			yield(nil, err)
			return
		}
		var progress Progress
		for reader.Next() {
			record := reader.Record()
			table, err := FromRecords(ctx, m, []arrow.Record{record}, options)
			if err != nil {
				yield(nil, err)
				return
			}
			progress.add(record)
			progress.Moved = true
			options.report(progress)
			if !yield(table, nil) {
				return
			}
		}
		err := readerError(reader)
		if err == nil {
			_, err = schemaOf(reader)
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

func checkReader(m *memory.Manager, reader array.RecordReader) error {
	if m == nil {
		return fmt.Errorf("buffer: read: the manager is nil: %w", device.ErrInvalidValue)
	}
	if reader == nil {
		return fmt.Errorf("buffer: read: the reader is nil: %w", ErrSchema)
	}
	return nil
}

// schemaOf returns the schema of a reader that was read to its end. A reader that
// infers its schema from the data, such as arrow-go's CSV reader, has none if the
// data are empty.
func schemaOf(reader array.RecordReader) (*arrow.Schema, error) {
	schema := reader.Schema()
	if schema == nil {
		return nil, fmt.Errorf("buffer: read: the input is empty and the reader has no schema: give the reader a schema: %w", ErrSchema)
	}
	return schema, nil
}

// readerError returns the error that stopped a reader. arrow-go's Parquet reader
// returns io.EOF as the error at the end of the file.
func readerError(reader array.RecordReader) error {
	if err := reader.Err(); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("buffer: read: %w", err)
	}
	return nil
}

func (p *Progress) add(record arrow.Record) {
	p.Batches++
	p.Rows += record.NumRows()
	for _, each := range record.Columns() {
		p.Bytes += dataBytes(each.Data())
	}
}

// dataBytes counts the buffers of an array and of everything below it.
func dataBytes(data arrow.ArrayData) int64 {
	if data == nil {
		return 0
	}
	var total int64
	for _, buffer := range data.Buffers() {
		if buffer != nil {
			total += int64(buffer.Len())
		}
	}
	for _, child := range data.Children() {
		total += dataBytes(child)
	}
	if dictionary, ok := data.Dictionary().(*array.Data); ok && dictionary != nil {
		total += dataBytes(dictionary)
	}
	return total
}

func (o LoadOptions) report(progress Progress) {
	if o.Progress != nil {
		o.Progress(progress)
	}
}
