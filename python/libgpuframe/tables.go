//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #include <stdint.h>
import "C"

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/share"
)

type tableAnswer struct {
	Rows    int64         `json:"rows"`
	Bytes   uint64        `json:"bytes"`
	Columns []fieldAnswer `json:"columns"`
	// Device is empty for a table without memory.
	Device string `json:"device"`
}

type fieldAnswer struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Nullable bool   `json:"nullable"`
}

func fieldOf(field arrow.Field) fieldAnswer {
	return fieldAnswer{Name: field.Name, Type: field.Type.String(), Nullable: field.Nullable}
}

// withTable calls f with the table of a handle and keeps the table alive until f returns.
// All columns of a table from a server are mapped.
func withTable(h C.uint64_t, f func(*buffer.Buffer) error) *C.char {
	return guarded(func() error {
		b, err := wholeTable(handle(h))
		if err != nil {
			return err
		}
		defer b.Release()
		return f(b)
	})
}

// wholeTable returns a table that the caller releases.
func wholeTable(h handle) (*buffer.Buffer, error) {
	if shared, ok := objects.get(h).(*share.Table); ok {
		return shared.Buffer(context.Background())
	}
	return retained[*buffer.Buffer](h)
}

// gpuframe_table_describe answers with a table's rows, columns and device. If only the
// device knows the row count, the call waits for it.
//
//export gpuframe_table_describe
func gpuframe_table_describe(h C.uint64_t, answer **C.char) *C.char {
	if shared, ok := objects.get(handle(h)).(*share.Table); ok {
		return guarded(func() error {
			*answer = encoded(describeShared(shared))
			return nil
		})
	}
	return withTable(h, func(b *buffer.Buffer) error {
		rows, err := b.NumRows(context.Background())
		if err != nil {
			return err
		}
		a := tableAnswer{Rows: rows, Bytes: b.Bytes(), Columns: []fieldAnswer{}}
		if dev := b.Device(); dev != nil {
			a.Device = dev.Name()
		}
		for _, field := range b.Schema().Fields() {
			a.Columns = append(a.Columns, fieldOf(field))
		}
		*answer = encoded(a)
		return nil
	})
}

// gpuframe_table_text answers with the size, the columns and some rows of a table, drawn
// for a terminal of a width in characters, or as HTML if the width is 0.
//
//export gpuframe_table_text
func gpuframe_table_text(h C.uint64_t, width C.int64_t, answer **C.char) *C.char {
	return withTable(h, func(b *buffer.Buffer) error {
		const rows = 10
		text, err := b.PreviewWith(context.Background(), buffer.PreviewOptions{Rows: rows, Tail: true, Width: int(width), HTML: width == 0})
		if err == nil {
			*answer = encoded(text)
		}
		return err
	})
}

// gpuframe_table_slice makes a table from some rows of another. Both share memory.
//
//export gpuframe_table_slice
func gpuframe_table_slice(h C.uint64_t, offset, length C.int64_t, slice *C.uint64_t) *C.char {
	return withTable(h, func(b *buffer.Buffer) error {
		part, err := b.Slice(int64(offset), int64(length))
		return give(part, err, slice)
	})
}

// give returns the handle of a new table to C.
func give(b *buffer.Buffer, err error, out *C.uint64_t) error {
	if err != nil {
		return err
	}
	*out = C.uint64_t(objects.add(b))
	return nil
}

// gpuframe_table_select makes a table from some columns of another. Both share memory.
// The names are a JSON list.
//
//export gpuframe_table_select
func gpuframe_table_select(h C.uint64_t, names *C.char, selected *C.uint64_t) *C.char {
	return withTable(h, func(b *buffer.Buffer) error {
		var wanted []string
		if err := decode(names, &wanted); err != nil {
			return err
		}
		narrowed, err := selectColumns(b, wanted)
		return give(narrowed, err, selected)
	})
}

func selectColumns(b *buffer.Buffer, names []string) (*buffer.Buffer, error) {
	for _, name := range names {
		if len(b.Schema().FieldIndices(name)) == 0 {
			return nil, noColumn(name, b.Schema())
		}
	}
	return b.Select(names...)
}

// gpuframe_table_column returns column i of a table.
//
//export gpuframe_table_column
func gpuframe_table_column(h C.uint64_t, i C.int64_t, out *C.uint64_t) *C.char {
	if shared, ok := objects.get(handle(h)).(*share.Table); ok {
		return guarded(func() error {
			c, err := shared.Column(context.Background(), int(i))
			if err != nil {
				return err
			}
			*out = C.uint64_t(objects.add(newSeries(c, shared.Schema().Field(int(i)))))
			return nil
		})
	}
	return withTable(h, func(b *buffer.Buffer) error {
		s, err := seriesOf(b, int(i))
		if err != nil {
			return err
		}
		*out = C.uint64_t(objects.add(s))
		return nil
	})
}

// seriesOf returns a column of a table, without the capacity beyond its rows.
func seriesOf(b *buffer.Buffer, i int) (*series, error) {
	c := b.Column(i)
	if c == nil {
		return nil, fmt.Errorf("column %d of %d: %w", i, b.NumColumns(), memory.ErrRange)
	}
	exact, err := c.WithHostRows(context.Background())
	if err != nil {
		return nil, err
	}
	return newSeries(exact, b.Schema().Field(i)), nil
}

// gpuframe_table_new makes a table from count columns and shares their memory. The names
// are a JSON list.
//
//export gpuframe_table_new
func gpuframe_table_new(names *C.char, columns *C.uint64_t, count C.int64_t, rows C.int64_t, out *C.uint64_t) *C.char {
	return guarded(func() error {
		var fields []arrow.Field
		var parts []*column.Column
		var called []string
		if err := decode(names, &called); err != nil {
			return err
		}
		if len(called) != int(count) {
			return fmt.Errorf("%d names for %d columns: %w", len(called), count, errArgument)
		}
		for i, h := range unsafe.Slice((*handle)(unsafe.Pointer(columns)), int(count)) {
			s, err := retained[*series](h)
			if err != nil {
				return fmt.Errorf("column %q: %w", called[i], err)
			}
			defer s.Release()
			parts = append(parts, s.Column)
			fields = append(fields, arrow.Field{Name: called[i], Type: s.Type(), Nullable: s.NullCount() != 0 || s.field.Nullable, Metadata: s.field.Metadata})
		}
		if err := oneDevice(called, parts); err != nil {
			return err
		}
		b, err := buffer.New(arrow.NewSchema(fields, nil), parts, buffer.Rows{Count: int64(rows)})
		return give(b, err, out)
	})
}

func oneDevice(names []string, parts []*column.Column) error {
	var first *device.Device
	for i, c := range parts {
		switch dev := c.Device(); {
		case dev == nil:
		case first == nil:
			first = dev
		case !first.Same(dev):
			return fmt.Errorf("column %q is on %v, another column on %v; pass device= to copy all columns there: %w", names[i], dev, first, errArgument)
		}
	}
	return nil
}

// gpuframe_table_copy copies a table into memory of a manager: on another device, or of
// another budget.
//
//export gpuframe_table_copy
func gpuframe_table_copy(h, into C.uint64_t, out *C.uint64_t) *C.char {
	return withTable(h, func(b *buffer.Buffer) error {
		m, err := the[*memory.Manager](handle(into))
		if err != nil {
			return err
		}
		moved, err := copyTable(b, m)
		return give(moved, err, out)
	})
}
