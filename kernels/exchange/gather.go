package exchange

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// Copy returns a table with the rows of another one, in memory of the manager. A table that is
// on the manager's device already is returned itself, with another reference. The caller keeps
// the table, and releases the result.
//
// # Waiting
//
// Copy waits for a row count that only the device has, and for rounds through pinned memory.
func Copy(ctx context.Context, table *buffer.Buffer, to *memory.Manager, options ...Options) (*buffer.Buffer, error) {
	o, err := only(options)
	if err != nil {
		return nil, fmt.Errorf("exchange: copy: %w", err)
	}
	copied, err := copyTable(ctx, table, to, o)
	if err != nil {
		return nil, fmt.Errorf("exchange: copy: %w", err)
	}
	return copied, nil
}

func copyTable(ctx context.Context, table *buffer.Buffer, to *memory.Manager, options Options) (*buffer.Buffer, error) {
	if err := table.Check(); err != nil {
		return nil, err
	}
	if to == nil {
		return nil, errNoManager
	}
	if table.Device() != nil && table.Device().Same(to.Device()) {
		return table, table.Retain()
	}
	return gather(ctx, []*buffer.Buffer{table}, to, options)
}

var errNoManager = fmt.Errorf("the manager of the destination is nil: %w", device.ErrInvalidValue)

// Gather returns one table with the rows of all tables, in order, in memory of the manager. The
// tables may be on any devices; their columns have the same types, in the same order. Names and
// metadata are those of the first table. The caller keeps the tables, and releases the result.
//
// If only one table has rows and it is on the manager's device, the result shares its memory.
//
// # Waiting
//
// Gather waits like [Copy], and if several tables have rows like selection.Concat.
//
// # Errors
//
// The error wraps buffer.ErrSchema if the columns differ.
func Gather(ctx context.Context, tables []*buffer.Buffer, to *memory.Manager, options ...Options) (*buffer.Buffer, error) {
	o, err := only(options)
	if err == nil && to == nil {
		err = errNoManager
	}
	if err != nil {
		return nil, fmt.Errorf("exchange: gather: %w", err)
	}
	gathered, err := gather(ctx, tables, to, o)
	if err != nil {
		return nil, fmt.Errorf("exchange: gather: %w", err)
	}
	return gathered, nil
}

// gather moves the rows of tables to one device.
func gather(ctx context.Context, tables []*buffer.Buffer, to *memory.Manager, options Options) (*buffer.Buffer, error) {
	if err := checkTables(tables); err != nil {
		return nil, err
	}
	return newMover(ctx, to, options).gather(tables, destination{0, 1})
}

// destination is the number of a destination, and how many there are.
type destination struct{ number, count int }

// first returns the number of the source that a destination moves first: one that is on its device,
// otherwise one that depends on its number. Each goes on with the next source, so that destinations do
// not all read from one device.
func (m *mover) first(sources []countedTable, at destination) int {
	for i, source := range sources {
		if source.table.Device() != nil && source.table.Device().Same(m.to.Device()) {
			return i
		}
	}
	if len(sources) < at.count {
		return at.number % len(sources)
	}
	return at.number * len(sources) / at.count
}

// gather moves the columns of tables in sequence. It closes the mover.
func (m *mover) gather(tables []*buffer.Buffer, at destination) (gathered *buffer.Buffer, err error) {
	columns := make([]*column.Column, 0, tables[0].NumColumns())
	defer func() {
		gathered, err = release.OnError(gathered, err, release.All(columns), m.close())
	}()
	sources, total, err := countRows(m.ctx, tables)
	if err != nil {
		return nil, err
	}
	first := m.first(sources, at)
	for i := range tables[0].NumColumns() {
		c, err := m.gatherColumn(sources, i, first)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", tables[0].Schema().Field(i).Name, err)
		}
		columns = append(columns, c)
	}
	return buffer.New(gatheredSchema(tables, columns), columns, buffer.Rows{Count: total, Manager: m.to})
}

