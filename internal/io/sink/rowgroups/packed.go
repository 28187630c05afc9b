package rowgroups

import (
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow/bitutil"
)

// appendBits appends numbers of a few bits, and fills the last byte with zeros.
func appendBits[T uint8 | word](to []byte, values []T, width int) []byte {
	var filled int
	var last uint64
	for _, v := range values {
		last |= uint64(v) << filled
		if filled += width; filled >= 64 {
			to = binary.LittleEndian.AppendUint64(to, last)
			filled -= 64
			last = uint64(v) >> (width - filled)
		}
	}
	for ; filled > 0; filled -= 8 {
		to = append(to, byte(last))
		last >>= 8
	}
	return to
}

// packedHead is the head of a run of n numbers of a few bits, in groups of eight.
func packedHead(n int) uint64 { return uint64((n+7)/8)<<1 | 1 }

func uvarintLength(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// appendIndices appends the indices of a page: their width, and a single run.
func appendIndices(to []byte, indices []uint32, width int) []byte {
	to = append(to, byte(width))
	if len(indices) == 0 {
		return to
	}
	if allEqual(indices) {
		return appendRun(to, len(indices), indices[0], width)
	}
	return appendPacked(to, indices, width)
}

// appendPacked appends a run of numbers of a few bits.
func appendPacked[T uint8 | word](to []byte, numbers []T, width int) []byte {
	to = binary.AppendUvarint(to, packedHead(len(numbers)))
	end := len(to) + packedBytes(len(numbers), width)
	to = appendBits(to, numbers, width)
	for len(to) < end {
		to = append(to, 0)
	}
	return to
}

// packedBytes is the length of a run of n numbers of a few bits, in groups of eight.
func packedBytes(n, width int) int { return (n + 7) / 8 * width }

// appendRun appends a run of equal indices.
func appendRun(to []byte, n int, index uint32, width int) []byte {
	to = binary.AppendUvarint(to, uint64(n)<<1)
	return append(to, binary.LittleEndian.AppendUint32(nil, index)[:(width+7)/8]...)
}

func allEqual(values []uint32) bool {
	for _, v := range values {
		if v != values[0] {
			return false
		}
	}
	return true
}

// indexWidth returns the width of indices of a dictionary. Some readers refuse zero.
func indexWidth(values int) int { return max(1, bits.Len(uint(max(values, 1)-1))) }

// appendLevels appends the definition levels of rows, of which some are valid, behind their length.
func appendLevels(to []byte, validity []byte, from, rows, valid int) []byte {
	begin := len(to)
	to = append(to, 0, 0, 0, 0)
	switch valid {
	case rows:
		to = append(binary.AppendUvarint(to, uint64(rows)<<1), 1)
	case 0:
		to = append(binary.AppendUvarint(to, uint64(rows)<<1), 0)
	default:
		to = binary.AppendUvarint(to, packedHead(rows))
		at := len(to)
		to = append(to, make([]byte, (rows+7)/8)...)
		bitutil.CopyBitmap(validity, from, rows, to[at:], 0)
	}
	binary.LittleEndian.PutUint32(to[begin:], uint32(len(to)-begin-4))
	return to
}
