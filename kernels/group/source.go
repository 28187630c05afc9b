package group

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/apache/arrow/go/v17/arrow/float16"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

func (f form) isFloat() bool  { return f >= fromF16 && f <= fromF64 }
func (f form) isSigned() bool { return f >= fromI8 && f <= fromI64 }

// bytes returns the number of bytes of a number, or 0 for other forms.
func (f form) bytes() int {
	switch f {
	case fromI8, fromU8:
		return 1
	case fromI16, fromU16, fromF16:
		return 2
	case fromI32, fromU32, fromF32:
		return 4
	case fromI64, fromU64, fromF64:
		return 8
	}
	return 0
}

// source is a column as accumulators read it.
type source struct {
	// values begins with the value of the first row; booleans begin with bit bit of it.
	// valid is empty if no row is null.
	values, valid memory.Slice[uint8]
	bit           int
	form          form
	// width is the number of bytes of a value.
	width int
}

// formOf returns the form of a type's values, or fromNothing if only their validity is
// read.
func formOf(l layout.Layout) form {
	index := map[int]form{1: 0, 2: 1, 4: 2, 8: 3}[l.Width]
	switch l.Stored() {
	case layout.Boolean:
		return fromBits
	case layout.Signed:
		return fromI8 + index
	case layout.Unsigned:
		return fromU8 + index
	case layout.Float:
		return fromF16 + index - 1
	case layout.Decimal:
		if l.Width == 16 {
			return fromDecimal
		}
	}
	return fromNothing
}

// sourceOf returns a column as a source.
func sourceOf(call *op.Call, c *column.Column) (source, error) {
	l, err := layout.Of(c.Type())
	if err != nil {
		return source{}, err
	}
	s := source{form: formOf(l), width: l.Width}
	if s.form == fromNothing {
		return validityOf(c)
	}
	v, err := call.View(c)
	if err != nil {
		return source{}, err
	}
	s.values, s.valid, s.bit = v.Values, v.Valid, v.Bit
	return s, nil
}

// validityOf returns the validity of a column.
func validityOf(c *column.Column) (s source, err error) {
	if op.Nullable(c) {
		s.valid, s.bit, err = c.Validity()
	}
	return s, err
}

// hostSource is a source in memory that the processor reads.
type hostSource struct {
	op.HostView
	form  form
	width int
}

func (s source) host() (hostSource, error) {
	values, valuesErr := s.values.Host()
	valid, validErr := s.valid.Host()
	if len(valid) == 0 {
		valid = nil
	}
	return hostSource{op.HostView{Values: values, Valid: valid, Bit: s.bit}, s.form, s.width}, errors.Join(valuesErr, validErr)
}

// isValid reports whether a row is not null.
func (s *hostSource) isValid(row int) bool { return s.IsValid(row) }

// integer returns a value that is no float, extended to 64 bits by its sign.
func (s *hostSource) integer(row int) uint64 {
	switch s.form {
	case fromBits:
		if s.IsTrue(row) {
			return 1
		}
		return 0
	case fromI8:
		return uint64(int64(int8(s.Values[row])))
	case fromI16:
		return uint64(int64(int16(binary.NativeEndian.Uint16(s.Values[2*row:]))))
	case fromI32:
		return uint64(int64(int32(binary.NativeEndian.Uint32(s.Values[4*row:]))))
	case fromU8:
		return uint64(s.Values[row])
	case fromU16:
		return uint64(binary.NativeEndian.Uint16(s.Values[2*row:]))
	case fromU32:
		return uint64(binary.NativeEndian.Uint32(s.Values[4*row:]))
	}
	return binary.NativeEndian.Uint64(s.Values[8*row:])
}

// integers loads values that are no floats, extended to 64 bits by their sign, from a row on.
func (s *hostSource) integers(to []uint64, begin int) {
	switch s.form {
	case fromI8:
		extend(to, op.Elements[int8](s.Values)[begin:])
	case fromI16:
		extend(to, op.Elements[int16](s.Values)[begin:])
	case fromI32:
		extend(to, op.Elements[int32](s.Values)[begin:])
	case fromU8:
		extend(to, s.Values[begin:])
	case fromU16:
		extend(to, op.Elements[uint16](s.Values)[begin:])
	case fromU32:
		extend(to, op.Elements[uint32](s.Values)[begin:])
	case fromI64, fromU64:
		copy(to, op.Elements[uint64](s.Values)[begin:])
	default:
		for i := range to {
			to[i] = s.integer(begin + i)
		}
	}
}

func extend[T int8 | int16 | int32 | uint8 | uint16 | uint32](to []uint64, from []T) {
	from = from[:len(to)]
	for i, x := range from {
		to[i] = uint64(x)
	}
}

// floatImages returns values as the bits of float64, from a row on: those of the column, or some that it loads.
func (s *hostSource) floatImages(to []uint64, begin int) []uint64 {
	if s.form == fromF64 {
		return op.Elements[uint64](s.Values)[begin:][:len(to)]
	}
	s.floats(to, begin)
	return to
}

// floats loads values as the bits of float64, from a row on.
func (s *hostSource) floats(to []uint64, begin int) {
	switch s.form {
	case fromF64:
		copy(to, op.Elements[uint64](s.Values)[begin:])
	case fromI32:
		for i, x := range op.Elements[int32](s.Values)[begin : begin+len(to)] {
			to[i] = math.Float64bits(float64(x))
		}
	case fromI64:
		for i, x := range op.Elements[int64](s.Values)[begin : begin+len(to)] {
			to[i] = math.Float64bits(float64(x))
		}
	case fromF32:
		for i, x := range op.Elements[float32](s.Values)[begin : begin+len(to)] {
			to[i] = math.Float64bits(float64(x))
		}
	default:
		for i := range to {
			to[i] = math.Float64bits(s.float(begin + i))
		}
	}
}

// float returns a value as float64.
func (s *hostSource) float(row int) float64 {
	switch s.form {
	case fromF16:
		return float64(float16.FromBits(binary.NativeEndian.Uint16(s.Values[2*row:])).Float32())
	case fromF32:
		return float64(math.Float32frombits(binary.NativeEndian.Uint32(s.Values[4*row:])))
	case fromF64:
		return math.Float64frombits(binary.NativeEndian.Uint64(s.Values[8*row:]))
	case fromU64:
		return float64(s.integer(row))
	}
	return float64(int64(s.integer(row)))
}

// image returns a value as a number of the same order, for the accumulators greatest and
// firstGreatest. If zeros is set, −0 is 0.
func (s *hostSource) image(row int, least, zeros bool) uint64 {
	if s.form.isFloat() {
		x := s.float(row)
		if zeros && x == 0 {
			x = 0 // not −0
		}
		return floatImage(x, least)
	}
	return integerImage(s.integer(row), s.form.isSigned(), least)
}

// state returns the words of a state.
func (s *hostSource) state(row int) []uint64 {
	return op.Elements[uint64](s.Values[row*s.width : (row+1)*s.width])
}
