package hashtable

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/column"
)

// onHost returns a function that returns the key of a row: bytes that are equal if the
// values are. They are valid until the next call.
func (k keys) onHost() (func(row int) ([]byte, error), error) {
	first, err := k.first.Host()
	if err != nil {
		return nil, err
	}
	scratch := make([]byte, 8)
	switch k.kind {
	case keyBits:
		return func(row int) ([]byte, error) {
			scratch[0] = first[(k.bit+row)/8] >> ((k.bit + row) % 8) & 1
			return scratch[:1], nil
		}, nil
	case keyRuns:
		return k.runsOnHost(first)
	case keyFloat:
		return func(row int) ([]byte, error) {
			binary.NativeEndian.PutUint64(scratch, k.floatKey(first[k.width*row:]))
			return scratch, nil
		}, nil
	}
	return func(row int) ([]byte, error) { return first[k.width*row : k.width*(row+1)], nil }, nil
}

// floatKey returns the bits of a float, with one pattern for all NaNs and one for both
// zeros.
func (k keys) floatKey(bytes []byte) uint64 {
	var bits, infinity uint64
	switch k.width {
	case 2:
		bits, infinity = uint64(binary.NativeEndian.Uint16(bytes)), 0x7c00
	case 4:
		bits, infinity = uint64(binary.NativeEndian.Uint32(bytes)), 0x7f800000
	default:
		bits, infinity = binary.NativeEndian.Uint64(bytes), 0x7ff0000000000000
	}
	magnitude := bits &^ (1 << (8*k.width - 1))
	switch {
	case magnitude > infinity:
		return math.MaxUint64
	case magnitude == 0:
		return 0
	}
	return bits
}

func (k keys) runsOnHost(offsets []byte) (func(row int) ([]byte, error), error) {
	bytes, err := k.bytes.Host()
	at := func(i int) int64 {
		if k.width == 4 {
			return int64(int32(binary.NativeEndian.Uint32(offsets[4*i:])))
		}
		return int64(binary.NativeEndian.Uint64(offsets[8*i:]))
	}
	return func(row int) ([]byte, error) {
		begin, end := at(row), at(row+1)
		if begin < 0 || end < begin || end > int64(len(bytes)) {
			return nil, fmt.Errorf("row %d: the offsets %d and %d are not ascending or outside the %d bytes of data: %w", row, begin, end, len(bytes), column.ErrInvalid)
		}
		return bytes[begin:end], nil
	}, err
}
