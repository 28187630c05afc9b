//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// parquetReader reads a Parquet file. If arrow-go cannot read a column, the error names
// it.
type parquetReader struct {
	array.RecordReader
	file   *pqarrow.FileReader
	leaves []int
	failed error
}

// Next reads the next record. A panic of arrow-go about the file's contents becomes an
// error.
func (r *parquetReader) Next() (more bool) {
	defer func() {
		if reason := recover(); reason != nil {
			more, r.failed = false, fmt.Errorf("the Parquet reader failed: %v: %w", reason, errContents)
		}
	}()
	return r.RecordReader.Next()
}

func (r *parquetReader) Err() error {
	if r.failed != nil {
		return r.failed
	}
	err := r.RecordReader.Err()
	if errors.Is(err, arrow.ErrNotImplemented) {
		return r.unread(err)
	}
	return err
}

// unread names the columns that cannot be read. It reads each column separately.
func (r *parquetReader) unread(err error) error {
	var named []string
	for _, name := range topLevel(r.file.ParquetReader().MetaData().Schema) {
		leaves, err := leavesOf(r.file.ParquetReader(), []string{name})
		if err != nil || len(r.leaves) > 0 && !slices.Contains(r.leaves, leaves[0]) {
			continue
		}
		if t, err := r.tryColumn(leaves); err != nil {
			named = append(named, fmt.Sprintf("%q of %v (%v)", name, t, err))
		}
	}
	if len(named) == 0 {
		return err
	}
	return fmt.Errorf("the Parquet reader cannot read the columns %s; pass the other columns in columns=, or write the file with smaller row groups: %w",
		strings.Join(named, ", "), errUnread)
}

// tryColumn reads the first rows of a column. It returns the column's type and the error.
func (r *parquetReader) tryColumn(leaves []int) (arrow.DataType, error) {
	records, err := r.file.GetRecordReader(context.Background(), leaves, nil)
	if err != nil {
		return nil, err
	}
	defer records.Release()
	for records.Next() {
	}
	return records.Schema().Field(0).Type, records.Err()
}

// topLevel returns the names of a file's columns.
func topLevel(s *schema.Schema) (names []string) {
	root := s.Root()
	for i := range root.NumFields() {
		names = append(names, root.Field(i).Name())
	}
	return names
}
