package share

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/cancel"
)

// Table is a table of a server's. Its columns are mapped as they are asked for. It
// is safe for concurrent use.
type Table struct {
	set    *set
	closed atomic.Bool
}

// Name returns the name that the table was opened by.
func (t *Table) Name() string { return t.set.described.Name }

// Schema returns the Arrow schema, with its metadata.
func (t *Table) Schema() *arrow.Schema { return t.set.schema }

// NumRows returns the number of rows.
func (t *Table) NumRows() int64 { return t.set.described.Rows }

// NumColumns returns the number of columns.
func (t *Table) NumColumns() int { return len(t.set.described.Columns) }

// Bytes returns the length of the memory that the table lies in, mapped or not.
func (t *Table) Bytes() uint64 { return t.set.described.bytes() }

// Device returns where the table lies.
func (t *Table) Device() DeviceID { return t.set.described.Device }

// Column maps what column i lies in, where that is not mapped yet, and returns the
// column. The caller releases it; it may outlive the table.
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
		return nil, failed("map", t.Name(), fmt.Errorf("no column is called %q: %w", name, buffer.ErrSchema))
	}
	return t.Column(ctx, indices[0])
}

// Buffer maps what is not mapped yet and returns the whole table. The caller
// releases it; it may outlive the table.
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
		err = t.check(ctx) // a table without columns can be closed, too
	}
	var whole *buffer.Buffer
	if err == nil {
		whole, err = buffer.New(t.Schema(), columns, buffer.Rows{Count: t.NumRows()})
	}
	for _, c := range columns {
		err = errors.Join(err, c.Release()) // the table has its own references
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

// Close ends the table. What was made of it stays usable until it is released; then
// the server learns that the table is not used any more. Closing twice returns an
// error that wraps [ErrClosed].
func (t *Table) Close() error {
	if t.closed.Swap(true) {
		return failed("close", t.Name(), ErrClosed)
	}
	return failed("close", t.Name(), t.set.leave())
}
