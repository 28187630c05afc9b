package column

import (
	"encoding/binary"
	"sort"
)

// bitRun is a part of a bitmap that is assembled: length bits from position offset on
// in bits, or set bits if bits is nil.
type bitRun struct {
	bits           []byte
	offset, length int
	// start is the position of the run in the result.
	start int
}

// bitRuns is a bitmap that is assembled during the transfer.
type bitRuns []bitRun

// fill writes the bytes of the bitmap from offset on. Bits after the last run are
// zero.
func (r bitRuns) fill(destination []byte, offset uint64) {
	clear(destination)
	first := int(offset) * 8
	end := first + len(destination)*8
	i := sort.Search(len(r), func(i int) bool { return r[i].start+r[i].length > first })
	for ; i < len(r) && r[i].start < end; i++ {
		run := &r[i]
		from, to := max(run.start, first), min(run.start+run.length, end)
		if run.bits == nil {
			setBits(destination, from-first, to-from)
		} else {
			copyBits(destination, from-first, run.bits, run.offset+from-run.start, to-from)
		}
	}
}

// copyBits copies bits into a destination that is zero.
func copyBits(destination []byte, at int, source []byte, from, count int) {
	if head := min(-at&7, count); head > 0 {
		destination[at>>3] |= bitsAt(source, from, head) << (at & 7)
		at, from, count = at+head, from+head, count-head
	}
	if count > 0 {
		copyWords(destination[at>>3:], source, from, count/64)
		words := count &^ 63
		at, from, count = at+words, from+words, count-words
	}
	for count > 0 {
		step := min(8, count)
		destination[at>>3] |= bitsAt(source, from, step)
		at, from, count = at+step, from+step, count-step
	}
}

// copyWords writes 64 bits at a time, from any position in the source.
func copyWords(destination, source []byte, from, count int) {
	source, shift := source[from>>3:], from&7
	if shift == 0 {
		copy(destination[:8*count], source)
		return
	}
	for range count {
		word := binary.LittleEndian.Uint64(source)>>shift | uint64(source[8])<<(64-shift)
		binary.LittleEndian.PutUint64(destination, word)
		destination, source = destination[8:], source[8:]
	}
}

// bitsAt returns up to eight bits from any position.
func bitsAt(source []byte, from, count int) byte {
	value := uint(source[from>>3]) >> (from & 7)
	if have := 8 - from&7; have < count {
		value |= uint(source[from>>3+1]) << have
	}
	return byte(value) & byte(1<<count-1)
}

// setBits sets bits in a destination that is zero.
func setBits(destination []byte, at, count int) {
	if head := min(-at&7, count); head > 0 {
		destination[at>>3] |= byte(1<<head-1) << (at & 7)
		at, count = at+head, count-head
	}
	whole := destination[at>>3:][:count/8]
	for i := range whole {
		whole[i] = 0xff
	}
	if tail := count & 7; tail > 0 {
		destination[at>>3+len(whole)] |= 1<<tail - 1
	}
}

// shiftBits moves count bits of a bitmap from position from, which is below eight, to
// its beginning, and clears the bits after them.
func shiftBits(bitmap []byte, from, count int) {
	if from > 0 {
		for i := range bitmapBytes(count) {
			next := byte(0)
			if i+1 < len(bitmap) {
				next = bitmap[i+1]
			}
			bitmap[i] = bitmap[i]>>from | next<<(8-from)
		}
	}
	if tail := count & 7; tail > 0 {
		bitmap[count>>3] &= 1<<tail - 1
	}
}

// bitIsSet reports whether a bit is set.
func bitIsSet(bitmap []byte, i int) bool { return bitmap[i>>3]>>(i&7)&1 != 0 }
