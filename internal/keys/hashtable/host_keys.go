package hashtable

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"unsafe"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// hostKeys are keys in memory that the processor reads.
type hostKeys struct {
	// words writes a word for each row of a range: the key, or its hash.
	words func(to []uint64, begin int) error
	// word returns the word of a row, or is nil for keys that take more than 8 bytes.
	word func(row uint32) uint64
	// same compares the keys of two rows that are not null, and equal those of rows from begin on with
	// those of other rows, or noRow.
	same  func(a, b uint32) bool
	equal func(begin int, rows []uint32) bool
	// hashes is set if words are hashes, so that equal words may have different keys.
	hashes bool
	// sign is the sign bit of integers, 0 for other keys.
	sign uint64
	// last is the largest word that is a key; larger ones are nulls.
	last uint64
	// valid is the bitmap of the rows, or nil, and bit the bit of row 0.
	valid []byte
	bit   int
}

// withNulls returns the keys with a bitmap, which may be empty.
func (k keys) withNulls(valid memory.Slice[uint8], bit int) (hostKeys, error) {
	h, err := k.onHost()
	if err != nil {
		return h, err
	}
	h.bit, h.last = bit, math.MaxUint64
	if k.kind == keyFixed && k.width <= 8 {
		h.last = k.last
	}
	if valid.Len() > 0 {
		h.valid, err = valid.Host()
	}
	return h, err
}

// onHost returns the keys.
func (k keys) onHost() (hostKeys, error) {
	first, err := k.first.Host()
	if err != nil {
		return hostKeys{}, err
	}
	switch {
	case k.kind == keyBits:
		return wordKeys(1<<63, func(row uint32) uint64 {
			at := k.bit + int(row)
			return uint64(first[at/8] >> (at % 8) & 1)
		}), nil
	case k.kind == keyBytes:
		return k.bytesOnHost(first)
	case k.kind == keyFloat:
		return wordKeys(0, func(row uint32) uint64 { return k.floatKey(first[k.width*int(row):]) }), nil
	case k.width == 1:
		return wordKeys(1<<7, func(row uint32) uint64 { return uint64(first[row]) }), nil
	case k.width == 2:
		values := op.Elements[uint16](first)
		return wordKeys(1<<15, func(row uint32) uint64 { return uint64(values[row]) }), nil
	case k.width == 4:
		return integerKeys(op.Elements[uint32](first)), nil
	case k.width == 8:
		return integerKeys(op.Elements[uint64](first)), nil
	}
	at := func(row uint32) []byte { return first[k.width*int(row) : k.width*(int(row)+1)] }
	if k.width < 8 {
		return wordKeys(1<<(8*k.width)>>1, func(row uint32) uint64 {
			var word [8]byte
			copy(word[:], at(row))
			return binary.LittleEndian.Uint64(word[:])
		}), nil
	}
	seed := maphash.MakeSeed()
	h := wordKeys(0, func(row uint32) uint64 { return maphash.Bytes(seed, at(row)) | hashed })
	h.hashes, h.same = true, func(a, b uint32) bool { return bytes.Equal(at(a), at(b)) }
	h.equal = equalBy(h.same)
	return h, nil
}

// wordKeys returns keys that are words.
func wordKeys(sign uint64, word func(row uint32) uint64) hostKeys {
	same := func(a, b uint32) bool { return word(a) == word(b) }
	return hostKeys{sign: sign, word: word, same: same, equal: equalBy(same), words: func(to []uint64, begin int) error {
		for i := range to {
			to[i] = word(uint32(begin + i))
		}
		return nil
	}}
}

// integerKeys returns keys that are integers.
func integerKeys[T uint32 | uint64](values []T) hostKeys {
	return hostKeys{
		sign: 1 << (8*unsafe.Sizeof(T(0)) - 1),
		words: func(to []uint64, begin int) error {
			for i, x := range values[begin : begin+len(to)] {
				to[i] = uint64(x)
			}
			return nil
		},
		word: func(row uint32) uint64 { return uint64(values[row]) },
		same: func(a, b uint32) bool { return values[a] == values[b] },
		equal: func(begin int, rows []uint32) bool {
			for i, x := range values[begin : begin+len(rows)] {
				if other := rows[i]; other != noRow && values[other] != x {
					return false
				}
			}
			return true
		},
	}
}

// equalBy returns the comparison of rows from a row on with other rows, or noRow.
func equalBy(same func(a, b uint32) bool) func(begin int, rows []uint32) bool {
	return func(begin int, rows []uint32) bool {
		for i, other := range rows {
			if row := uint32(begin + i); other != row && other != noRow && !same(row, other) {
				return false
			}
		}
		return true
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
	if k.width == 4 {
		return byteKeys(op.Elements[int32](offsets), data), err
	}
	return byteKeys(op.Elements[int64](offsets), data), err
}

// byteKeys returns keys of bytes between offsets.
func byteKeys[O int32 | int64](offsets []O, data []byte) hostKeys {
	seed := maphash.MakeSeed()
	same := func(a, b uint32) bool {
		return bytes.Equal(data[offsets[a]:offsets[a+1]], data[offsets[b]:offsets[b+1]])
	}
	return hostKeys{
		hashes: true,
		words: func(to []uint64, begin int) error {
			ends := offsets[begin : begin+len(to)+1]
			for i := range to {
				from, end := int64(ends[i]), int64(ends[i+1])
				if from < 0 || end < from || end > int64(len(data)) {
					// Offsets of nulls count too: nothing else checks them.
					return fmt.Errorf("row %d: the offsets %d and %d are not ascending or outside the %d bytes of data: %w", begin+i, from, end, len(data), column.ErrInvalid)
				}
				to[i] = wordOf(data[from:end], seed)
			}
			return nil
		},
		same: same, equal: equalBy(same),
	}
}

// sameRows compares the keys of two rows, which may be null.
func (k *hostKeys) sameRows(a, b uint32) bool {
	if k.nullable() {
		if x, y := k.isNullRow(a), k.isNullRow(b); x || y {
			return x && y
		}
	}
	return k.same(a, b)
}

// equalRows is equal for rows that may be null.
func (k *hostKeys) equalRows(begin int, rows []uint32) bool {
	if !k.nullable() {
		return k.equal(begin, rows)
	}
	var others [hostBlock]uint32
	for from := 0; from < len(rows); from += hostBlock {
		block := others[:copy(others[:], rows[from:])]
		for i, other := range block {
			if other == noRow {
				continue
			}
			if x, y := k.isNullRow(uint32(begin+from+i)), k.isNullRow(other); x != y {
				return false
			} else if x {
				block[i] = noRow
			}
		}
		if !k.equal(begin+from, block) {
			return false
		}
	}
	return true
}

// isNullRow reports whether a row is null.
func (k *hostKeys) isNullRow(row uint32) bool {
	return k.valid != nil && !k.isValid(int(row)) || k.last != math.MaxUint64 && k.word(row) > k.last
}

// together returns the keys of several columns as one. A null is a value of its column.
func together(list []hostKeys) hostKeys {
	s, null := newSeeds(), rand.Uint64()
	return hostKeys{
		hashes: true, last: math.MaxUint64,
		words: func(to []uint64, begin int) error {
			var block [hostBlock]uint64
			clear(to)
			for i := range list {
				k, words := &list[i], block[:len(to)]
				if err := k.load(words, begin); err != nil {
					return err
				}
				nullable := k.nullable()
				for j, word := range words {
					if nullable && k.isNull(begin+j, word) {
						word = null
					}
					to[j] = s.hash(to[j] ^ word)
				}
			}
			for i := range to {
				to[i] |= hashed
			}
			return nil
		},
		same: func(a, b uint32) bool {
			for i := range list {
				if !list[i].sameRows(a, b) {
					return false
				}
			}
			return true
		},
		equal: func(begin int, rows []uint32) bool {
			for i := range list {
				if !list[i].equalRows(begin, rows) {
					return false
				}
			}
			return true
		},
	}
}
