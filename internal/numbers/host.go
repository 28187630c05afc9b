package numbers

import (
	"errors"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow/float16"
)

// HostColumn is a [Column] in memory that the processor can read.
type HostColumn struct {
	Type   Type
	Values []byte
	// Rows is the number of rows.
	Rows  int
	valid []byte
	bit   int
}

// Host returns the column as the processor reads it. It fails for memory of a GPU. The
// work that is enqueued on the memory must have run.
func (c Column) Host() (HostColumn, error) {
	values, valuesErr := c.Values.Host()
	valid, validErr := c.Valid.Host()
	count, countErr := c.Count.Host()
	rows := c.Rows
	if len(count) > 0 {
		rows = int(min(max(count[0], 0), int64(rows)))
	}
	return HostColumn{c.Type, values, rows, valid, c.Bit}, errors.Join(valuesErr, validErr, countErr)
}

// IsValid reports whether a row is not null.
func (c HostColumn) IsValid(row int) bool {
	bit := c.bit + row
	return len(c.valid) == 0 || c.valid[bit/8]>>(bit%8)&1 != 0
}

// at returns the value of a row.
func at[T any](values []byte, row int) T {
	return *(*T)(unsafe.Pointer(&values[row*int(unsafe.Sizeof(*new(T)))]))
}

// Integer returns the value of a row as 64 bits: signed integers are sign-extended.
// The type must not be a float.
func (c HostColumn) Integer(row int) uint64 {
	switch c.Type {
	case Type{Signed, 1}:
		return uint64(at[int8](c.Values, row))
	case Type{Signed, 2}:
		return uint64(at[int16](c.Values, row))
	case Type{Signed, 4}:
		return uint64(at[int32](c.Values, row))
	case Type{Unsigned, 1}:
		return uint64(at[uint8](c.Values, row))
	case Type{Unsigned, 2}:
		return uint64(at[uint16](c.Values, row))
	case Type{Unsigned, 4}:
		return uint64(at[uint32](c.Values, row))
	}
	return at[uint64](c.Values, row)
}

// Float returns the value of a row as a float. Integers of more than 53 bits are
// rounded.
func (c HostColumn) Float(row int) float64 {
	switch c.Type {
	case Type{Float, 2}:
		return float64(float16.FromBits(at[uint16](c.Values, row)).Float32())
	case Type{Float, 4}:
		return float64(at[float32](c.Values, row))
	case Type{Float, 8}:
		return at[float64](c.Values, row)
	}
	if c.Type.Class == Unsigned {
		return float64(c.Integer(row))
	}
	return float64(int64(c.Integer(row)))
}
