package rowgroups

import (
	"encoding/binary"
	"math/bits"
)

// Blocks of DELTA_BINARY_PACKED: every reader knows those of 128 values in four parts.
const (
	deltaValues = 128
	deltaParts  = 4
	deltaPart   = deltaValues / deltaParts
)

// deltaBlock has up to 128 differences of successive values.
type deltaBlock[T word] struct {
	// low is the least of them, as a signed number, which the others are relative to.
	low    T
	deltas [deltaValues]T
	widths [deltaParts]uint8
	parts  int // with values
}

// read reads the differences of values to those before them.
func (b *deltaBlock[T]) read(before T, values []T) {
	top := ^(^T(0) >> 1)
	low := ^T(0)
	for i, v := range values {
		b.deltas[i] = v - before
		low, before = min(low, (v-before)^top), v
	}
	b.low, b.widths = low^top, [deltaParts]uint8{}
	b.parts = (len(values) + deltaPart - 1) / deltaPart
	clear(b.deltas[len(values):])
	for part := range b.parts {
		begin := part * deltaPart
		deltas := b.deltas[begin:min(begin+deltaPart, len(values))]
		var all T
		for i := range deltas {
			deltas[i] -= b.low
			all |= deltas[i]
		}
		b.widths[part] = uint8(bits.Len64(uint64(all)))
	}
}

// signed returns a number with its sign.
func signed[T word](v T) int64 {
	if wordBytes[T]() == 4 {
		return int64(int32(v))
	}
	return int64(v)
}

func varintLength(v int64) int { return uvarintLength(uint64(v<<1) ^ uint64(v>>63)) }

// length returns the length of the block.
func (b *deltaBlock[T]) length() int {
	n := varintLength(signed(b.low)) + deltaParts
	for _, width := range b.widths {
		n += int(width) * deltaPart / 8
	}
	return n
}

// deltaLength returns the length of values in DELTA_BINARY_PACKED.
func deltaLength[T word](values []T) int {
	if len(values) == 0 {
		return len(appendDelta[T](nil, nil))
	}
	n := uvarintLength(deltaValues) + uvarintLength(deltaParts) + uvarintLength(uint64(len(values))) + varintLength(signed(values[0]))
	var b deltaBlock[T]
	for i := 1; i < len(values); i += deltaValues {
		b.read(values[i-1], values[i:min(i+deltaValues, len(values))])
		n += b.length()
	}
	return n
}

// appendDelta appends values in DELTA_BINARY_PACKED.
func appendDelta[T word](to []byte, values []T) []byte {
	to = binary.AppendUvarint(to, deltaValues)
	to = binary.AppendUvarint(to, deltaParts)
	to = binary.AppendUvarint(to, uint64(len(values)))
	if len(values) == 0 {
		return append(to, 0)
	}
	to = binary.AppendVarint(to, signed(values[0]))
	var b deltaBlock[T]
	for i := 1; i < len(values); i += deltaValues {
		b.read(values[i-1], values[i:min(i+deltaValues, len(values))])
		to = binary.AppendVarint(to, signed(b.low))
		to = append(to, b.widths[:]...)
		for part := range b.parts {
			to = appendBits(to, b.deltas[part*deltaPart:(part+1)*deltaPart], int(b.widths[part]))
		}
	}
	return to
}
