package rowgroups

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/cespare/xxhash/v2"

	"github.com/gpuframe/gpuframe/internal/base/address"
)

// values are those of a column chunk, without the nulls.
type values interface {
	pageValues
	// appendPlain appends values in PLAIN.
	appendPlain(to []byte, from, end int) []byte
	// hash returns the hash of a value in a Bloom filter.
	hash(i int) uint64
}

// pageValues are values that are divided into pages.
type pageValues interface {
	// length returns the length of values in PLAIN.
	length(from, end int) int
	// bounds returns the bounds of values.
	bounds(from, end int) bounds
}

// deltaPages are integers.
type deltaPages interface {
	// appendDelta appends the values of a page in DELTA_BINARY_PACKED.
	appendDelta(to []byte, from, end int) []byte
}

// numbers are values of four or eight bytes.
type numbers[T word] struct {
	all   []T
	order order
}

func (v numbers[T]) length(from, end int) int { return (end - from) * wordBytes[T]() }

func (v numbers[T]) appendPlain(to []byte, from, end int) []byte {
	return append(to, address.BytesOf(v.all[from:end])...)
}

func (v numbers[T]) bounds(from, end int) bounds { return numberBounds(v.all[from:end], v.order) }

func (v numbers[T]) appendDelta(to []byte, from, end int) []byte {
	return appendDelta(to, v.all[from:end])
}

func (v numbers[T]) hash(i int) uint64 {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], uint64(v.all[i]))
	return xxhash.Sum64(word[:wordBytes[T]()])
}

// texts are values of bytes: each of the same width, or those between two offsets.
type texts struct {
	data    []byte
	offsets []int64
	width   int
	count   int
	order   order
	isUTF8  bool
}

func (v *texts) place(i int) int {
	if v.offsets == nil {
		return i * v.width
	}
	return int(v.offsets[i])
}

func (v *texts) at(i int) []byte { return v.data[v.place(i):v.place(i+1)] }

func (v *texts) length(from, end int) int {
	n := v.place(end) - v.place(from)
	if v.offsets != nil {
		n += 4 * (end - from)
	}
	return n
}

func (v *texts) appendPlain(to []byte, from, end int) []byte {
	if v.offsets == nil {
		return append(to, v.data[v.place(from):v.place(end)]...)
	}
	for i := from; i < end; i++ {
		text := v.at(i)
		to = append(binary.LittleEndian.AppendUint32(to, uint32(len(text))), text...)
	}
	return to
}

// appendDeltaLength appends values in DELTA_LENGTH_BYTE_ARRAY.
func (v *texts) appendDeltaLength(to []byte, from, end int, scratch *[]uint32) []byte {
	lengths := (*scratch)[:0]
	for i := from; i < end; i++ {
		lengths = append(lengths, uint32(v.place(i+1)-v.place(i)))
	}
	*scratch = lengths
	to = appendDelta(to, lengths)
	return append(to, v.data[v.place(from):v.place(end)]...)
}

func (v *texts) bounds(from, end int) bounds {
	if from == end {
		return bounds{}
	}
	low, high := v.at(from), v.at(from)
	if v.order != orderBytes {
		for i := from + 1; i < end; i++ {
			low, high = v.extremes(v.at(i), low, high)
		}
		return v.bound(low, high)
	}
	lowStart, highStart := start(low), start(high)
	for i := from + 1; i < end; i++ {
		text := v.at(i)
		if s := start(text); s <= lowStart || s >= highStart {
			low, high = v.extremes(text, low, high)
			lowStart, highStart = start(low), start(high)
		}
	}
	return v.bound(low, high)
}

// extremes returns the least and the greatest of three values, low and high among them.
func (v *texts) extremes(text, low, high []byte) (least, greatest []byte) {
	switch {
	case v.order.compare(text, low) < 0:
		low = text
	case v.order.compare(text, high) > 0:
		high = text
	}
	return low, high
}

// start returns the first eight bytes of a text as a number with the order of texts.
func start(text []byte) uint64 {
	if len(text) >= 8 {
		return binary.BigEndian.Uint64(text)
	}
	var word [8]byte
	copy(word[:], text)
	return binary.BigEndian.Uint64(word[:])
}

// bound returns the bounds for the least and the greatest value.
func (v *texts) bound(low, high []byte) bounds {
	switch {
	case v.offsets != nil:
		return textBounds(low, high, v.isUTF8)
	case v.width > longestBound:
		return bounds{} // readers expect the width of the column
	}
	return bounds{bound{bytes.Clone(low), true}, bound{bytes.Clone(high), true}}
}

func (v *texts) hash(i int) uint64 { return xxhash.Sum64(v.at(i)) }

// flags are booleans, as a bitmap.
type flags struct {
	bits  []byte
	count int
}

func (v flags) length(from, end int) int { return (end - from + 7) / 8 }

func (v flags) appendPlain(to []byte, from, end int) []byte {
	at := len(to)
	to = append(to, make([]byte, v.length(from, end))...)
	bitutil.CopyBitmap(v.bits, from, end-from, to[at:], 0)
	return to
}

func (v flags) bounds(from, end int) bounds {
	if from == end {
		return bounds{}
	}
	ones := bitutil.CountSetBits(v.bits, from, end-from)
	low, high := byte(0), byte(1)
	if ones == end-from {
		low = 1
	}
	if ones == 0 {
		high = 0
	}
	return bounds{bound{[]byte{low}, true}, bound{[]byte{high}, true}}
}

func (v flags) hash(i int) uint64 {
	value := []byte{0}
	if bitutil.BitIsSet(v.bits, i) {
		value[0] = 1
	}
	return xxhash.Sum64(value)
}

// resized returns a slice of n elements, with the memory of another one if that suffices.
func resized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }
