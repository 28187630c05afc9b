package buffer

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/memory"
)

// These are the conditions to test for with errors.Is, along with those of the
// packages below.
var (
	// ErrSchema reports that a schema and its columns do not match, or that a
	// requested column is not in the schema.
	ErrSchema = errors.New("schema mismatch")
	// ErrRows reports a row count that is negative, exceeds the capacity, or is
	// unknown although the operation needs it. It is column.ErrRows.
	ErrRows = column.ErrRows
	// ErrRowsOnDevice wraps ErrRows: the operation needs the row count on the host,
	// and only the device has it. NumRows fetches it. It is column.ErrRowsOnDevice.
	ErrRowsOnDevice = column.ErrRowsOnDevice
)

// Buffer is a table in device memory.
type Buffer struct {
	references atomic.Int64
	schema     *arrow.Schema
	columns    []*column.Column
	capacity   int64
	// rows is the row count that the columns share, or nil if the row count is the
	// capacity.
	rows    *column.RowCount
	manager *memory.Manager
}

// Rows describes the row count of a table.
type Rows struct {
	// Count is the number of rows. With Device or Shared it is unused, except for a
	// table without columns: then it is the capacity.
	Count int64
	// Device holds the row count as one int64 in device memory, for a count that the
	// host does not know. The table's capacity is then the length of its columns.
	Device memory.Slice[int64]
	// Shared is the row count of another table or of columns. The table shares it, so
	// the count is fetched once for all of them. Use it instead of Device.
	Shared *column.RowCount
	// Manager is the manager of a table without memory. It is needed only if no
	// column knows its manager.
	Manager *memory.Manager
}

// New makes a table of columns. Every field needs a column of its type. All columns
// must have the same length: the row count or, with a count on the device, the
// capacity. The field of a column with nulls becomes nullable.
//
// # Ownership
//
// The table retains the columns and the count. The caller keeps its own references
// and releases the table.
//
// # Rows
//
// With a count on the device the table's columns carry that count: they share the
// memory of the given columns, which do not change. If all columns carry one count
// already, because they come from a filtered table, a table whose Rows has only a
// Count takes that count. Columns with different counts are refused with an error
// that wraps [ErrRows]: fetch the counts with NumRows and slice.
//
// # Devices
//
// All columns and the count must be on one device. Otherwise the error wraps
// device.ErrInvalidValue: copy the columns first.
func New(schema *arrow.Schema, columns []*column.Column, rows Rows) (*Buffer, error) {
	b, err := assemble(schema, columns, rows)
	if err != nil {
		return nil, fmt.Errorf("buffer: new: %w", err)
	}
	return b, nil
}

func assemble(schema *arrow.Schema, columns []*column.Column, rows Rows) (*Buffer, error) {
	if err := checkColumns(schema, columns); err != nil {
		return nil, err
	}
	b := &Buffer{schema: withNulls(schema, columns), columns: make([]*column.Column, 0, len(columns)), capacity: rows.Count}
	b.references.Store(1)
	if len(columns) > 0 {
		b.capacity = int64(columns[0].Len())
	}
	var err error
	if b.rows, err = rows.rowCount(schema, columns, b.capacity); err != nil {
		return nil, err
	}
	if b.manager, err = managerOf(schema, columns, rows, b.rows); err == nil {
		err = b.take(columns)
	}
	if err != nil {
		return nil, errors.Join(err, b.Release())
	}
	return b, nil
}

// take retains the columns, or makes columns that carry the table's count and
// manager.
func (b *Buffer) take(columns []*column.Column) error {
	for i, c := range columns {
		taken, err := b.taken(c)
		if err != nil {
			return fmt.Errorf("column %q: %w", b.schema.Field(i).Name, err)
		}
		b.columns = append(b.columns, taken)
	}
	return nil
}

func (b *Buffer) taken(c *column.Column) (*column.Column, error) {
	if c.Manager() == nil && b.manager != nil {
		data := c.Data()
		data.Manager, data.Rows = b.manager, b.rows
		return column.New(data)
	}
	if b.rows != nil {
		return c.WithRows(b.rows)
	}
	return c, c.Retain()
}

func checkColumns(schema *arrow.Schema, columns []*column.Column) error {
	if schema == nil {
		return fmt.Errorf("the schema is nil: %w", ErrSchema)
	}
	if schema.NumFields() != len(columns) {
		return fmt.Errorf("%d fields, but %d columns: %w", schema.NumFields(), len(columns), ErrSchema)
	}
	for i, c := range columns {
		field := schema.Field(i)
		if err := c.Check(); err != nil {
			return fmt.Errorf("column %q: %w", field.Name, err)
		}
		if !sameType(field.Type, c.Type()) {
			return fmt.Errorf("column %q is of type %v, expected its field's type %v: %w", field.Name, c.Type(), field.Type, ErrSchema)
		}
		if want := columns[0].Len(); c.Len() != want {
			return fmt.Errorf("column %q has %d elements, expected the first column's %d: %w", field.Name, c.Len(), want, ErrRows)
		}
	}
	return nil
}

