package numbers

import (
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow/float16"

	"github.com/gpuframe/gpuframe/internal/op"
)

// HostView is a column of numbers in memory that the processor can read.
type HostView struct {
	op.HostView
	Type Type
}

// Host returns a view of a column of the given type as the processor reads it. It fails
// for memory of a GPU.
func Host(v op.View, t Type) (HostView, error) {
	host, err := v.Host()
	return HostView{host, t}, err
}

// at returns the value of a row.
func at[T any](values []byte, row int) T {
	return *(*T)(unsafe.Pointer(&values[row*int(unsafe.Sizeof(*new(T)))]))
}

// Integer returns the value of a row as 64 bits: signed integers are sign-extended.
// The type must not be a float.
func (v HostView) Integer(row int) uint64 {
	switch v.Type {
	case Type{Signed, 1}:
		return uint64(at[int8](v.Values, row))
	case Type{Signed, 2}:
		return uint64(at[int16](v.Values, row))
	case Type{Signed, 4}:
		return uint64(at[int32](v.Values, row))
	case Type{Unsigned, 1}:
		return uint64(at[uint8](v.Values, row))
	case Type{Unsigned, 2}:
		return uint64(at[uint16](v.Values, row))
	case Type{Unsigned, 4}:
		return uint64(at[uint32](v.Values, row))
	}
	return at[uint64](v.Values, row)
}

// Float returns the value of a row as a float. Integers of more than 53 bits are
// rounded.
func (v HostView) Float(row int) float64 {
	switch v.Type {
	case Type{Float, 2}:
		return float64(float16.FromBits(at[uint16](v.Values, row)).Float32())
	case Type{Float, 4}:
		return float64(at[float32](v.Values, row))
	case Type{Float, 8}:
		return at[float64](v.Values, row)
	}
	if v.Type.Class == Unsigned {
		return float64(v.Integer(row))
	}
	return float64(int64(v.Integer(row)))
}
