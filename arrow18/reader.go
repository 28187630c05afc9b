package arrow18

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync/atomic"

	arrow17 "github.com/apache/arrow/go/v17/arrow"
	array17 "github.com/apache/arrow/go/v17/arrow/array"

	arrow18 "github.com/apache/arrow-go/v18/arrow"
	array18 "github.com/apache/arrow-go/v18/arrow/array"

	"github.com/gpuframe/gpuframe"
)

// ImportReader returns a reader of v17 of the records of a reader of v18, for
// gpuframe.Engine.Reader. It retains the reader; the caller releases the result, and reads
// from only one of them.
func ImportReader(reader array18.RecordReader) (array17.RecordReader, error) {
	if reader == nil {
		return nil, &Error{"import", "", fmt.Errorf("the reader is nil: %w", ErrArgument)}
	}
	schema, err := ImportSchema(reader.Schema())
	if err != nil {
		return nil, err
	}
	reader.Retain()
	r := &imported{schema: schema}
	r.next = func() (arrow17.Record, error) {
		if !reader.Next() {
			return nil, endOr(reader.Err())
		}
		return importRecord(reader.RecordBatch(), schema)
	}
	r.close = reader.Release
	r.references.Store(1)
	return r, nil
}

// ExportReader returns a reader of v18 of the records of a reader of v17. It retains the
// reader; the caller releases the result, and reads from only one of them.
func ExportReader(reader array17.RecordReader) (array18.RecordReader, error) {
	if reader == nil {
		return nil, &Error{"export", "", fmt.Errorf("the reader is nil: %w", ErrArgument)}
	}
	schema, err := ExportSchema(reader.Schema())
	if err != nil {
		return nil, err
	}
	reader.Retain()
	r := &exported{schema: schema}
	r.next = func() (arrow18.RecordBatch, error) {
		if !reader.Next() {
			return nil, endOr(reader.Err())
		}
		return exportRecord(reader.Record(), schema)
	}
	r.close = reader.Release
	r.references.Store(1)
	return r, nil
}

// Record copies a frame from the device into a record of v18, which the caller releases.
func Record(ctx context.Context, frame *gpuframe.Frame) (arrow18.RecordBatch, error) {
	if frame == nil {
		return nil, &Error{"export", "", fmt.Errorf("the frame is nil: %w", ErrArgument)}
	}
	record, err := frame.Record(ctx)
	if err != nil {
		return nil, err
	}
	defer record.Release()
	return Export(record)
}

// Reader runs a query and returns a reader of its batches. The query runs as the reader is
// read, and ends when it is released, or at its end. The context is that of the query.
func Reader(ctx context.Context, query gpuframe.Query, options ...gpuframe.RunOption) (array18.RecordReader, error) {
	plain, err := query.Schema(ctx)
	if err != nil {
		return nil, err
	}
	schema, err := ExportSchema(plain)
	if err != nil {
		return nil, err
	}
	next, stop := iter.Pull2(query.Batches(ctx, options...))
	r := &exported{schema: schema}
	r.close = stop
	r.next = func() (arrow18.RecordBatch, error) {
		frame, err, more := next()
		if !more {
			return nil, io.EOF
		}
		if err != nil {
			return nil, err
		}
		record, err := frame.Record(ctx)
		if err := errors.Join(err, frame.Release()); err != nil {
			return nil, err
		}
		defer record.Release()
		return exportRecord(record, schema)
	}
	r.references.Store(1)
	return r, nil
}

func endOr(err error) error {
	if err == nil {
		return io.EOF
	}
	return err
}

// current is the record that a reader has read last. R is a record of either version.
type current[R interface{ Release() }] struct {
	references atomic.Int64
	// next returns the next record, or io.EOF. close is called once.
	next      func() (R, error)
	close     func()
	record    R
	hasRecord bool
	err       error
}

// Retain implements the interfaces of readers.
func (c *current[R]) Retain() { c.references.Add(1) }

// Release implements the interfaces of readers.
func (c *current[R]) Release() {
	if c.references.Add(-1) == 0 {
		c.drop()
		c.close()
	}
}

func (c *current[R]) drop() {
	if c.hasRecord {
		c.record.Release()
	}
	var none R
	c.record, c.hasRecord = none, false
}

// Next implements the interfaces of readers.
func (c *current[R]) Next() bool {
	c.drop()
	if c.err != nil {
		return false
	}
	record, err := c.next()
	if err != nil {
		c.err = err
		return false
	}
	c.record, c.hasRecord = record, true
	return true
}

// Record implements the interfaces of readers.
func (c *current[R]) Record() R { return c.record }

// Err implements the interfaces of readers.
func (c *current[R]) Err() error {
	if c.err == io.EOF {
		return nil
	}
	return c.err
}

// imported is a reader of v17.
type imported struct {
	current[arrow17.Record]
	schema *arrow17.Schema
}

// Schema implements array17.RecordReader.
func (r *imported) Schema() *arrow17.Schema { return r.schema }

// exported is a reader of v18.
type exported struct {
	current[arrow18.RecordBatch]
	schema *arrow18.Schema
}

// Schema implements array18.RecordReader.
func (r *exported) Schema() *arrow18.Schema { return r.schema }

// RecordBatch implements array18.RecordReader.
func (r *exported) RecordBatch() arrow18.RecordBatch { return r.record }
