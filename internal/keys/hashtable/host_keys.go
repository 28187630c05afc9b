package hashtable

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"

	"github.com/gpuframe/gpuframe/column"
)

// hostKeys are keys in memory that the processor reads.
type hostKeys struct {
	// words writes a word for each row of a range: the key, or its hash.
	words func(to []uint64, begin int) error
	// same compares the keys of two rows, or is nil if the words are the keys.
	same func(a, b uint32) bool
}

// onHost returns the keys.
func (k keys) onHost() (hostKeys, error) {
	first, err := k.first.Host()
	if err != nil {
		return hostKeys{}, err
	}
	switch {
	case k.kind == keyBits:
		return hostKeys{words: func(to []uint64, begin int) error {
			for i := range to {
				at := k.bit + begin + i
				to[i] = uint64(first[at/8] >> (at % 8) & 1)
			}
			return nil
		}}, nil
	case k.kind == keyBytes:
		return k.bytesOnHost(first)
	case k.kind == keyFloat:
		return hostKeys{words: func(to []uint64, begin int) error {
			for i := range to {
				to[i] = k.floatKey(first[k.width*(begin+i):])
			}
			return nil
		}}, nil
	case k.width <= 8:
		return hostKeys{words: func(to []uint64, begin int) error {
			k.integers(to, first[k.width*begin:])
			return nil
		}}, nil
	}
	at := func(row int) []byte { return first[k.width*row : k.width*(row+1)] }
	seed := maphash.MakeSeed()
	return hostKeys{
		words: func(to []uint64, begin int) error {
			for i := range to {
				to[i] = maphash.Bytes(seed, at(begin+i)) | hashed
			}
			return nil
		},
		same: func(a, b uint32) bool { return bytes.Equal(at(int(a)), at(int(b))) },
	}, nil
}

// integers writes values of at most 8 bytes as words.
func (k keys) integers(to []uint64, from []byte) {
	switch k.width {
	case 1:
		for i := range to {
			to[i] = uint64(from[i])
		}
	case 2:
		for i := range to {
			to[i] = uint64(binary.LittleEndian.Uint16(from[2*i:]))
		}
	case 4:
		for i := range to {
			to[i] = uint64(binary.LittleEndian.Uint32(from[4*i:]))
		}
	case 8:
		for i := range to {
			to[i] = binary.LittleEndian.Uint64(from[8*i:])
		}
	default:
		for i := range to {
			var word [8]byte
			copy(word[:], from[k.width*i:k.width*(i+1)])
			to[i] = binary.LittleEndian.Uint64(word[:])
		}
	}
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

// byteRows are rows of bytes between offsets.
type byteRows struct {
	offsets, bytes []byte
	width          int
}

func (r byteRows) offset(i int) int64 {
	if r.width == 4 {
		return int64(int32(binary.NativeEndian.Uint32(r.offsets[4*i:])))
	}
	return int64(binary.NativeEndian.Uint64(r.offsets[8*i:]))
}

// at returns the bytes of a row. The offsets have been checked.
func (r byteRows) at(row uint32) []byte { return r.bytes[r.offset(int(row)):r.offset(int(row)+1)] }

// wordOf returns at most seven bytes with their number, or the hash of more.
func wordOf(row []byte, seed maphash.Seed) uint64 {
	if len(row) > 7 {
		return maphash.Bytes(seed, row) | hashed
	}
	word := uint64(len(row))
	for _, b := range row {
		word = word<<8 | uint64(b)
	}
	return word
}

func (k keys) bytesOnHost(offsets []byte) (hostKeys, error) {
	data, err := k.bytes.Host()
	r, seed := byteRows{offsets, data, k.width}, maphash.MakeSeed()
	return hostKeys{
		words: func(to []uint64, begin int) error {
			for i := range to {
				row := begin + i
				from, end := r.offset(row), r.offset(row+1)
				if from < 0 || end < from || end > int64(len(data)) {
					// Offsets of nulls count too: nothing else checks them.
					return fmt.Errorf("row %d: the offsets %d and %d are not ascending or outside the %d bytes of data: %w", row, from, end, len(data), column.ErrInvalid)
				}
				to[i] = wordOf(data[from:end], seed)
			}
			return nil
		},
		same: func(a, b uint32) bool { return bytes.Equal(r.at(a), r.at(b)) },
	}, err
}
