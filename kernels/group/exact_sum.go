package group

import (
	"math"
	"math/bits"
)

// The state of a sum of floats has the sum of the values as integers in fixed point, so
// that the order of the additions does not matter (after Demmel and Nguyen, "Parallel
// Reproducible Summation", 2015, with integers in place of floats).
//
// A finite float64 is an integer of 53 bits times 2^(position−1074). The integer, at its
// position, is divided at the multiples of binBits into pieces of binBits bits. A bin is the
// sum of the pieces of one multiple, as a signed word: 2^35 of them cannot overflow it.
// The state keeps the bins from the highest one that the largest exponent in the group can
// reach down: three that hold all bits of the value with this exponent, and one more, or two
// more for sums of products. It drops the pieces of lower bins. There are no carries between bins before the end, so
// the bins that are kept depend on the values alone, not on their order or on how partial
// states were merged.
//
// A sum of n values differs from the exact sum by less than n·2^−80 times the largest
// magnitude, before it is rounded to float64 once; a sum of products by less than n·2^−108.
const (
	binBits     = 28
	sumBinCount = 4
	// sumPieceCount is the number of pieces of a value.
	sumPieceCount = 3
	// powerBinCount is the number of bins of sums of products, which have 106 bits.
	powerBinCount = 5

	// The words of a state: the number of the lowest bin of the value with the largest
	// exponent plus 1, or 0 if all values are zero, infinite or NaN; which of these have
	// occurred; and the bins, the highest first.
	sumTop   = 0
	sumFlags = 1
	sumBins  = 2

	flagNaN      = 1
	flagPositive = 2
	flagNegative = 4
	// flagWindowAt and flagWindowBelow are set in a state with the sum of a window (fixed_point.go):
	// the lowest bin of the window is that of the lowest bin of the value with the largest exponent,
	// or the one below. The bins above carry what belongs to that bin, so it cannot be dropped any more:
	// flagInexact is set if it was.
	flagInexact     = 8
	flagWindowBelow = 16
	flagWindowAt    = 32
)

// movedFlags returns the flags of a state of which the top is raised by some bins.
func movedFlags(flags, bins uint64) uint64 {
	at, below := flags&flagWindowAt, flags&flagWindowBelow
	if bins == 0 || at|below == 0 {
		return flags
	}
	flags &^= flagWindowAt | flagWindowBelow
	if bins > 1 || below != 0 {
		flags |= flagInexact
	}
	if bins == 1 && at != 0 {
		flags |= flagWindowBelow
	}
	return flags
}

// pieces is a float64 as pieces.
type pieces struct {
	// top is the number of the lowest piece plus 1, or 0 without pieces.
	top   uint64
	flags uint64
	// piece has the pieces of this bin and of the two above, the highest first.
	piece [sumPieceCount]uint64
}

func piecesOf(x float64) (p pieces) {
	image := math.Float64bits(x)
	exponent, significand := image>>52&0x7ff, image&(1<<52-1)
	switch {
	case exponent == 0x7ff && significand != 0:
		p.flags = flagNaN
		return p
	case exponent == 0x7ff:
		p.flags = flagPositive << (image >> 63)
		return p
	case exponent == 0 && significand == 0:
		return p
	case exponent == 0:
		exponent = 1
	default:
		significand |= 1 << 52
	}
	position := exponent - 1
	lowest, shift := position/binBits, position%binBits
	low, high := significand<<shift, significand>>(64-shift)
	p.top = lowest + 1
	p.piece = [sumPieceCount]uint64{low>>(2*binBits) | high<<(64-2*binBits), low >> binBits & (1<<binBits - 1), low & (1<<binBits - 1)}
	if image>>63 != 0 {
		for i := range p.piece {
			p.piece[i] = -p.piece[i]
		}
	}
	return p
}

// addFloat adds a value to a state.
func addFloat(state []uint64, x float64) {
	image := math.Float64bits(x)
	position := image>>52&0x7ff - 1
	if below := state[sumTop] - position/binBits - 1; position < 0x7fe && below <= uint64(len(state)-sumBins-sumPieceCount) {
		// A normal number with all pieces in bins: most are, and the low parts of most products.
		significand, shift := image&(1<<52-1)|1<<52, position%binBits
		low, high := significand<<shift, significand>>(64-shift)
		sign := uint64(int64(image) >> 63)
		bins := (*[sumPieceCount]uint64)(state[sumBins+below:])
		bins[0] += ((low>>(2*binBits) | high<<(64-2*binBits)) ^ sign) - sign
		bins[1] += ((low >> binBits & (1<<binBits - 1)) ^ sign) - sign
		bins[2] += ((low & (1<<binBits - 1)) ^ sign) - sign
		return
	}
	p := piecesOf(x)
	state[sumFlags] |= p.flags
	if p.top == 0 {
		return
	}
	raiseTop(state, p.top)
	below := state[sumTop] - p.top
	for i, piece := range p.piece {
		if at := uint64(i) + below; at < uint64(len(state)-sumBins) {
			state[sumBins+at] += piece
		}
	}
}

// raiseTop moves the bins of a state down to a higher top.
func raiseTop(state []uint64, top uint64) {
	if top <= state[sumTop] {
		return
	}
	down := top - state[sumTop]
	for i := len(state) - sumBins - 1; i >= 0; i-- {
		moved := uint64(0)
		if uint64(i) >= down {
			moved = state[sumBins+uint64(i)-down]
		}
		state[sumBins+i] = moved
	}
	state[sumTop], state[sumFlags] = top, movedFlags(state[sumFlags], down)
}

