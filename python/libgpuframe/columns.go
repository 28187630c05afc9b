//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #include <stdint.h>
import "C"

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/internal/arrays/bitmap"
	"github.com/gpuframe/gpuframe/memory"
)

// series is a column with its name. References are counted by the column.
type series struct {
	*column.Column
	field arrow.Field
	// bits applies to a column of validity bytes: it is the bit of the first byte that
	// belongs to the first element.
	bits int
	// device and home are the column's device and region of values. device is nil without
	// memory, home without values. They are cached because every hand-over reads them.
	device *device.Device
	home   *memory.Block
}

func newSeries(c *column.Column, field arrow.Field) *series {
	field.Type = c.Type()
	return &series{Column: c, field: field, device: c.Device(), home: c.Block()}
}

// withColumn calls f with the column of a handle and keeps the column alive until f
// returns.
func withColumn(h C.uint64_t, f func(*series) error) *C.char {
	return guarded(func() error {
		s, err := retained[*series](handle(h))
		if err != nil {
			return err
		}
		defer s.Release()
		return f(s)
	})
}

// give returns the handle of a new column with the same name to C.
func (s *series) give(c *column.Column, err error, out *C.uint64_t) error {
	if err != nil {
		return err
	}
	*out = C.uint64_t(objects.add(newSeries(c, s.field)))
	return nil
}

type columnAnswer struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Length   int    `json:"length"`
	Nulls    int    `json:"nulls"`
	Nullable bool   `json:"nullable"`
	Device   string `json:"device"`
	// Pointer is the address of the values; zero if the type has no fixed width.
	Pointer  uint64 `json:"pointer"`
	Width    int    `json:"width"`
	ReadOnly bool   `json:"read_only"`
	Bitmap   bool   `json:"bitmap"`
	Bits     int    `json:"bits"`
	Bytes    uint64 `json:"bytes"`
}

// gpuframe_column_describe answers with a column's type, length and address.
//
//export gpuframe_column_describe
func gpuframe_column_describe(h C.uint64_t, answer **C.char) *C.char {
	return withColumn(h, func(s *series) error {
		a := columnAnswer{
			Name: s.field.Name, Type: s.Type().String(), Length: s.Len(), Nulls: s.NullCount(), Nullable: s.field.Nullable, Bits: s.bits,
		}
		if dev := s.Device(); dev != nil {
			a.Device = dev.Name()
		}
		if width, fixed := column.ElementBytes(s.Type()); fixed {
			a.Width, a.Pointer, a.Bytes = width, uint64(s.Pointer()), s.Bytes()
			if block := s.Block(); block != nil {
				a.ReadOnly = block.ReadOnly()
			}
		}
		_, _, err := s.Validity()
		a.Bitmap = err == nil
		*answer = encoded(a)
		return nil
	})
}

// gpuframe_column_null_count returns the count of nulls. If it is unknown, the column's
// device counts them and the call waits.
//
//export gpuframe_column_null_count
func gpuframe_column_null_count(h C.uint64_t, count *C.int64_t) *C.char {
	return withColumn(h, func(s *series) error {
		nulls, err := nullsOf(context.Background(), s.Column)
		*count = C.int64_t(nulls)
		return err
	})
}

func nullsOf(ctx context.Context, c *column.Column) (int, error) {
	if known := c.NullCount(); known != column.UnknownNullCount {
		return known, nil
	}
	bits, first, err := c.Validity()
	if err != nil {
		return 0, nil // a column without bitmap has no nulls
	}
	valid, err := bitmap.Count(ctx, bits, first, c.Len(), "null count")
	return c.Len() - valid, err
}

// gpuframe_column_slice makes a column from some elements of another. Both share memory.
//
//export gpuframe_column_slice
func gpuframe_column_slice(h C.uint64_t, offset, length C.int64_t, out *C.uint64_t) *C.char {
	return withColumn(h, func(s *series) error {
		part, err := s.Slice(int(offset), int(length))
		return s.give(part, err, out)
	})
}

// gpuframe_column_values returns the column without its nulls. Both share memory.
//
//export gpuframe_column_values
func gpuframe_column_values(h C.uint64_t, out *C.uint64_t) *C.char {
	return withColumn(h, func(s *series) error {
		values, err := s.Values()
		return s.give(values, err, out)
	})
}

// gpuframe_column_validity returns the validity bitmap as a column of bytes, which shares
// its memory, and the bit of the first byte that belongs to the first element.
//
//export gpuframe_column_validity
func gpuframe_column_validity(h C.uint64_t, out *C.uint64_t) *C.char {
	return withColumn(h, func(s *series) error {
		bits, first, err := s.Validity()
		if err != nil {
			return fmt.Errorf("%w: %w", dlpack.ErrNoValidity, err)
		}
		c, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Uint8, Length: bits.Len(), Buffers: []column.Bytes{{}, bits}})
		if err != nil {
			return err
		}
		validity := newSeries(c, arrow.Field{Name: s.field.Name})
		validity.bits = first
		*out = C.uint64_t(objects.add(validity))
		return nil
	})
}

// gpuframe_column_is_valid returns the validity bitmap as a column of booleans, which
// shares its memory.
//
//export gpuframe_column_is_valid
func gpuframe_column_is_valid(h C.uint64_t, out *C.uint64_t) *C.char {
	return withColumn(h, func(s *series) error {
		bits, first, err := s.Validity()
		if err != nil {
			return fmt.Errorf("%w: %w", dlpack.ErrNoValidity, err)
		}
		c, err := column.New(column.Data{Type: arrow.FixedWidthTypes.Boolean, Length: s.Len(), Offset: first, Buffers: []column.Bytes{{}, bits}})
		return s.give(c, err, out)
	})
}

// gpuframe_column_copy copies a column into memory of a manager: on another device, or of
// another budget.
//
//export gpuframe_column_copy
func gpuframe_column_copy(h, into C.uint64_t, out *C.uint64_t) *C.char {
	return withColumn(h, func(s *series) error {
		m, err := the[*memory.Manager](handle(into))
		if err != nil {
			return err
		}
		c, err := copyColumn(s.Column, m)
		return s.give(c, err, out)
	})
}
