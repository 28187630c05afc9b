//go:build cgo && !(386 || arm || mips || mipsle)

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
)

// columnsReader reads each column of a Parquet file on a goroutine of its own.
//
// arrow-go can do so too, but panics on damaged pages, and a panic on one of its
// goroutines ends the process. Here it becomes an error.
type columnsReader struct {
	references atomic.Int64
	schema     *arrow.Schema
	columns    []pqarrow.RecordReader
	record     arrow.Record
	err        error
}

// newColumnsReader returns a reader of the leaves, nil for all. If only one goroutine
// can run at a time, or there is one column, it is arrow-go's own.
func newColumnsReader(file *pqarrow.FileReader, leaves []int) (array.RecordReader, error) {
	groups := leavesByColumn(file, leaves)
	if len(groups) < 2 || runtime.GOMAXPROCS(0) < 2 {
		return file.GetRecordReader(context.Background(), leaves, nil)
	}
	r := &columnsReader{}
	r.references.Store(1)
	var fields []arrow.Field
	for _, group := range groups {
		column, err := file.GetRecordReader(context.Background(), group, nil)
		if err != nil {
			r.Release()
			return nil, err
		}
		r.columns = append(r.columns, column)
		fields = append(fields, column.Schema().Fields()...)
	}
	metadata := r.columns[0].Schema().Metadata()
	r.schema = arrow.NewSchema(fields, &metadata)
	return r, nil
}

// leavesByColumn groups leaves by the column that they are of, in their order.
func leavesByColumn(file *pqarrow.FileReader, leaves []int) (groups [][]int) {
	s := file.ParquetReader().MetaData().Schema
	if leaves == nil {
		for leaf := range s.NumColumns() {
			leaves = append(leaves, leaf)
		}
	}
	places := map[int]int{}
	for _, leaf := range leaves {
		column := s.Root().FieldIndexByField(s.ColumnRoot(leaf))
		place, known := places[column]
		if !known {
			place = len(groups)
			places[column] = place
			groups = append(groups, nil)
		}
		groups[place] = append(groups[place], leaf)
	}
	return groups
}

// Next reads the next rows of all columns.
func (r *columnsReader) Next() bool {
	r.drop()
	if r.err != nil {
		return false
	}
	more, failures := make([]bool, len(r.columns)), make([]error, len(r.columns))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(r.columns), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(r.columns); i = int(next.Add(1)) - 1 {
				more[i], failures[i] = nextOf(r.columns[i])
			}
		})
	}
	workers.Wait()
	for _, failure := range failures {
		if failure != nil {
			r.err = failure
			return false
		}
	}
	if !more[0] {
		r.err = io.EOF
	}
	columns := make([]arrow.Array, len(r.columns))
	var rows int64
	for i, column := range r.columns {
		if more[i] != more[0] || more[i] && i > 0 && column.Record().NumRows() != rows {
			r.err = fmt.Errorf("the columns %q and %q have different numbers of rows: %w", r.schema.Field(0).Name, r.schema.Field(i).Name, errContents)
			return false
		}
		if more[i] {
			columns[i], rows = column.Record().Column(0), column.Record().NumRows()
		}
	}
	if more[0] {
		r.record = array.NewRecord(r.schema, columns, rows)
	}
	return more[0]
}

// nextOf reads the next rows of a column. A panic of arrow-go about the file's contents
// becomes an error. The end of the column is none.
func nextOf(column pqarrow.RecordReader) (more bool, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			more, err = false, fmt.Errorf("the Parquet reader failed: %v: %w", reason, errContents)
		}
	}()
	more = column.Next()
	if err = column.Err(); errors.Is(err, io.EOF) {
		err = nil
	}
	return more, err
}

func (r *columnsReader) drop() {
	if r.record != nil {
		r.record.Release()
		r.record = nil
	}
}

func (r *columnsReader) Retain() { r.references.Add(1) }

func (r *columnsReader) Release() {
	if r.references.Add(-1) > 0 {
		return
	}
	r.drop()
	for _, column := range r.columns {
		column.Release()
	}
}

func (r *columnsReader) Schema() *arrow.Schema { return r.schema }

func (r *columnsReader) Record() arrow.Record { return r.record }

// Err returns the error of the first column that has one. Like arrow-go's readers it
// returns io.EOF at the end.
func (r *columnsReader) Err() error { return r.err }