// mergeFloats adds a state to another one.
func mergeFloats(state, other []uint64) {
	if other[sumTop] == 0 {
		state[sumFlags] |= other[sumFlags]
		return
	}
	raiseTop(state, other[sumTop])
	below := state[sumTop] - other[sumTop]
	state[sumFlags] |= movedFlags(other[sumFlags], below)
	bins := uint64(len(state) - sumBins)
	for i := range bins {
		if at := i + below; at < bins {
			state[sumBins+at] += other[sumBins+i]
		}
	}
}

// wide is an integer of 192 bits in two's complement, the lowest word first.
type wide [3]uint64

func (w wide) add(other wide) wide {
	low, carry := bits.Add64(w[0], other[0], 0)
	middle, carry := bits.Add64(w[1], other[1], carry)
	high, _ := bits.Add64(w[2], other[2], carry)
	return wide{low, middle, high}
}

func (w wide) negate() wide { return wide{^w[0], ^w[1], ^w[2]}.add(wide{1}) }

func (w wide) isNegative() bool { return int64(w[2]) < 0 }

// left returns w · 2^n for n below 192.
func (w wide) left(n uint) (shifted wide) {
	words, n := int(n/64), n%64
	for i := words; i < len(w); i++ {
		shifted[i] = w[i-words] << n
		if i > words {
			shifted[i] |= w[i-words-1] >> (64 - n)
		}
	}
	return shifted
}

// right returns ⌊w / 2^n⌋ for w without a sign and n below 192.
func (w wide) right(n uint) (shifted wide) {
	words, n := int(n/64), n%64
	for i := 0; i+words < len(w); i++ {
		shifted[i] = w[i+words] >> n
		if i+words+1 < len(w) {
			shifted[i] |= w[i+words+1] << (64 - n)
		}
	}
	return shifted
}

// length returns the number of bits of w without a sign.
func (w wide) length() int {
	for i := len(w) - 1; i >= 0; i-- {
		if w[i] != 0 {
			return 64*i + bits.Len64(w[i])
		}
	}
	return 0
}

// signed returns a signed word as a wide integer.
func signed(x uint64) wide {
	sign := uint64(int64(x) >> 63)
	return wide{x, sign, sign}
}

// round returns w · 2^exponent rounded to float64, and the rest that the rounding
// dropped, as an integer of the same unit.
func (w wide) round(exponent int) (x float64, rest wide) {
	negative := w.isNegative()
	if negative {
		w = w.negate()
	}
	length := w.length()
	if length == 0 {
		return 0, rest
	}
	// The last bit of the result is bit unit of w.
	unit := max(length-53, -1074-exponent)
	var significand uint64
	if unit <= 0 {
		significand = w.left(uint(-unit))[0]
	} else {
		kept := w.right(uint(unit))
		below := w.add(kept.left(uint(unit)).negate())
		half := wide{1}.left(uint(unit - 1))
		if difference := below.add(half.negate()); !difference.isNegative() && (difference != wide{} || kept[0]&1 != 0) {
			kept[0]++
			below = below.add(wide{1}.left(uint(unit)).negate())
		}
		significand, rest = kept[0], below
	}
	image := significand
	if significand>>52 != 0 {
		image = uint64(exponent+unit+1075)<<52 + significand - 1<<52
	}
	image = min(image, 0x7ff<<52)
	if negative {
		return math.Float64frombits(image | 1<<63), rest.negate()
	}
	return math.Float64frombits(image), rest
}

// sumOf returns the sum of a state in units of 2^exponent.
func sumOf(state []uint64) (total wide, exponent int) {
	bins := len(state) - sumBins
	for i := range bins {
		total = total.add(signed(state[sumBins+i]).left(uint(binBits * (bins - 1 - i))))
	}
	return total, binBits*(int(state[sumTop])-1-(bins-sumPieceCount)) - 1074
}

// floatSum returns the sum of a state, rounded once, and the rest that the rounding
// dropped.
func floatSum(state []uint64) double {
	switch flags := state[sumFlags]; {
	case flags&flagNaN != 0 || flags&(flagPositive|flagNegative) == flagPositive|flagNegative:
		return double{math.NaN(), 0}
	case flags&flagPositive != 0:
		return double{math.Inf(1), 0}
	case flags&flagNegative != 0:
		return double{math.Inf(-1), 0}
	}
	total, exponent := sumOf(state)
	x, rest := total.round(exponent)
	low, _ := rest.round(exponent)
	return double{x, low}
}

// double is an unevaluated sum of two floats, the second one below half of the last
// digit of the first.
type double struct{ high, low float64 }

// product returns x·y exactly, unless it overflows or underflows.
func product2(x, y float64) double {
	high := float64(x * y)
	return double{high, math.FMA(x, y, -high)}
}

func quickSum(x, y float64) double {
	high := x + y
	return double{high, y - (high - x)}
}

func (d double) plus(other double) double {
	high := d.high + other.high
	part := high - d.high
	low := (d.high - (high - part)) + (other.high - part)
	return quickSum(high, low+(d.low+other.low))
}

func (d double) minus(other double) double { return d.plus(double{-other.high, -other.low}) }

func (d double) times(other double) double {
	p := product2(d.high, other.high)
	return quickSum(p.high, p.low+(float64(d.high*other.low)+float64(d.low*other.high)))
}

func (d double) timesFloat(x float64) double { return d.times(double{x, 0}) }
