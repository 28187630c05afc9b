package adbc

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// reader yields the records of a query.
type reader struct {
	references atomic.Int64
	ctx        context.Context
	schema     *arrow.Schema
	next       func() (*gpuframe.Frame, error, bool)
	stop       func()
	record     arrow.Record
	err        error
}

var _ array.RecordReader = (*reader)(nil)

func newReader(ctx context.Context, q gpuframe.Query) (*reader, error) {
	schema, err := q.Schema(ctx)
	if err != nil {
		return nil, err
	}
	r := &reader{ctx: ctx, schema: schema}
	r.references.Store(1)
	r.next, r.stop = iter.Pull2(q.Batches(ctx))
	return r, nil
}

// Retain implements array.RecordReader.
func (r *reader) Retain() { r.references.Add(1) }

// Release implements array.RecordReader.
func (r *reader) Release() {
	if r.references.Add(-1) == 0 {
		r.stop()
		r.drop()
	}
}

func (r *reader) drop() {
	if r.record != nil {
		r.record.Release()
		r.record = nil
	}
}

// Schema implements array.RecordReader.
func (r *reader) Schema() *arrow.Schema { return r.schema }

// Record implements array.RecordReader.
func (r *reader) Record() arrow.Record { return r.record }

// Err implements array.RecordReader.
func (r *reader) Err() error { return failed("read a result", r.err) }

// leastRows is the number of rows of a record at least, but for the last one. Queries may make many small
// batches, and clients work on a record at a time.
const leastRows = 4096

// Next implements array.RecordReader.
func (r *reader) Next() bool {
	r.drop()
	var list []arrow.Record
	for rows := int64(0); r.err == nil && rows < leastRows; {
		record, err := r.batch()
		if err != nil || record == nil {
			r.err = err
			break
		}
		rows += record.NumRows()
		list = append(list, record)
	}
	defer func() { release.Arrow(list) }()
	if r.err == nil && len(list) > 0 {
		r.record, r.err = concatenated(r.schema, list)
	}
	return r.err == nil && len(list) > 0
}

// batch returns the rows of the next batch, or nil at the end.
func (r *reader) batch() (arrow.Record, error) {
	frame, err, ok := r.next()
	if !ok || err != nil {
		return nil, err
	}
	record, err := frame.Record(r.ctx)
	if failure := frame.Release(); err == nil && failure != nil {
		record.Release()
		return nil, failure
	}
	return record, err
}

// concatenated returns one record of the rows of several.
func concatenated(schema *arrow.Schema, list []arrow.Record) (arrow.Record, error) {
	if len(list) == 1 {
		list[0].Retain()
		return list[0], nil
	}
	columns := make([]arrow.Array, schema.NumFields())
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	rows := int64(0)
	for _, record := range list {
		rows += record.NumRows()
	}
	for i := range columns {
		parts := make([]arrow.Array, len(list))
		for k, record := range list {
			parts[k] = record.Column(i)
		}
		var err error
		if columns[i], err = array.Concatenate(parts, memory.DefaultAllocator); err != nil {
			return nil, err
		}
	}
	return array.NewRecord(schema, columns, rows), nil
}
