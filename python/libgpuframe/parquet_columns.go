//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

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
	file       *pqarrow.FileReader
	// leaves are those of each column.
	leaves  [][]int
	columns []pqarrow.RecordReader
	record  arrow.Record
	// rows is the number of rows that were read.
	rows int64
	err  error
}

// newColumnsReader returns a reader of the leaves, nil for all. Without columns it is
// arrow-go's own.
func newColumnsReader(file *pqarrow.FileReader, leaves []int) (array.RecordReader, error) {
	groups := leavesByColumn(file, leaves)
	if len(groups) == 0 {
		return file.GetRecordReader(context.Background(), leaves, nil)
	}
	r := &columnsReader{file: file, leaves: groups}
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
	for i, failure := range failures {
		if failure != nil {
			r.err = r.located(i, r.damaged(i, r.rows), failure)
			return false
		}
	}
	columns := make([]arrow.Array, len(r.columns))
	var rows int64
	for i, column := range r.columns {
		if more[i] != more[0] || more[i] && i > 0 && column.Record().NumRows() != rows {
			r.err = r.shorter()
			return false
		}
		if more[i] {
			columns[i], rows = column.Record().Column(0), column.Record().NumRows()
		}
	}
	if more[0] {
		r.record = array.NewRecord(r.schema, columns, rows)
		r.rows += rows
		return true
	}
	// arrow-go takes some damaged pages for the end of the column.
	if r.err = io.EOF; r.rows != r.file.ParquetReader().NumRows() {
		r.err = r.shorter()
	}
	return false
}

// shorter is the error for columns with another number of rows than the file.
func (r *columnsReader) shorter() error {
	for i := range r.columns {
		if group := r.damaged(i, 0); group >= 0 {
			return r.located(i, group, fmt.Errorf("it has another number of rows than its row group: %w", errContents))
		}
	}
	return fmt.Errorf("the columns have other numbers of rows than the file, which has %d: %w", r.file.ParquetReader().NumRows(), errContents)
}

// located adds the column and the row group, or -1, to an error.
func (r *columnsReader) located(column, group int, err error) error {
	field := r.schema.Field(column)
	err = fmt.Errorf("column %q of %v: %w", field.Name, field.Type, err)
	if group >= 0 {
		err = fmt.Errorf("row group %d: %w", group, err)
	}
	return err
}

// damaged returns the first row group of a column, from that of a row on, that cannot be read, or
// -1. Records span row groups, so it reads each of them again.
func (r *columnsReader) damaged(column int, row int64) int {
	var end int64
	for group, metadata := range r.file.ParquetReader().MetaData().RowGroups {
		if end += metadata.NumRows; end <= row {
			continue
		}
		if rows, err := rowsOf(r.file, group, r.leaves[column]); err != nil || rows != metadata.NumRows {
			return group
		}
	}
	return -1
}

// rowsOf reads a column of a row group to its end, and returns the number of its rows.
func rowsOf(file *pqarrow.FileReader, group int, leaves []int) (rows int64, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%v: %w", reason, errContents)
		}
	}()
	records, err := file.GetRecordReader(context.Background(), leaves, []int{group})
	if err != nil {
		return 0, err
	}
	defer records.Release()
	for {
		more, err := nextOf(records)
		if err != nil || !more {
			return rows, err
		}
		rows += records.Record().NumRows()
	}
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
