package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// recordList is a source of Arrow records.
type recordList struct {
	schema  *arrow.Schema
	records []arrow.Record
}

// Records is a source of records of a schema, possibly none. A nil schema stands for
// that of the first record. Views of text and bytes become text and bytes. A field is nullable if its
// arrays have nulls, also if the schema declares it as not nullable.
//
// # Ownership
//
// The source holds no reference: the records must not be released before the last
// reader is open. A reader retains them until it is closed.
func Records(schema *arrow.Schema, list ...arrow.Record) (Source, error) {
	fail := func(err error) (Source, error) { return nil, &Error{Source: "records", RowGroup: -1, Err: err} }
	if schema == nil {
		if len(list) == 0 {
			return fail(fmt.Errorf("no schema and no records, expected one of them: %w", ErrArgument))
		}
		if list[0] == nil {
			return fail(fmt.Errorf("record 0 is nil: %w", ErrArgument))
		}
		schema = list[0].Schema()
	}
	for i, record := range list {
		if record == nil {
			return fail(fmt.Errorf("record %d is nil: %w", i, ErrArgument))
		}
		if err := otherSchema(record.Schema(), schema); err != nil {
			return fail(fmt.Errorf("record %d has another schema than the source: %w", i, err))
		}
	}
	schema = nullableWhere(schema, func(place int) bool {
		return slices.ContainsFunc(list, func(record arrow.Record) bool { return record.Column(place).NullN() > 0 })
	})
	return &recordList{schema: schema, records: list}, nil
}

func (s *recordList) String() string {
	if len(s.records) == 1 {
		return "record"
	}
	return fmt.Sprintf("%d records", len(s.records))
}

func (s *recordList) Schema(context.Context) (*arrow.Schema, error) {
	return plainSchema(s.schema), nil
}

func (s *recordList) Rows(context.Context) (rows int64, exact bool) {
	for _, record := range s.records {
		rows += record.NumRows()
	}
	return rows, true
}

func (s *recordList) Bounds(context.Context, string) (low, high any, ok bool) {
	return nil, nil, false
}

func (s *recordList) Open(_ context.Context, m *memory.Manager, request Request) (buffer.Reader, error) {
	selected, err := project(plainSchema(s.schema), request.Columns)
	if err != nil {
		return nil, wrap(s, err)
	}
	r := &recordsLeft{projection: selected, left: make([]arrow.Record, len(s.records))}
	bytes := int64(0)
	for i, record := range s.records {
		record.Retain()
		r.left[i] = record
		bytes += selected.length(record)
	}
	l := newLoader(s, m, request, selected.schema, splitting(r, request.BatchRows))
	l.stages = len(s.records) > 1 && bytes/int64(len(s.records)) >= stagedBytes && m != nil && m.Device().Kind() != device.Host
	return l, nil
}

// stagedBytes is the average length of records from which on the next ones are copied while a query works on one.
const stagedBytes = 1 << 20

// recordsLeft are records that were not read.
type recordsLeft struct {
	projection
	left []arrow.Record
}

func (r *recordsLeft) next(context.Context) (record arrow.Record, err error) {
	defer recovered(&err)
	if len(r.left) == 0 {
		return nil, io.EOF
	}
	first := r.left[0]
	r.left = r.left[1:]
	defer first.Release()
	return r.record(first), nil
}

func (r *recordsLeft) close(bool) error {
	release.Arrow(r.left)
	r.left = nil
	return nil
}

// recordReader is a source that reads an Arrow record reader.
type recordReader struct {
	reader array.RecordReader
	schema *arrow.Schema
	used   atomic.Bool
}

// RecordReader is a source of the records of a reader. It can be opened once; the
// second call of Open gives an error that wraps [ErrUsed]. A record with other columns, by
// their names or types, than the schema of the reader gives one that wraps buffer.ErrSchema. All fields
// are nullable: the records are not known before they are read.
//
// # Ownership
//
// The source holds no reference: the reader must not be released before Open, and no
// other caller may read from it afterwards. Open retains it until the result is closed.
func RecordReader(reader array.RecordReader) (Source, error) {
	fail := func(err error) (Source, error) {
		return nil, &Error{Source: "record reader", RowGroup: -1, Err: err}
	}
	if reader == nil {
		return fail(fmt.Errorf("the reader is nil: %w", ErrArgument))
	}
	if reader.Schema() == nil {
		return fail(fmt.Errorf("the reader has no schema before its first record: give it one: %w", ErrArgument))
	}
	return &recordReader{reader: reader, schema: plainSchema(nullableWhere(reader.Schema(), unread))}, nil
}

func (s *recordReader) String() string { return "record reader" }

func (s *recordReader) Schema(context.Context) (*arrow.Schema, error) {
	return s.schema, nil
}

func (s *recordReader) Rows(context.Context) (rows int64, exact bool) { return -1, false }

func (s *recordReader) Bounds(context.Context, string) (low, high any, ok bool) {
	return nil, nil, false
}

func (s *recordReader) Open(_ context.Context, m *memory.Manager, request Request) (buffer.Reader, error) {
	selected, err := project(s.schema, request.Columns)
	if err != nil {
		return nil, wrap(s, err)
	}
	if s.used.Swap(true) {
		return nil, wrap(s, fmt.Errorf("it was opened before: collect its rows into a table to read them again: %w", ErrUsed))
	}
	s.reader.Retain()
	r := &readerRecords{projection: selected, reader: s.reader}
	return newLoader(s, m, request, selected.schema, splitting(r, request.BatchRows)), nil
}

// readerRecords are the records of an Arrow record reader.
type readerRecords struct {
	projection
	reader array.RecordReader
	// at is the number of records read.
	at int
}

// next turns a panic of the reader into an error: the reader may decode a file.
func (r *readerRecords) next(context.Context) (record arrow.Record, err error) {
	defer recovered(&err)
	if r.reader.Next() {
		record := r.reader.Record()
		if err := otherColumns(record.Schema(), r.reader.Schema()); err != nil {
			return nil, fmt.Errorf("record %d has another schema than its reader: %w", r.at, err)
		}
		r.at++
		return r.record(record), nil
	}
	if err := r.reader.Err(); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return nil, io.EOF
}

func (r *readerRecords) close(bool) (err error) {
	defer recovered(&err)
	r.reader.Release()
	return nil
}

// recovered turns a panic of a decoder into an error. Call it deferred.
func recovered(err *error) {
	if reason := recover(); reason != nil {
		*err = fmt.Errorf("the decoder failed: %v: %w", reason, ErrContents)
	}
}
