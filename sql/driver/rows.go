package driver

import (
	"context"
	"database/sql/driver"
	"io"
	"iter"
	"math"
	"reflect"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/arrays/govalue"
)

// rows are the rows of a query.
type rows struct {
	ctx    context.Context
	schema *arrow.Schema
	next   func() (*gpuframe.Frame, error, bool)
	stop   func()
	// record is the current batch, or nil before the first. row is the next row of it.
	record  arrow.Record
	readers []govalue.Reader
	row     int
}

var (
	_ driver.RowsColumnTypeDatabaseTypeName = (*rows)(nil)
	_ driver.RowsColumnTypeNullable         = (*rows)(nil)
	_ driver.RowsColumnTypeScanType         = (*rows)(nil)
	_ driver.RowsColumnTypePrecisionScale   = (*rows)(nil)
	_ driver.RowsColumnTypeLength           = (*rows)(nil)
)

func newRows(ctx context.Context, q gpuframe.Query) (*rows, error) {
	schema, err := q.Schema(ctx)
	if err != nil {
		return nil, err
	}
	r := &rows{ctx: ctx, schema: schema}
	r.next, r.stop = iter.Pull2(q.Batches(ctx))
	return r, nil
}

// Columns implements driver.Rows.
func (r *rows) Columns() (names []string) {
	for _, f := range r.schema.Fields() {
		names = append(names, f.Name)
	}
	return names
}

// Close implements driver.Rows.
func (r *rows) Close() error {
	r.stop()
	r.release()
	return nil
}

func (r *rows) release() {
	if r.record != nil {
		r.record.Release()
		r.record = nil
	}
}

// Next implements driver.Rows.
func (r *rows) Next(values []driver.Value) error {
	for r.record == nil || r.row == int(r.record.NumRows()) {
		if err := r.nextBatch(); err != nil {
			return err
		}
	}
	for i := range values {
		values[i] = nil
		if !r.record.Column(i).IsNull(r.row) {
			values[i] = r.readers[i](r.row)
		}
	}
	r.row++
	return nil
}

// nextBatch copies the next batch to the host.
func (r *rows) nextBatch() error {
	r.release()
	frame, err, ok := r.next()
	if !ok {
		return io.EOF
	}
	if err != nil {
		return err
	}
	record, err := frame.Record(r.ctx)
	if failure := frame.Release(); err == nil && failure != nil {
		record.Release()
		err = failure
	}
	if err != nil {
		return err
	}
	r.record, r.row, r.readers = record, 0, r.readers[:0]
	for _, c := range record.Columns() {
		r.readers = append(r.readers, govalue.Of(c))
	}
	return nil
}

// ColumnTypeDatabaseTypeName implements an interface of package driver.
func (r *rows) ColumnTypeDatabaseTypeName(i int) string { return typeName(r.schema.Field(i).Type) }

// ColumnTypeNullable implements an interface of package driver.
func (r *rows) ColumnTypeNullable(i int) (nullable, ok bool) { return r.schema.Field(i).Nullable, true }

// ColumnTypeScanType implements an interface of package driver.
func (r *rows) ColumnTypeScanType(i int) reflect.Type { return scanType(r.schema.Field(i).Type) }

// ColumnTypePrecisionScale implements an interface of package driver.
func (r *rows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	t, ok := r.schema.Field(i).Type.(arrow.DecimalType)
	if !ok {
		return 0, 0, false
	}
	return int64(t.GetPrecision()), int64(t.GetScale()), true
}

// ColumnTypeLength implements an interface of package driver. Texts have no limit.
func (r *rows) ColumnTypeLength(i int) (length int64, ok bool) {
	switch t := r.schema.Field(i).Type.(type) {
	case *arrow.FixedSizeBinaryType:
		return int64(t.ByteWidth), true
	case arrow.BinaryDataType:
		return math.MaxInt64, true
	}
	return 0, false
}
