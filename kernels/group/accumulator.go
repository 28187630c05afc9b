package group

import (
	"math"
	"math/bits"
)

// stateWords is the number of words of the states.
var stateWords = [...]int{
	countRows: 1, sumIntegers: 2, sumDecimals: 3, products: 1, greatest: 1, firstGreatest: 2, sumFloats: sumBins + sumBinCount, bitsOr: 1, bitsXor: 1,
}

// power returns the number of factors.
func (t term) power() int {
	switch t {
	case linear:
		return 1
	case cube:
		return 3
	case fourth:
		return 4
	}
	return 2
}

// accumulator describes an accumulator. Equal ones are shared by aggregates.
type accumulator struct {
	kind accumulatorKind
	term term
	// value, other and where are the numbers of inputs, or negative. Rows in which value
	// or other is null, or where is not true, are skipped. Without value, greatest takes
	// the number of the row.
	value, other, where int
	// least makes greatest find the least value.
	least bool
	// merges is set if value has states that are to be merged.
	merges bool
	// marks is set for a count that is only compared with zero: any other number is as good.
	marks bool
}

func (a accumulator) words() int {
	if a.kind == sumFloats && a.term != linear {
		return sumBins + powerBinCount
	}
	return stateWords[a.kind]
}

// rowImage is the image of a row number, from which greatest finds the last row.
func rowImage(row uint64) uint64 { return row + 1 }

// rowOf returns the row of an image that greatest has found, or false without one.
func rowOf(image uint64, least bool) (row uint64, ok bool) {
	if least {
		return ^image - 1, image != 0
	}
	return image - 1, image != 0
}

// floatImage returns a float as a number of the same order, or 0 for NaN, which comes
// after all numbers in both directions.
func floatImage(x float64, least bool) uint64 {
	if x != x {
		return 0
	}
	image := math.Float64bits(x)
	image ^= uint64(int64(image)>>63) | 1<<63
	if least {
		return ^image
	}
	return image
}

// unimageFloat is the reverse of floatImage.
func unimageFloat(image uint64, least bool) float64 {
	if image == 0 {
		return math.NaN()
	}
	if least {
		image = ^image
	}
	return math.Float64frombits(image ^ (uint64(int64(^image)>>63) | 1<<63))
}

// integerImage returns an integer as a number of the same order.
func integerImage(x uint64, isSigned, least bool) uint64 {
	if isSigned {
		x ^= 1 << 63
	}
	if least {
		return ^x
	}
	return x
}

// addTerm adds the term of two values to a state of sumFloats. Products are added as two
// or three floats with that sum.
func addTerm(state []uint64, t term, x, y float64) {
	switch t {
	case linear:
		addFloat(state, x)
		return
	case square:
		y = x
	case cube, fourth:
		p := product2(x, x)
		y = x
		factor := x // of the square's low part
		if t == fourth {
			y, factor = p.high, 2*p.high
		}
		if isFinite(p.high) && isFinite(p.high*y) {
			addFloat(state, float64(p.low*factor))
		}
		x = p.high
	}
	p := product2(x, y)
	addFloat(state, p.high)
	if isFinite(p.high) {
		addFloat(state, p.low)
	}
}

func isFinite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }

// addInteger adds a word, extended by its sign if it has one, to a state of sumIntegers.
func addInteger(state []uint64, x uint64, isSigned bool) {
	high := uint64(0)
	if isSigned {
		high = uint64(int64(x) >> 63)
	}
	var carry uint64
	state[0], carry = bits.Add64(state[0], x, 0)
	state[1] += high + carry
}

// addDecimal adds a number of 128 bits to a state of sumDecimals.
func addDecimal(state *[3]uint64, x *[2]uint64) {
	var carry uint64
	state[0], carry = bits.Add64(state[0], x[0], 0)
	state[1], carry = bits.Add64(state[1], x[1], carry)
	state[2] += uint64(int64(x[1])>>63) + carry
}

// addWide adds a number of 192 bits to a state of sumDecimals.
func addWide(state []uint64, x wide) {
	total := wide(state).add(x)
	copy(state, total[:])
}

// mergeStates adds a state to another one of the same kind.
func mergeStates(kind accumulatorKind, state, other []uint64) {
	switch kind {
	case countRows:
		state[0] += other[0]
	case sumIntegers:
		var carry uint64
		state[0], carry = bits.Add64(state[0], other[0], 0)
		state[1] += other[1] + carry
	case sumDecimals:
		addWide(state, wide(other))
	case products:
		state[0] = (state[0]^1)*(other[0]^1) ^ 1
	case bitsOr:
		state[0] |= other[0]
	case bitsXor:
		state[0] ^= other[0]
	case greatest:
		state[0] = max(state[0], other[0])
	case firstGreatest:
		foundFirst(state, other[0], other[1])
	case sumFloats:
		mergeFloats(state, other)
	}
}

// foundFirst adds an image and the image of its row to a state of firstGreatest.
func foundFirst(state []uint64, image, row uint64) {
	switch {
	case row == 0:
	case image > state[0] || state[1] == 0:
		state[0], state[1] = image, row
	case image == state[0]:
		state[1] = max(state[1], row)
	}
}
