package gpuframe

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
)

// HostTable is a table in host memory, for data that is larger than the memory of the GPU: see
// [Engine.NewHostTable].
type HostTable struct{ table *source.HostTable }

// HostTableOptions are those of [Engine.NewHostTable]. The zero value is right for most programs.
type HostTableOptions struct {
	// Plain is set if the columns are not packed: the table is made sooner, and each query copies more.
	Plain bool
}

// NewHostTable makes a table in host memory of the records of a reader. With a GPU the memory is
// pinned, and queries copy from it at the rate of the link: only the columns that they need, and the
// next rows while they work on the rows before.
//
// Columns of numbers, times, decimals, booleans, text and bytes are packed by all processors, and
// unpacked by the GPU: into the bits that the values of 2,048 rows need, with a dictionary for text
// that repeats. Other columns stay as they are. Of each 65,536 rows the table knows the least and the
// greatest value of numbers and times: rows that no filter of the query keeps are not copied.
//
// # Ownership
//
// The caller keeps the reader, and releases the table before it closes the engine.
//
// # Errors
//
// The error of the reader, of a record with other columns than its reader, and of the context.
func (e *Engine) NewHostTable(ctx context.Context, reader array.RecordReader, options HostTableOptions) (*HostTable, error) {
	if reader == nil {
		return nil, fmt.Errorf("gpuframe: make a host table: the reader is nil: %w", device.ErrInvalidValue)
	}
	return e.newHostTable(ctx, reader.Schema(), source.RecordsOf(reader), options)
}

func (e *Engine) newHostTable(ctx context.Context, schema *arrow.Schema, records iter.Seq2[arrow.Record, error], options HostTableOptions) (*HostTable, error) {
	table, err := source.NewHostTable(ctx, e.Device(), schema, records, source.HostOptions(options))
	if err != nil {
		return nil, fmt.Errorf("gpuframe: %w", err)
	}
	return &HostTable{table}, nil
}

// HostTable is a query on a table in host memory, which must not be released before the query has
// run.
func (e *Engine) HostTable(table *HostTable) Query {
	return e.scan("HostTable", func() (source.Source, error) {
		if table == nil {
			return source.HostRows(nil)
		}
		return source.HostRows(table.table)
	})
}

// HostTable runs the query and keeps its result in host memory, packed as by [Engine.NewHostTable].
// The result may be larger than the memory of the GPU. The caller releases the table.
func (q Query) HostTable(ctx context.Context, options HostTableOptions, run ...RunOption) (*HostTable, error) {
	schema, err := q.Schema(ctx)
	if err != nil {
		return nil, err
	}
	return q.engine.newHostTable(ctx, schema, func(yield func(arrow.Record, error) bool) {
		for frame, err := range q.Batches(ctx, run...) {
			var record arrow.Record
			if err == nil {
				record, err = frame.Record(ctx)
				err = errors.Join(err, frame.Release())
			}
			goOn := yield(record, err)
			if record != nil {
				record.Release()
			}
			if !goOn {
				return
			}
		}
	}, options)
}

// Schema returns the names and types of the columns.
func (t *HostTable) Schema() *arrow.Schema { return t.table.Schema() }

// NumRows returns the number of rows.
func (t *HostTable) NumRows() int64 { return t.table.Rows() }

// Bytes is the host memory of a column, by its place in the schema.
func (t *HostTable) Bytes(column int) int64 { return t.table.ColumnBytes(column) }

// Release releases the memory when the queries on the table have ended. Further calls do nothing.
func (t *HostTable) Release() error {
	if t == nil {
		return nil
	}
	return t.table.Release()
}
