package column

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// RowCount returns the count of the column's rows, borrowed from the column. It
// returns nil if the host has set the count: the column then has Len rows.
func (c *Column) RowCount() *RowCount { return c.data.Rows }

// HostRows returns the number of rows if the host knows it already.
func (c *Column) HostRows() (rows int, known bool) {
	if c.data.Rows == nil {
		return c.data.Length, true
	}
	count, known := c.data.Rows.Host()
	return int(count), known
}

// DeviceRows returns the number of rows in device memory, borrowed from the column.
// It is empty if the host has set the number, and for the children that
// [RowCount.Device] names. [Column.Extent] returns the arguments that an operator
// needs.
func (c *Column) DeviceRows() memory.Slice[int64] {
	if c.data.Rows == nil {
		return memory.Slice[int64]{}
	}
	return c.data.Rows.Device()
}

// NumRows returns the number of rows. A count that is negative or exceeds Len gives
// an error that wraps [ErrRows].
//
// # Waiting
//
// If only the device has the count, the first call waits for the work on it and
// fetches it, for all columns that share it.
func (c *Column) NumRows(ctx context.Context) (int, error) {
	if err := c.Check(); err != nil {
		return 0, err
	}
	if rows, known := c.HostRows(); known {
		return rows, nil
	}
	rows, err := c.data.Rows.Fetch(ctx)
	return int(rows), err
}

// Extent returns the number of rows as an operator takes it. If the host knows the
// number, device is empty and rows is the number. Otherwise device holds the number
// and rows is its maximum. Extent fetches a number that is unknown and not in device
// memory itself, which is the case for few children: see [RowCount.Device].
func (c *Column) Extent(ctx context.Context) (rows int, device memory.Slice[int64], err error) {
	if err := c.Check(); err != nil {
		return 0, device, err
	}
	if rows, known := c.HostRows(); known {
		return rows, device, nil
	}
	if device = c.DeviceRows(); device.Block() != nil {
		return c.data.Length, device, nil
	}
	rows, err = c.NumRows(ctx)
	return rows, device, err
}

// WithRows returns the column with a row count. It shares the memory; only the
// counted elements are part of it. The capacity of the count must be Len. If the
// column has another count, the error wraps [ErrRows]. The caller releases the
// column.
func (c *Column) WithRows(count *RowCount) (*Column, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.data.Rows == count {
		return c, c.Retain()
	}
	if count.Capacity() != int64(c.data.Length) {
		return nil, fmt.Errorf("column: rows of %v: the capacity of the count is %d, expected the column's length %d: %w", c, count.Capacity(), c.data.Length, ErrRows)
	}
	counted, err := c.countedPart(count)
	if err != nil {
		return nil, fmt.Errorf("column: rows of %v: %w", c, err)
	}
	return counted, nil
}

// WithHostRows returns the column cut to its rows, with a length that the host knows.
// It fetches the number of rows if it is unknown, as [Column.NumRows] does. The
// caller releases the column.
func (c *Column) WithHostRows(ctx context.Context) (*Column, error) {
	rows, err := c.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	if c.data.Rows == nil {
		return c, c.Retain()
	}
	return c.Slice(0, rows)
}

// counted makes a column of checked parts. If the column has a row count, counted
// gives one to the children that have an element for each row.
func counted(data Data) (c *Column, err error) {
	if data.Rows == nil {
		return retained(data)
	}
	if capacity := data.Rows.Capacity(); capacity != int64(data.Length) {
		return nil, fmt.Errorf("column: the capacity of the row count is %d, expected the column's length %d: %w", capacity, data.Length, ErrRows)
	}
	if data.NullCount != 0 && data.NullCount != data.Length {
		data.NullCount = UnknownNullCount // for the counted elements
	}
	children, err := countedChildren(data)
	if children != nil {
		data.Children = children
		// The column holds references to its children.
		defer func() { err = errors.Join(err, releaseAll(nil, children)) }()
	}
	if err != nil {
		return nil, err
	}
	return retained(data)
}

// countedChildren returns the children of a column with a row count, each with its
// own count. It returns nil for types whose children have other numbers of elements.
func countedChildren(data Data) (children []*Column, err error) {
	l, err := layoutOf(data.Type)
	if err != nil {
		return nil, err
	}
	times, ok := perElement(l)
	if !ok {
		return nil, nil
	}
	count, err := data.Rows.ofChild(int64(data.Offset), times)
	if err != nil {
		return nil, fmt.Errorf("column: row count of the children: %w", err)
	}
	defer func() { err = errors.Join(err, count.Release()) }()
	children = make([]*Column, 0, len(data.Children))
	for i, child := range data.Children {
		counted, err := child.countedPart(count)
		if err != nil {
			_, name := l.Child(i)
			return children, inChild(i, name, err)
		}
		children = append(children, counted)
	}
	return children, nil
}

// countedPart returns the first elements up to the count's capacity, with that count.
func (c *Column) countedPart(count *RowCount) (*Column, error) {
	capacity := int(count.Capacity())
	if own := c.data.Rows; own != nil && !own.Same(count) {
		if rows, known := own.Host(); !known || rows < int64(capacity) {
			return nil, fmt.Errorf("it has another row count: fetch both with NumRows and slice: %w", ErrRows)
		}
	}
	data := c.copyData()
	data.Known = c.Known().ofPart()
	data.cut(capacity)
	data.Rows = count
	return counted(data)
}

// uncounted returns the column without its row count, and without the counts that its
// children got from it.
func (c *Column) uncounted() (*Column, error) {
	data := c.copyData()
	data.Known = c.Known().ofPart()
	data.Rows = nil
	if !c.countsChildren() {
		return retained(data)
	}
	data.Children = nil
	return assemble(data, len(c.data.Children), func(i int) (*Column, error) { return c.data.Children[i].uncounted() }, false, nil)
}

// perElement returns the number of elements of every child for each element of the
// column, if that number is constant.
func perElement(l layout.Layout) (times int64, ok bool) {
	switch l.Kind {
	case layout.Struct, layout.SparseUnion:
		return 1, true
	case layout.FixedSizeList:
		return int64(l.ListSize()), true
	}
	return 0, false
}

// checkRows checks that the row count matches the length, and that every child has
// enough elements.
func checkRows(l layout.Layout, data Data) error {
	if data.Rows != nil {
		if capacity := data.Rows.Capacity(); capacity != int64(data.Length) {
			return fmt.Errorf("the capacity of the row count is %d, expected the length %d: %w", capacity, data.Length, ErrRows)
		}
		return nil
	}
	times, ok := perElement(l)
	if !ok {
		return nil
	}
	for i, child := range data.Children {
		if child.data.Rows == nil {
			continue
		}
		_, name := l.Child(i)
		rows, known := child.HostRows()
		if !known {
			return inChild(i, name, fmt.Errorf("it has a row count on the device, but its parent has none: set Data.Rows: %w", ErrRows))
		}
		if need := (int64(data.Offset) + int64(data.Length)) * times; int64(rows) < need {
			return inChild(i, name, fmt.Errorf("it has %d rows, %d are needed: %w", rows, need, ErrRows))
		}
	}
	return nil
}
