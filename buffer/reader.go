package buffer

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/memory"
)

// Reader is a sequence of tables: of a file, a query, or another library's stream.
type Reader interface {
	// Schema returns the schema of all tables.
	Schema() *arrow.Schema
	// Next returns the next table, which the caller releases, or io.EOF at the
	// end. The context ends the wait for it.
	Next(ctx context.Context) (*Buffer, error)
	// Close releases the reader's resources; tables that it returned are not
	// affected. It may be called at any point. Further calls do nothing.
	Close() error
}

// RecordReader is a [Reader] that copies the batches of an Arrow record reader to the
// device, each in a call of Next. It is safe for concurrent use.
type RecordReader struct {
	manager *memory.Manager
	options LoadOptions
	schema  atomic.Pointer[arrow.Schema]

	mu      sync.Mutex
	records array.RecordReader // nil once closed
	// pending is the batch that was read and is not yet on the device.
	pending  arrow.Record
	progress Progress
}

var _ Reader = (*RecordReader)(nil)

// NewReader makes a reader of record batches. It retains the record reader until it
// is closed; no other caller may read from the record reader meanwhile. The host
// holds one batch at a time.
func NewReader(m *memory.Manager, reader array.RecordReader, options LoadOptions) *RecordReader {
	r := &RecordReader{manager: m, options: options, records: reader}
	if reader != nil {
		reader.Retain()
		r.schema.Store(reader.Schema())
	}
	return r
}

// Schema returns the record reader's schema. If the record reader infers its schema
// from the data, such as arrow-go's CSV reader, Schema returns nil before the first
// call of Next.
func (r *RecordReader) Schema() *arrow.Schema {
	return r.schema.Load()
}

// Next copies the next batch to the device, as [FromRecords] does. The context cannot
// interrupt the record reader itself.
//
// # Errors
//
// If a batch could not be copied, for lack of memory or because the context ended, it
// is kept: the next call tries it again. A reader without batches and without a
// schema gives an error that wraps [ErrSchema], not io.EOF.
func (r *RecordReader) Next(ctx context.Context) (*Buffer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.records == nil {
		return nil, fmt.Errorf("buffer: read: the reader is closed: %w", memory.ErrReleased)
	}
	if err := cancel.Error(ctx); err != nil {
		return nil, fmt.Errorf("buffer: read: %w", err)
	}
	if r.pending == nil {
		if !r.records.Next() {
			err := readerError(r.records)
			if err == nil {
				_, err = schemaOf(r.records)
			}
			if err == nil {
				err = io.EOF
			}
			return nil, err
		}
		r.pending = r.records.Record()
		r.pending.Retain()
		r.schema.Store(r.records.Schema())
	}
	table, err := FromRecords(ctx, r.manager, []arrow.Record{r.pending}, r.options)
	if err != nil {
		return nil, err
	}
	r.progress.add(r.pending)
	r.progress.Moved = true
	r.drop()
	r.options.report(r.progress)
	return table, nil
}

// Close releases the record reader. It returns nil.
func (r *RecordReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.records == nil {
		return nil
	}
	r.drop()
	r.records.Release()
	r.records = nil
	return nil
}

func (r *RecordReader) drop() {
	if r.pending != nil {
		r.pending.Release()
		r.pending = nil
	}
}