func checkTables(tables []*buffer.Buffer) error {
	if len(tables) == 0 {
		return fmt.Errorf("no table is given, expected one or more: %w", device.ErrInvalidValue)
	}
	for i, table := range tables {
		if err := table.Check(); err != nil {
			return fmt.Errorf("table %d: %w", i, err)
		}
		if n := table.NumColumns(); n != tables[0].NumColumns() {
			return fmt.Errorf("table %d has %d columns, the first one %d: %w", i, n, tables[0].NumColumns(), buffer.ErrSchema)
		}
		for c := range table.NumColumns() {
			want, got := tables[0].Column(c).Type(), table.Column(c).Type()
			if !layout.EqualButOffsets(want, got) {
				return fmt.Errorf("column %q of table %d on %s has type %v, in the first table %v: cast it: %w",
					table.Schema().Field(c).Name, i, table.Device(), got, want, buffer.ErrSchema)
			}
		}
	}
	return nil
}

// countedTable is a table and the number of its rows.
type countedTable struct {
	table *buffer.Buffer
	rows  int64
}

// countRows returns the tables that have rows, or the first one if none has.
func countRows(ctx context.Context, tables []*buffer.Buffer) (sources []countedTable, total int64, err error) {
	for i, table := range tables {
		rows, err := table.NumRows(ctx)
		if err != nil {
			return nil, 0, fmt.Errorf("rows of table %d on %s: %w", i, table.Device(), err)
		}
		if total += rows; total < 0 {
			return nil, 0, fmt.Errorf("more rows than fit an int64: %w", memory.ErrOverflow)
		}
		if rows > 0 {
			sources = append(sources, countedTable{table, rows})
		}
	}
	if len(sources) == 0 {
		sources = append(sources, countedTable{tables[0], 0})
	}
	return sources, total, nil
}

// gatherColumn moves a column of all sources and concatenates the pieces. The caller releases the
// result.
func (m *mover) gatherColumn(sources []countedTable, number, first int) (gathered *column.Column, err error) {
	if len(sources) > 1 {
		if fixed, ok, err := m.gatherFixed(sources, number, first); ok || err != nil {
			return fixed, err
		}
	}
	moved := make([][]*column.Column, len(sources))
	defer func() {
		var failures []error
		for _, pieces := range moved {
			failures = append(failures, release.All(pieces))
		}
		gathered, err = release.OnError(gathered, errors.Join(err, errors.Join(failures...)))
	}()
	for i := range sources {
		at := (first + i) % len(sources)
		if moved[at], err = m.columnOf(sources[at], number); err != nil {
			return nil, err
		}
	}
	var all []*column.Column
	for i, pieces := range moved {
		all, moved[i] = append(all, pieces...), nil
	}
	moved[0] = all // which is released
	if err := m.shareDictionaries(all); err != nil {
		return nil, err
	}
	if len(all) == 1 {
		return all[0], all[0].Retain()
	}
	gathered, err = selection.ConcatColumns(m.ctx, all, kernels.Options{Stream: m.to.Stream(), Manager: m.to, Tag: m.options.Tag})
	if err != nil {
		return nil, fmt.Errorf("on %s: %w", m.to.Device(), err)
	}
	return gathered, nil
}

func (m *mover) columnOf(source countedTable, number int) ([]*column.Column, error) {
	c, err := source.table.Column(number).WithHostRows(m.ctx)
	if err != nil {
		return nil, err
	}
	if c.Len() > int(source.rows) { // the table's rows are fewer than its memory has room for
		cut, err := c.Slice(0, int(source.rows))
		if c, err = release.OnError(cut, err, c.Release()); err != nil {
			return nil, err
		}
	}
	pieces, err := m.columns(c)
	if err = errors.Join(err, c.Release()); err != nil {
		return nil, errors.Join(err, release.All(pieces))
	}
	return pieces, nil
}

// gatheredSchema returns the schema of the first table with the types of the results. A field
// is nullable if it is nullable in any of the tables.
func gatheredSchema(tables []*buffer.Buffer, columns []*column.Column) *arrow.Schema {
	schema := tables[0].Schema()
	fields := schema.Fields()
	for i := range fields {
		fields[i].Type = columns[i].Type()
		for _, table := range tables {
			fields[i].Nullable = fields[i].Nullable || table.Schema().Field(i).Nullable
		}
	}
	metadata := schema.Metadata()
	return arrow.NewSchemaWithEndian(fields, &metadata, schema.Endianness())
}
