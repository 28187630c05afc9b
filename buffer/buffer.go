package buffer

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// The conditions to test for with errors.Is, besides those of the packages
// below.
var (
	// ErrSchema: a schema and its columns do not fit together, or a column that
	// is asked for is not in it.
	ErrSchema = errors.New("schema mismatch")
	// ErrRows: a number of rows is negative, exceeds the capacity, or is not
	// known where it has to be.
	ErrRows = errors.New("bad row count")
)

// Buffer is a table in device memory.
type Buffer struct {
	references atomic.Int64
	schema     *arrow.Schema
	columns    []*column.Column
	capacity   int64
	// hostRows is the row count, or unknownRows as long as only deviceRows has
	// it.
	hostRows   atomic.Int64
	deviceRows memory.Slice[int64]
}

const unknownRows = -1

// Rows says how many rows a table has.
type Rows struct {
	// Count is the number of rows, where Device is empty.
	Count int64
	// Device holds the number of rows as one int64 in device memory, for a
	// count that the host does not know. The table's capacity is then the
	// length of its columns, or Count for a table without columns.
	Device memory.Slice[int64]
}

// New makes a table of columns. There must be a column of the right type for
// every field, all of them equally long: as long as there are rows or, with a
// count on the device, as there may be at most. The table retains the columns
// and the count; the caller keeps its own references and releases the table.
func New(schema *arrow.Schema, columns []*column.Column, rows Rows) (*Buffer, error) {
	if err := checkColumns(schema, columns, rows); err != nil {
		return nil, fmt.Errorf("buffer: new: %w", err)
	}
	capacity := rows.Count
	if len(columns) > 0 {
		capacity = int64(columns[0].Len())
	}
	b := &Buffer{schema: schema, columns: append([]*column.Column(nil), columns...), capacity: capacity, deviceRows: rows.Device}
	b.references.Store(1)
	b.hostRows.Store(capacity)
	if rows.Device.Block() != nil {
		b.hostRows.Store(unknownRows)
	}
	if err := rows.Device.Retain(); err != nil {
		return nil, fmt.Errorf("buffer: new: row count: %w", err)
	}
	for i, c := range columns {
		if err := c.Retain(); err != nil {
			b.columns = b.columns[:i]
			return nil, errors.Join(fmt.Errorf("buffer: new: column %q: %w", schema.Field(i).Name, err), b.Release())
		}
	}
	return b, nil
}

func checkColumns(schema *arrow.Schema, columns []*column.Column, rows Rows) error {
	if schema == nil {
		return fmt.Errorf("the schema is nil: %w", ErrSchema)
	}
	if schema.NumFields() != len(columns) {
		return fmt.Errorf("%d fields but %d columns: %w", schema.NumFields(), len(columns), ErrSchema)
	}
	onDevice := rows.Device.Block() != nil
	if onDevice && rows.Device.Len() != 1 {
		return fmt.Errorf("the row count on the device has %d elements instead of one: %w", rows.Device.Len(), ErrRows)
	}
	if rows.Count < 0 {
		return fmt.Errorf("%d rows: %w", rows.Count, ErrRows)
	}
	for i, c := range columns {
		field := schema.Field(i)
		if err := c.Check(); err != nil {
			return fmt.Errorf("column %q: %w", field.Name, err)
		}
		if !sameType(field.Type, c.Type()) {
			return fmt.Errorf("column %q is %v, its field %v: %w", field.Name, c.Type(), field.Type, ErrSchema)
		}
		if want := columns[0].Len(); c.Len() != want {
			return fmt.Errorf("column %q has %d elements, the first one %d: %w", field.Name, c.Len(), want, ErrRows)
		}
		if !onDevice && int64(c.Len()) != rows.Count {
			return fmt.Errorf("column %q has %d elements for %d rows: %w", field.Name, c.Len(), rows.Count, ErrRows)
		}
	}
	return nil
}

// sameType is arrow.TypeEqual, which walks the most types by reflection, with an
// early end where both are one and the same or Go has but one of the kind.
func sameType(a, b arrow.DataType) bool {
	t := reflect.TypeOf(a)
	if t == nil || t != reflect.TypeOf(b) || t.Kind() != reflect.Pointer {
		return arrow.TypeEqual(a, b)
	}
	_, extension := a.(arrow.ExtensionType)
	return a == b || t.Elem().Size() == 0 && !extension || arrow.TypeEqual(a, b)
}

// Schema returns the Arrow schema, with its metadata.
func (b *Buffer) Schema() *arrow.Schema { return b.schema }

// NumColumns returns the number of columns.
func (b *Buffer) NumColumns() int { return len(b.columns) }

