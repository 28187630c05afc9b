package data

import (
	"context"
	"iter"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// reader reads the records of a generator.
type reader struct {
	schema *arrow.Schema
	next   func() (arrow.Record, error, bool)
	stop   func()
	record arrow.Record
	err    error
}

// Reader returns a reader of records of a table, for one goroutine, which releases it.
func (g *Generator) Reader(ctx context.Context, t Table, rowsOfRecord int64) array.RecordReader {
	next, stop := iter.Pull2(g.Records(ctx, t, rowsOfRecord))
	return &reader{schema: t.Schema(), next: next, stop: stop}
}

// Retain implements array.RecordReader. The reader has one owner.
func (r *reader) Retain() {}

// Release implements array.RecordReader.
func (r *reader) Release() {
	r.drop()
	r.stop()
}

// Schema implements array.RecordReader.
func (r *reader) Schema() *arrow.Schema { return r.schema }

// Record implements array.RecordReader.
func (r *reader) Record() arrow.Record { return r.record }

// Err implements array.RecordReader.
func (r *reader) Err() error { return r.err }

// Next implements array.RecordReader.
func (r *reader) Next() (ok bool) {
	r.drop()
	r.record, r.err, ok = r.next()
	return ok && r.err == nil
}

func (r *reader) drop() {
	if r.record != nil {
		r.record.Release()
		r.record = nil
	}
}
