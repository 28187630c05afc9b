package group

import (
	"math"
	"math/bits"
)

// zeroNumbers are the numbers of rows of one group.
var zeroNumbers [blockRows]uint32

// everyRow are the numbers of the rows of a block.
var everyRow = func() (rows [blockRows]uint16) {
	for i := range rows {
		rows[i] = uint16(i)
	}
	return rows
}()

// addToOne adds a block of rows that are all of one group to its state. Aggregates without keys are
// as fast as their loops here: a sum of integers takes 1 ns a row, with a state of each row's group 5.
func (h *hostReader) addToOne(state []uint64, b *block, rows interval) {
	n := rows.end - rows.begin
	if h.kind == countRows && !h.merges {
		state[0] += uint64(h.countTaken(rows))
		return
	}
	b.numbers = zeroNumbers[:n]
	h.takeAll(b, rows.begin)
	h.load(b, rows.begin)
	switch {
	case h.merges || h.value < 0:
		h.addBlock(state, b, rows.begin)
	case h.kind == sumIntegers:
		h.addIntegers(state, b.takenValues())
	case h.kind == greatest && h.in.form.isFloat():
		for _, x := range b.takenValues() {
			state[0] = max(state[0], floatImage(math.Float64frombits(x), h.least))
		}
	case h.kind == greatest:
		state[0] = max(state[0], greatestImage(b.takenValues(), h.in.form.isSigned(), h.least))
	case h.kind == sumFloats && h.term == linear:
		addFloats(state, b.takenValues())
	case h.kind == sumFloats && h.term == square:
		x := b.takenValues()
		addProducts(state, x, x, &b.space.high, &b.space.low)
	case h.kind == sumFloats && h.term == crossed:
		addProducts(state, b.takenValues(), b.front(b.y, &b.space.y), &b.space.high, &b.space.low)
	default:
		h.addBlock(state, b, rows.begin)
	}
}

// skips reports whether there are rows that are skipped.
func (h *hostReader) skips() bool {
	return h.where >= 0 || h.in.Valid != nil || h.other.Valid != nil
}

// countTaken returns the number of rows that are not skipped.
func (h *hostReader) countTaken(rows interval) (n int) {
	if !h.skips() {
		return rows.end - rows.begin
	}
	for at := rows.begin; at < rows.end; at += 64 {
		word := h.takenWord(at)
		if rest := rows.end - at; rest < 64 {
			word &= 1<<rest - 1
		}
		n += bits.OnesCount64(word)
	}
	return n
}

// takeAll finds the rows of a block that are not skipped.
func (h *hostReader) takeAll(b *block, begin int) {
	if !h.skips() {
		b.taken = everyRow[:len(b.numbers)]
		return
	}
	n := 0
	for at := 0; at < len(b.numbers); at += 64 {
		word, rows := h.takenWord(begin+at), min(64, len(b.numbers)-at)
		for i := range rows {
			b.space.taken[n] = uint16(at + i)
			n += int(word >> i & 1)
		}
	}
	b.taken = b.space.taken[:n]
}

// takenValues returns the first values of the rows that are not skipped.
func (b *block) takenValues() []uint64 { return b.front(b.x, &b.space.x) }

// front returns those of the values of a block that belong to rows that are not skipped: the values, or a part of an array that
// they may be in.
func (b *block) front(values []uint64, to *[blockRows]uint64) []uint64 {
	if len(b.taken) == len(b.numbers) {
		return values
	}
	for i, from := range b.taken {
		to[i] = values[from]
	}
	return to[:len(b.taken)]
}

// addIntegers adds words to a state of sumIntegers.
func (h *hostReader) addIntegers(state, values []uint64) {
	isSigned := h.in.form.isSigned()
	if h.in.form.bytes() < 8 {
		sum := uint64(0) // of a block: it has less than 64 bits
		for _, x := range values {
			sum += x
		}
		addInteger(state, sum, isSigned)
		return
	}
	low, high := state[0], state[1]
	for _, x := range values {
		var carry uint64
		low, carry = bits.Add64(low, x, 0)
		high += carry
	}
	state[0], state[1] = low, high
	if isSigned { // negative words have ones above
		negative := uint64(0)
		for _, x := range values {
			negative += x >> 63
		}
		state[1] -= negative
	}
}

// greatestImage returns the greatest image of some integers, 0 without any.
func greatestImage(values []uint64, isSigned, least bool) (image uint64) {
	flip := integerImage(0, isSigned, least)
	for _, x := range values {
		image = max(image, x^flip)
	}
	return image
}
