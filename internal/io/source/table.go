package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"weak"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// tables is a source of tables that are on the device.
type tables struct {
	schema *arrow.Schema
	tables []*buffer.Buffer
	unique uniqueColumns
}

// Tables is a source of tables of one schema, at least one. Readers return the tables
// themselves or slices of them, without a copy. A field is nullable if its columns may have nulls,
// also if the schema of the tables declares it as not nullable.
//
// # Ownership
//
// The source holds no reference: the tables must not be released before the last
// reader is open. A reader retains them until it is closed.
//
// # Errors
//
// Opening a reader for a manager of another device gives an error that wraps
// device.ErrInvalidValue.
func Tables(list ...*buffer.Buffer) (Source, error) {
	if len(list) == 0 {
		return nil, &Error{Source: "tables", RowGroup: -1, Err: fmt.Errorf("no tables, expected at least one for the schema: %w", ErrArgument)}
	}
	for i, table := range list {
		if err := table.Check(); err != nil {
			return nil, &Error{Source: "tables", RowGroup: -1, Err: fmt.Errorf("table %d: %w", i, err)}
		}
		if err := otherSchema(table.Schema(), list[0].Schema()); err != nil {
			return nil, &Error{Source: "tables", RowGroup: -1, Err: fmt.Errorf("table %d has another schema than table 0: %w", i, err)}
		}
	}
	schema := nullableWhere(list[0].Schema(), func(place int) bool {
		return slices.ContainsFunc(list, func(table *buffer.Buffer) bool { return op.Nullable(table.Column(place)) })
	})
	return &tables{schema: schema, tables: list}, nil
}

// Watched is [Tables], with a function that reports whether something still refers to the source: the garbage
// collector has not found it unreachable.
func Watched(list ...*buffer.Buffer) (s Source, inUse func() bool, err error) {
	opened, err := Tables(list...)
	if err != nil {
		return nil, nil, err
	}
	reference := weak.Make(opened.(*tables))
	return opened, func() bool { return reference.Value() != nil }, nil
}

// devices returns the devices of tables, each once, in the order of the tables.
func devicesOf(list []*buffer.Buffer) (devices []*device.Device) {
	for _, table := range list {
		if dev := table.Device(); dev != nil && !slices.ContainsFunc(devices, dev.Same) {
			devices = append(devices, dev)
		}
	}
	return devices
}

// DevicesOf returns the devices that have the rows of a source of tables, or of a slot for one.
// ok is false for other sources: their rows come from the host.
func DevicesOf(s Source) (devices []*device.Device, ok bool) {
	switch s := s.(type) {
	case *tables:
		return devicesOf(s.tables), true
	case *Slot:
		return s.devices, true
	}
	return nil, false
}

func (s *tables) String() string {
	if len(s.tables) == 1 {
		return "table"
	}
	return fmt.Sprintf("%d tables", len(s.tables))
}

func (s *tables) Schema(context.Context) (*arrow.Schema, error) { return s.schema, nil }

// Rows does not wait for counts that only the device has: their capacity is the
// estimate.
func (s *tables) Rows(context.Context) (rows int64, exact bool) {
	exact = true
	for _, table := range s.tables {
		count, known := table.HostRows()
		if !known {
			count, exact = table.Capacity(), false
		}
		rows += count
	}
	return rows, exact
}

func (s *tables) Bounds(context.Context, string) (low, high any, ok bool) { return nil, nil, false }

func (s *tables) Open(_ context.Context, m *memory.Manager, request Request) (buffer.Reader, error) {
	selected, err := project(s.schema, request.Columns)
	if err != nil {
		return nil, wrap(s, err)
	}
	for i, table := range s.tables {
		if dev := table.Device(); dev != nil && m != nil && !dev.Same(m.Device()) {
			return nil, wrap(s, otherDevice(i, dev, m))
		}
	}
	r := &tableReader{source: s, request: request, schema: selected.schema, counters: request.Counters.or()}
	for i, table := range s.tables {
		if err := table.Retain(); err != nil {
			return nil, wrap(s, errors.Join(fmt.Errorf("table %d: %w", i, err), r.Close()))
		}
		r.left = append(r.left, table)
	}
	return r, nil
}

// otherDevice refuses a table that is not on a device of the query.
func otherDevice(table int, dev *device.Device, m *memory.Manager) error {
	return fmt.Errorf("table %d is on device %v, the query on %v, expected one device: %w", table, dev, m.Device(), device.ErrInvalidValue)
}

// tableReader returns tables, or parts of them.
type tableReader struct {
	source   *tables
	request  Request
	schema   *arrow.Schema
	counters *Counters

	mu     sync.Mutex
	closed bool
	left   []*buffer.Buffer
	// offset is the first row of left[0] that was not returned.
	offset int64
	// rows and bytes were returned.
	rows, bytes int64
}

func (r *tableReader) Schema() *arrow.Schema { return r.schema }

func (r *tableReader) Next(ctx context.Context) (*buffer.Buffer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	table, err := r.next(ctx)
	if err != nil {
		if err == io.EOF {
			return nil, io.EOF
		}
		return nil, wrap(r.source, err)
	}
	return table, nil
}

func (r *tableReader) next(ctx context.Context) (*buffer.Buffer, error) {
	if r.closed {
		return nil, fmt.Errorf("the reader is closed: %w", memory.ErrReleased)
	}
	if err := cancel.Error(ctx); err != nil {
		return nil, err
	}
	for len(r.left) > 0 {
		rows, err := r.left[0].NumRows(ctx)
		if err != nil {
			return nil, err
		}
		length := rows - r.offset
		if r.request.BatchRows > 0 {
			length = min(length, r.request.BatchRows)
		}
		if r.request.Limit > 0 {
			length = min(length, r.request.Limit-r.rows)
		}
		if length <= 0 {
			done := r.left[0]
			r.left, r.offset = r.left[1:], 0
			if err := done.Release(); err != nil {
				return nil, err
			}
			continue
		}
		return r.part(r.left[0], length)
	}
	return nil, io.EOF
}

// part returns the requested columns of the next rows of a table.
func (r *tableReader) part(table *buffer.Buffer, length int64) (*buffer.Buffer, error) {
	sliced, err := table, error(nil)
	if r.offset == 0 && length == table.Capacity() && table.RowCount() == nil {
		err = table.Retain()
	} else {
		sliced, err = table.Slice(r.offset, length)
	}
	if err != nil {
		return nil, err
	}
	result := sliced
	if r.request.Columns != nil && !slices.EqualFunc(r.request.Columns, table.Schema().Fields(), func(name string, f arrow.Field) bool { return name == f.Name }) {
		result, err = sliced.Select(r.request.Columns...)
		if err = errors.Join(err, sliced.Release()); err != nil {
			return nil, err
		}
	}
	if result, err = r.labelled(result); err != nil {
		return nil, err
	}
	r.offset += length
	r.rows += length
	r.counters.Rows.Add(length)
	if r.request.Progress != nil {
		r.request.Progress(r.rows, r.bytes)
	}
	return result, nil
}

// labelled returns a table with the schema of the reader: its fields may be nullable that the
// schema of the table declares as not nullable. It takes the reference of the table.
func (r *tableReader) labelled(table *buffer.Buffer) (*buffer.Buffer, error) {
	if table.Schema() == r.schema || table.Schema().Equal(r.schema) {
		return table, nil
	}
	columns := make([]*column.Column, table.NumColumns())
	for i := range columns {
		columns[i] = table.Column(i)
	}
	labelled, err := buffer.New(r.schema, columns, table.Rows())
	return labelled, errors.Join(err, table.Release())
}

func (r *tableReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	left := r.left
	r.left = nil
	return release.All(left)
}
