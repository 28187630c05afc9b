package op

import (
	"errors"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// View is a column of a fixed width or of booleans, in the form that kernels take.
type View struct {
	Column *column.Column
	// Values begins with the first row's value. Booleans begin with bit Bit of the
	// first byte.
	Values memory.Slice[uint8]
	// Valid is the bitmap, empty if no row is null. Bit is the first row's.
	Valid memory.Slice[uint8]
	Bit   int
	// Rows is the number of rows or, if Counted has memory, their maximum.
	Rows    int
	Counted memory.Slice[int64]
}

// View returns a column in the form that kernels take. The column must be of a fixed
// width or of booleans.
func (c *Call) View(operand *column.Column) (View, error) {
	v := View{Column: operand}
	var err error
	if v.Rows, v.Counted, err = operand.Extent(c.ctx); err != nil {
		return View{}, err
	}
	if Nullable(operand) {
		if v.Valid, v.Bit, err = operand.Validity(); err != nil {
			return View{}, err
		}
	}
	if layout.Storage(operand.Type()).ID() == arrow.BOOL {
		v.Bit = operand.Offset() % 8
		v.Values, err = operand.Buffer(1).Slice(operand.Offset()/8, (operand.Offset()+operand.Len()+7)/8)
	} else {
		v.Values, err = operand.ValuesRegion()
	}
	return v, err
}

// Nullable reports whether a column has a bitmap that has to be read.
func Nullable(c *column.Column) bool {
	return c.NullCount() != 0 && c.NumBuffers() > 0 && c.Buffer(0).Len() > 0
}

// HostView is a [View] on the host, for loops over its rows.
type HostView struct {
	Values, Valid []byte
	Bit, Rows     int
}

// Host returns the view's memory on the host, with the actual number of rows. Work on
// the memory must be done; Begin waits for it.
func (v View) Host() (HostView, error) {
	values, valuesErr := v.Values.Host()
	valid, validErr := v.Valid.Host()
	counted, rowsErr := v.Counted.Host()
	if err := errors.Join(valuesErr, validErr, rowsErr); err != nil {
		return HostView{}, err
	}
	n := v.Rows
	if len(counted) > 0 {
		n = int(min(max(counted[0], 0), int64(n)))
	}
	if len(valid) == 0 {
		valid = nil
	}
	return HostView{values, valid, v.Bit, n}, nil
}

// IsValid reports whether a row is not null.
func (v HostView) IsValid(row int) bool {
	at := v.Bit + row
	return v.Valid == nil || v.Valid[at/8]>>(at%8)&1 != 0
}

// IsTrue returns a row's boolean.
func (v HostView) IsTrue(row int) bool {
	at := v.Bit + row
	return v.Values[at/8]>>(at%8)&1 != 0
}

// Elements returns host bytes as values of type T.
func Elements[T any](bytes []byte) []T {
	if len(bytes) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&bytes[0])), len(bytes)/int(unsafe.Sizeof(*new(T))))
}