// withNulls returns the schema with the fields of columns with nulls nullable: writers set Nullable
// to false without a check, and readers of the schema rely on it.
func withNulls(schema *arrow.Schema, columns []*column.Column) *arrow.Schema {
	var fields []arrow.Field
	for i, c := range columns {
		if c.NullCount() > 0 && !schema.Field(i).Nullable {
			if fields == nil {
				fields = slices.Clone(schema.Fields())
			}
			fields[i].Nullable = true
		}
	}
	if fields == nil {
		return schema
	}
	metadata := schema.Metadata()
	return arrow.NewSchemaWithEndian(fields, &metadata, schema.Endianness())
}

// sameType is arrow.TypeEqual with a shortcut. arrow.TypeEqual compares most types by
// reflection; sameType returns early if both types are the same value, or of a Go
// type that represents one Arrow type.
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

// Column returns column i, borrowed from the table, or nil if i is out of range.
func (b *Buffer) Column(i int) *column.Column {
	if i < 0 || i >= len(b.columns) {
		return nil
	}
	return b.columns[i]
}

// ColumnByName returns the first column with the name, borrowed from the table. If no
// column has the name, the error wraps [ErrSchema] and lists the table's names, the
// closest first.
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
		return 0, fmt.Errorf("buffer: %s: %w", names.Unknown("column", name, b.names()), ErrSchema)
	}
	return indices[0], nil
}

func (b *Buffer) names() []string {
	names := make([]string, b.schema.NumFields())
	for i := range names {
		names[i] = b.schema.Field(i).Name
	}
	return names
}

// Capacity returns the number of rows that the table's memory holds. It equals the
// number of rows unless the row count is on the device.
func (b *Buffer) Capacity() int64 { return b.capacity }

// HostRows returns the number of rows if the host knows it already.
func (b *Buffer) HostRows() (rows int64, known bool) {
	if b.rows == nil {
		return b.capacity, true
	}
	return b.rows.Host()
}

// RowCount returns the row count that the table shares with its columns, borrowed
// from the table. It returns nil if the host has set the count: the table then has
// Capacity rows.
func (b *Buffer) RowCount() *column.RowCount { return b.rows }

// Rows returns the Rows that give another table the same row count and manager:
// buffer.New(schema, columns, table.Rows()).
func (b *Buffer) Rows() Rows {
	return Rows{Count: b.capacity, Shared: b.rows, Manager: b.manager}
}

// DeviceRows returns the row count in device memory, borrowed from the table. It is
// empty if the host has set the count.
func (b *Buffer) DeviceRows() memory.Slice[int64] {
	if b.rows == nil {
		return memory.Slice[int64]{}
	}
	return b.rows.Device()
}

// Extent returns the number of rows as an operator takes it: see
// [column.Column.Extent].
func (b *Buffer) Extent(ctx context.Context) (rows int64, device memory.Slice[int64], err error) {
	if rows, known := b.HostRows(); known {
		return rows, device, b.Check()
	}
	if device = b.rows.Device(); device.Block() != nil {
		return b.capacity, device, b.Check()
	}
	rows, err = b.NumRows(ctx)
	return rows, device, err
}

// NumRows returns the number of rows. A count that is negative or exceeds the
// capacity is an error that wraps [ErrRows].
//
// # Waiting
//
// If only the device has the count, the first call waits for the work on it and
// fetches it, for all tables and columns that share it.
func (b *Buffer) NumRows(ctx context.Context) (int64, error) {
	if err := b.Check(); err != nil {
		return 0, err
	}
	if rows, known := b.HostRows(); known {
		return rows, nil
	}
	rows, err := b.rows.Fetch(ctx)
	if err != nil {
		return 0, fmt.Errorf("buffer: number of rows: %w", err)
	}
	return rows, nil
}

// Bytes returns the total length of the blocks that the table's columns lie in, each
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

// Manager returns the manager of the table's memory. Tables without memory know their
// manager too, unless [New] made them without [Rows.Manager]; Manager then returns
// nil.
func (b *Buffer) Manager() *memory.Manager { return b.manager }

// Device returns the device of [Buffer.Manager], or nil if the manager is nil.
func (b *Buffer) Device() *device.Device {
	if b.manager == nil {
		return nil
	}
	return b.manager.Device()
}

// Check returns an error that wraps memory.ErrReleased for a table that is nil or was
// released.
func (b *Buffer) Check() error {
	if b == nil || b.references.Load() <= 0 {
		return fmt.Errorf("buffer: %s: %w", b.headline(), memory.ErrReleased)
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
	return fmt.Errorf("buffer: retain %s: %w", b.headline(), memory.ErrReleased)
}

// Release drops a reference. The last one releases the columns. A release of a nil
// table does nothing. One release too many is an error that wraps memory.ErrReleased.
func (b *Buffer) Release() error {
	if b == nil {
		return nil
	}
	for {
		count := b.references.Load()
		if count <= 0 {
			return fmt.Errorf("buffer: release %s: %w", b.headline(), memory.ErrReleased)
		}
		if !b.references.CompareAndSwap(count, count-1) {
			continue
		}
		if count > 1 {
			return nil
		}
		var failures []error
		if err := b.rows.Release(); err != nil {
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
