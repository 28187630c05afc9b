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
	// array is released is done before the memory is used anew, also if the consumer
	// has destroyed the stream by then: it is not touched after the call. Nil means the
	// device's default stream, and none on the host device. How the consumer waits for the data is another matter: that is what
	// the array's sync_event is for.
	Stream *device.Stream

	// Device is where a table without any memory, one of no columns for example,
	// is said to be. Nil means the device of the table's manager, or the CPU if it has
	// none. A table that has memory must be there.
	Device *device.Device

	// Context ends the waits: for a row count that only the device knows, and on
	// the host device, whose arrays have no sync_event, for the work on the memory.
	// Nil means no end but the work's.
	Context context.Context
}

func (o ExportOptions) context() context.Context {
	if o.Context == nil {
		return context.Background()
	}
	return o.Context
}

// Export hands a table to another library, without copying it, as an
// ArrowDeviceArray of struct type with one child a column, and the ArrowSchema to
// go with it. The array keeps the memory alive; the table may be released before
// or after. The caller moves the structs to a consumer, by [Array.MoveTo] or as
// consumers do it themselves, and releases the [Array]. At most one set of options
// may be given.
//
// On a GPU the call does not wait for the work on the table. The array's
// sync_event is an event behind that work, or NULL where it is done already. On
// the host device the call waits until the data is there.
//
// If only the device knows the number of rows, of the table or of a child of a column,
// the call fetches it first, which waits. The array has as many rows as there are, and
// never the capacity.
//
// The error is an [*Error]. It wraps [ErrDevice] where the columns are in memory
// of several kinds, and memory.ErrReleased for a released table.
func Export(table *buffer.Buffer, options ...ExportOptions) (*Array, error) {
	a, err := newArray(options, func(a *Array, o ExportOptions) error {
		if err := exportTable(table, nil, a.array, o); err != nil {
			return err
		}
		return ExportSchema(table.Schema(), unsafe.Pointer(a.schema))
	})
	return a, during("export", err)
}

// ExportColumn is [Export] for one column: the array has the column's type. The
// field gives the schema its name, its metadata and whether there may be nulls;
// its type may be nil, and else must be the column's. The array has as many rows as the
// column: if only the device knows how many, the call fetches the number.
func ExportColumn(c *column.Column, field arrow.Field, options ...ExportOptions) (*Array, error) {
	a, err := newArray(options, func(a *Array, o ExportOptions) error {
		if err := c.Check(); err != nil {
			return faulty("column", "%w", err)
		}
		if field.Type == nil {
			field.Type = c.Type()
		}
		if !arrow.TypeEqual(field.Type, c.Type()) {
			return faulty("field", "the column is %v, the field %v: %w", c.Type(), field.Type, device.ErrInvalidValue)
		}
		e := exporter{options: o, owner: &export{column: c}, home: c.Manager()}
		if err := e.export(a.array); err != nil {
			return err
		}
		return ExportField(field, unsafe.Pointer(a.schema))
	})
	return a, during("export column", err)
}

// exportTable fills a struct that a consumer provides with an array of the table.
// A table without memory is at home, or if that is nil on the device of its own
// manager. On an error the struct stays as it was.
func exportTable(table *buffer.Buffer, home *memory.Manager, out *cabi.DeviceArray, o ExportOptions) error {
	if !cabi.Available {
		return notInThisBuild()
	}
	if err := table.Check(); err != nil {
		return faulty("table", "%w", err)
	}
	rows, err := table.NumRows(o.context())
	if err != nil {
		return faulty("table", "the number of rows: %w", err)
	}
	if rows > math.MaxInt {
		return faulty("table", "%d rows: %w", rows, ErrUnsupported)
	}
	if home == nil {
		home = table.Manager()
	}
	e := exporter{options: o, owner: &export{table: table}, rows: int(rows), home: home}
	return e.export(out)
}

// only returns the options, or their zero value where none were given.
func only[Options any](given []Options) (o Options, err error) {
	switch len(given) {
	case 0:
		return o, nil
	case 1:
		return given[0], nil
	}
	return o, faulty("options", "%d sets of options were given, at most one is used: %w", len(given), device.ErrInvalidValue)
}
