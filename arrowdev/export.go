package arrowdev

import (
	"context"
	"math"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// ExportOptions configure an export. The zero value is right for most programs.
type ExportOptions struct {
	// Stream is the stream that the consumer works on. Work that is on it when the
	// array is released completes before the memory is reused. The stream is not used
	// after the call, so the consumer may destroy it before the release. Nil means
	// the device's default stream, or no stream on the host device. Stream does not
	// make the consumer wait for the data: that is the purpose of the array's
	// sync_event.
	Stream *device.Stream

	// Device is the location of a table without memory, for example one without columns.
	// Nil means the device of the table's manager, or the CPU if the table has no
	// manager. A table that has memory must be on this device.
	Device *device.Device

	// Context ends the waits of the export: for a row count on the device, and on the
	// host device, which has no events, for the work on the memory. Nil means no
	// deadline.
	Context context.Context
}

func (o ExportOptions) context() context.Context {
	if o.Context == nil {
		return context.Background()
	}
	return o.Context
}

// Export hands a table to another library, without a copy, as an ArrowDeviceArray of
// struct type with one child for each column, and its ArrowSchema. At most one set of
// options may be given.
//
// # Ownership
//
// The array keeps the memory alive; the table may be released before or after. The
// caller moves the structs to a consumer, with [Array.MoveTo] or by the consumer's
// own move, and releases the [Array].
//
// # Waiting
//
// On a GPU the call does not wait for the work on the table: the array's sync_event
// is an event after that work, or NULL if the work is done. On the host device the
// call waits until the data is ready. If the row count of the table or of a nested
// column is only on the device, the call waits to fetch it. The array has the actual
// number of rows, never the capacity.
//
// # Errors
//
// The error is an [*Error]. It wraps [ErrDevice] if the columns are in memory of
// several kinds, and memory.ErrReleased for a released table.
func Export(table *buffer.Buffer, options ...ExportOptions) (*Array, error) {
	a, err := newArray(options, func(a *Array, o ExportOptions) error {
		if err := exportTable(table, nil, a.array, o); err != nil {
			return err
		}
		return ExportSchema(table.Schema(), unsafe.Pointer(a.schema))
	})
	return a, during("export", err)
}

// ExportColumn is [Export] for one column: the array has the column's type. The field
// supplies the name, the metadata and the nullability of the schema. Its type must be
// nil or the column's type. If the row count is only on the device, the call waits to
// fetch it.
func ExportColumn(c *column.Column, field arrow.Field, options ...ExportOptions) (*Array, error) {
	a, err := newArray(options, func(a *Array, o ExportOptions) error {
		if err := c.Check(); err != nil {
			return faulty("column", "%w", err)
		}
		if field.Type == nil {
			field.Type = c.Type()
		}
		if !arrow.TypeEqual(field.Type, c.Type()) {
			return faulty("field", "the field's type is %[2]v, expected nil or the column's %[1]v: %[3]w", c.Type(), field.Type, device.ErrInvalidValue)
		}
		e := exporter{options: o, owner: &export{column: c}, home: c.Manager()}
		if err := e.export(a.array); err != nil {
			return err
		}
		return ExportField(field, unsafe.Pointer(a.schema))
	})
	return a, during("export column", err)
}

// exportTable fills a struct of the consumer with an array of the table. A table
// without memory is placed on the device of home, or, if home is nil, of the table's
// manager. On an error the struct is unchanged.
func exportTable(table *buffer.Buffer, home *memory.Manager, out *cabi.DeviceArray, o ExportOptions) error {
	if !cabi.Available {
		return notInThisBuild()
	}
	if err := table.Check(); err != nil {
		return faulty("table", "%w", err)
	}
	rows, err := table.NumRows(o.context())
	if err != nil {
		return faulty("table", "fetch the number of rows: %w", err)
	}
	if rows > math.MaxInt {
		return faulty("table", "%d rows exceed the address space: %w", rows, ErrUnsupported)
	}
	if home == nil {
		home = table.Manager()
	}
	e := exporter{options: o, owner: &export{table: table}, rows: int(rows), home: home}
	return e.export(out)
}

// only returns the options, or the zero value if none were given.
func only[Options any](given []Options) (o Options, err error) {
	switch len(given) {
	case 0:
		return o, nil
	case 1:
		return given[0], nil
	}
	return o, faulty("options", "%d sets of options, expected at most one: %w", len(given), device.ErrInvalidValue)
}
