package share

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// Table is a table of a server. Its columns are mapped on first use. It is safe for
// concurrent use.
type Table struct {
	set    *set
	closed atomic.Bool
}

// Name returns the name under which the table was opened.
func (t *Table) Name() string { return t.set.described.Name }

// Schema returns the Arrow schema with its metadata.
func (t *Table) Schema() *arrow.Schema { return t.set.schema }

// NumRows returns the number of rows.
func (t *Table) NumRows() int64 { return t.set.described.Rows }

// NumColumns returns the number of columns.
func (t *Table) NumColumns() int { return len(t.set.described.Columns) }

// Bytes returns the size of the table's memory, mapped or not.
func (t *Table) Bytes() uint64 { return t.set.described.bytes() }

// Device returns the device of the table's memory.
func (t *Table) Device() DeviceID { return t.set.described.Device }

// Column maps the memory of column i, unless it is mapped already, and returns the
// column.
//
// # Ownership
//
// The caller releases the column, which may outlive the table.
func (t *Table) Column(ctx context.Context, i int) (*column.Column, error) {
	if i < 0 || i >= t.NumColumns() {
		return nil, failed("map", t.Name(), fmt.Errorf("column %d of %d: %w", i, t.NumColumns(), buffer.ErrSchema))
	}
	if err := t.check(ctx); err != nil {
		return nil, failed("map", t.Name(), err)
	}
	c, err := t.set.column(i)
	if err != nil {
		return nil, failed("map", t.Name(), fmt.Errorf("column %q: %w", t.Schema().Field(i).Name, err))
	}
	return c, nil
}

// ColumnByName is [Table.Column] for the first column of that name.
func (t *Table) ColumnByName(ctx context.Context, name string) (*column.Column, error) {
	indices := t.Schema().FieldIndices(name)
	if len(indices) == 0 {
		return nil, failed("map", t.Name(), fmt.Errorf("the table has no column %q: %w", name, buffer.ErrSchema))
	}
	return t.Column(ctx, indices[0])
}

// Buffer maps the columns that are not mapped yet and returns the whole table.
//
// # Ownership
//
// The caller releases the result, which may outlive the table.
func (t *Table) Buffer(ctx context.Context) (*buffer.Buffer, error) {
	columns := make([]*column.Column, 0, t.NumColumns())
	var err error
	for i := range t.NumColumns() {
		var c *column.Column
		if c, err = t.Column(ctx, i); err != nil {
			break
		}
		columns = append(columns, c)
	}
	if err == nil {
		err = t.check(ctx) // a table without columns may be closed, too
	}
	var whole *buffer.Buffer
	if err == nil {
		whole, err = buffer.New(t.Schema(), columns, buffer.Rows{Count: t.NumRows()})
	}
	for _, c := range columns {
		err = errors.Join(err, c.Release()) // the table has separate references
	}
	if err != nil {
		return nil, errors.Join(err, whole.Release())
	}
	return whole, nil
}

func (t *Table) check(ctx context.Context) error {
	if t.closed.Load() {
		return fmt.Errorf("the table: %w", ErrClosed)
	}
	if ctx.Err() != nil {
		return cancel.Error(ctx)
	}
	return nil
}

// Close ends the table. Columns and buffers made from it stay usable. When they are
// released too, the server learns that the client no longer uses the table. A second
// Close returns an error that wraps [ErrClosed].
func (t *Table) Close() error {
	if t.closed.Swap(true) {
		return failed("close", t.Name(), ErrClosed)
	}
	return failed("close", t.Name(), t.set.leave())
}