// Column returns column i, borrowed from the table, or nil if there is none.
func (b *Buffer) Column(i int) *column.Column {
	if i < 0 || i >= len(b.columns) {
		return nil
	}
	return b.columns[i]
}

// ColumnByName returns the first column of that name, borrowed from the table.
func (b *Buffer) ColumnByName(name string) (*column.Column, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	i, err := b.index(name)
	if err != nil {
		return nil, err
	}
	return b.columns[i], nil
}

func (b *Buffer) index(name string) (int, error) {
	indices := b.schema.FieldIndices(name)
	if len(indices) == 0 {
		return 0, fmt.Errorf("buffer: no column is called %q: %w", name, ErrSchema)
	}
	return indices[0], nil
}

// Capacity returns how many rows the table's memory holds. It is the number of
// rows unless that is on the device.
func (b *Buffer) Capacity() int64 { return b.capacity }

// HostRows returns the number of rows if the host knows it already.
func (b *Buffer) HostRows() (rows int64, known bool) {
	rows = b.hostRows.Load()
	return rows, rows != unknownRows
}

// DeviceRows returns the row count in device memory, borrowed from the table; it
// is empty where the count was given by the host.
func (b *Buffer) DeviceRows() memory.Slice[int64] { return b.deviceRows }

// NumRows returns the number of rows. Where only the device knows it, the first
// call waits for the work on the count and fetches it. A count that is negative
// or exceeds the capacity is an error that wraps [ErrRows].
func (b *Buffer) NumRows(ctx context.Context) (int64, error) {
	if err := b.Check(); err != nil {
		return 0, err
	}
	if rows, known := b.HostRows(); known {
		return rows, nil
	}
	var count [1]int64
	stream := b.deviceRows.Block().WorkStream()
	if err := b.deviceRows.Block().OrderBefore(stream); err != nil {
		return 0, fmt.Errorf("buffer: fetch the row count: %w", err)
	}
	if err := b.deviceRows.Download(ctx, stream, count[:]); err != nil {
		return 0, fmt.Errorf("buffer: fetch the row count: %w", err)
	}
	if count[0] < 0 || count[0] > b.capacity {
		return 0, fmt.Errorf("buffer: the device says %d rows, the capacity is %d: %w", count[0], b.capacity, ErrRows)
	}
	b.hostRows.Store(count[0])
	return count[0], nil
}

// Bytes returns the length of all blocks that the table's columns lie in, each
// counted once.
func (b *Buffer) Bytes() uint64 {
	seen := make(map[*memory.Block]bool)
	var total uint64
	for _, c := range b.columns {
		for block := range c.Blocks {
			if !seen[block] {
				seen[block] = true
				total += block.Bytes()
			}
		}
	}
	return total
}

// Device returns the device that holds the table, or nil for one without any
// memory.
func (b *Buffer) Device() *device.Device {
	for _, c := range b.columns {
		if dev := c.Device(); dev != nil {
			return dev
		}
	}
	return nil
}

// String formats the table for messages.
func (b *Buffer) String() string {
	if b == nil {
		return "nil buffer"
	}
	rows := fmt.Sprintf("at most %d", b.capacity)
	if count, known := b.HostRows(); known {
		rows = fmt.Sprint(count)
	}
	return fmt.Sprintf("buffer of %s rows × %d columns", rows, len(b.columns))
}

// Check returns an error that wraps memory.ErrReleased for a table that is nil or
// was released.
func (b *Buffer) Check() error {
	if b == nil || b.references.Load() <= 0 {
		return fmt.Errorf("buffer: %v: %w", b, memory.ErrReleased)
	}
	return nil
}

// Retain adds a reference.
func (b *Buffer) Retain() error {
	for b != nil {
		count := b.references.Load()
		if count <= 0 {
			break
		}
		if b.references.CompareAndSwap(count, count+1) {
			return nil
		}
	}
	return fmt.Errorf("buffer: retain %v: %w", b, memory.ErrReleased)
}

// Release gives a reference back; the last one releases the columns. Releasing a
// nil table does nothing, releasing once too often is an error that wraps
// memory.ErrReleased.
func (b *Buffer) Release() error {
	if b == nil {
		return nil
	}
	for {
		count := b.references.Load()
		if count <= 0 {
			return fmt.Errorf("buffer: release %v: %w", b, memory.ErrReleased)
		}
		if !b.references.CompareAndSwap(count, count-1) {
			continue
		}
		if count > 1 {
			return nil
		}
		var failures []error
		if err := b.deviceRows.Release(); err != nil {
			failures = append(failures, err)
		}
		for _, c := range b.columns {
			if err := c.Release(); err != nil {
				failures = append(failures, err)
			}
		}
		return errors.Join(failures...)
	}
}
