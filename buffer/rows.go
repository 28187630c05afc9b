package buffer

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// rowCount returns the row count of a table of columns, with a reference for the caller. It
// returns nil if the row count is the capacity.
func (r Rows) rowCount(schema *arrow.Schema, columns []*column.Column, capacity int64) (*column.RowCount, error) {
	if r.Count < 0 {
		return nil, fmt.Errorf("%d rows, expected zero or more: %w", r.Count, ErrRows)
	}
	count, err := r.shared(columns, capacity)
	if err != nil {
		return nil, err
	}
	if count == nil {
		return nil, r.checkHost(schema, columns)
	}
	for i, c := range columns {
		if own := c.RowCount(); own != nil && !own.Same(count) {
			return nil, releasing(count, fmt.Errorf("column %q has another row count on the device than the table: fetch both with NumRows and slice: %w",
				schema.Field(i).Name, ErrRows))
		}
	}
	if count.Capacity() != capacity {
		return nil, releasing(count, fmt.Errorf("the capacity of the row count is %d, expected the table's %d: %w", count.Capacity(), capacity, ErrRows))
	}
	return count, nil
}

// shared returns the count that the table shares, with a reference for the caller. It
// returns nil if the host sets the count.
func (r Rows) shared(columns []*column.Column, capacity int64) (*column.RowCount, error) {
	if r.Shared != nil {
		return r.Shared, r.Shared.Retain()
	}
	if r.Device.Block() == nil {
		if count := common(columns); count != nil && r.agrees(count, capacity) {
			return count, count.Retain()
		}
		return nil, nil
	}
	for _, c := range columns {
		if count := c.RowCount(); count != nil && count.IsAt(r.Device) {
			return count, count.Retain()
		}
	}
	count, err := column.NewRowCount(r.Device, capacity)
	if err != nil {
		return nil, fmt.Errorf("row count: %w", err)
	}
	return count, nil
}

// common returns the row count that all columns carry, or nil.
func common(columns []*column.Column) *column.RowCount {
	for _, c := range columns {
		if count := c.RowCount(); count == nil || !count.Same(columns[0].RowCount()) {
			return nil
		}
	}
	if len(columns) == 0 {
		return nil
	}
	return columns[0].RowCount()
}

// agrees reports whether a row count on the host is valid for columns that carry a
// count: it must be the capacity or the fetched count.
func (r Rows) agrees(count *column.RowCount, capacity int64) bool {
	rows, known := count.Host()
	return r.Count == capacity || known && r.Count == rows
}

// checkHost checks the columns of a table with a row count on the host.
func (r Rows) checkHost(schema *arrow.Schema, columns []*column.Column) error {
	for i, c := range columns {
		name := schema.Field(i).Name
		if int64(c.Len()) != r.Count {
			return fmt.Errorf("column %q has %d elements for %d rows: %w", name, c.Len(), r.Count, ErrRows)
		}
		if rows, known := c.HostRows(); !known {
			return fmt.Errorf("column %q has a row count on the device, the table has %d rows: fetch it with NumRows and slice: %w", name, r.Count, ErrRows)
		} else if rows != c.Len() {
			return fmt.Errorf("column %q has %d rows, the table %d: slice the other columns: %w", name, rows, r.Count, ErrRows)
		}
	}
	return nil
}

// managerOf returns the manager of a table, and refuses parts on several devices.
func managerOf(schema *arrow.Schema, columns []*column.Column, rows Rows, count *column.RowCount) (*memory.Manager, error) {
	var m *memory.Manager
	for i, c := range columns {
		own := c.Manager()
		if own == nil {
			continue
		}
		if m == nil {
			m = own
		}
		if !m.Device().Same(own.Device()) {
			return nil, fmt.Errorf("column %q is on %v, others are on %v: copy it to one device first: %w",
				schema.Field(i).Name, own.Device(), m.Device(), device.ErrInvalidValue)
		}
	}
	if count != nil {
		own := count.Manager()
		if m != nil && !m.Device().Same(own.Device()) {
			return nil, fmt.Errorf("the row count is on %v, the columns are on %v: %w", own.Device(), m.Device(), device.ErrInvalidValue)
		}
		if m == nil {
			m = own
		}
	}
	if m == nil {
		m = rows.Manager
	}
	return m, nil
}

func releasing(count *column.RowCount, err error) error {
	if failure := count.Release(); failure != nil {
		return fmt.Errorf("%w, and %w", err, failure)
	}
	return err
}
