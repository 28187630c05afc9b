package aggregate

import (
	"math"
	"math/bits"
)

// Host holds the accumulators of a block's lanes, on the host.
type Host struct {
	kind Kind
	form Form
	// words are the lanes' states. For moments they are the count, the shift, the sum
	// and the sum of squares; for other kinds they are partials.
	words [4][Lanes]uint64
}

// NewHost returns lanes without rows.
func NewHost(kind Kind, form Form) *Host {
	h := &Host{kind: kind, form: form}
	h.Reset()
	return h
}

// Reset removes all rows.
func (h *Host) Reset() {
	for i, word := range h.kind.identity() {
		for lane := range Lanes {
			h.words[i][lane] = word
		}
	}
	if h.kind == Moments {
		h.words[3] = [Lanes]uint64{}
	}
}

// Add adds one row to each of the first len(keep) lanes. Lane i adds row first + i if
// keep[i] is true. The row's value is low[i], and for the form Wide high[i] is its high
// word.
func (h *Host) Add(low, high []uint64, keep []bool, first int64) {
	switch h.kind {
	case Count:
		for i, k := range keep {
			if k {
				h.words[0][i]++
			}
		}
	case SumInteger, CountTrue:
		for i, k := range keep {
			if k {
				h.words[0][i] += low[i]
			}
		}
	case SumWide:
		h.addWide(low, keep)
	case SumDecimal:
		for i, k := range keep {
			if k {
				h.addDecimal(i, low[i], high[i])
			}
		}
	case SumFloat:
		for i, k := range keep {
			if k {
				h.words[0][i] = addFloat(h.words[0][i], low[i])
			}
		}
	case Moments:
		for i, k := range keep {
			if k {
				h.addMoments(i, h.float(low[i]))
			}
		}
	default:
		for i, k := range keep {
			if k {
				h.addOne(i, low, high, first)
			}
		}
	}
}

// addWide adds integers with carry.
func (h *Host) addWide(low []uint64, keep []bool) {
	signed := h.form == Signed32 || h.form == Signed64
	for i, k := range keep {
		if !k {
			continue
		}
		var high, carry uint64
		if signed {
			high = uint64(int64(low[i]) >> 63)
		}
		h.words[0][i], carry = bits.Add64(h.words[0][i], low[i], 0)
		h.words[1][i] += high + carry
	}
}

// addDecimal adds a decimal with carry.
func (h *Host) addDecimal(i int, low, high uint64) {
	var carry uint64
	h.words[0][i], carry = bits.Add64(h.words[0][i], low, 0)
	h.words[1][i], carry = bits.Add64(h.words[1][i], high, carry)
	h.words[2][i] += uint64(int64(high)>>63) + carry
}

// addOne merges a row as a partial of one row.
func (h *Host) addOne(i int, low, high []uint64, first int64) {
	var value, into [3]uint64
	value[0] = low[i]
	if h.form == Wide {
		value[1] = high[i]
	}
	words := h.kind.Words()
	if h.kind >= FirstLeast {
		h.key(value[:])
		value[words-1] = uint64(first + int64(i))
	}
	for w := range words {
		into[w] = h.words[w][i]
	}
	MergeHost(h.kind, into[:words], value[:words])
	for w := range words {
		h.words[w][i] = into[w]
	}
}

// key converts values to keys, like the function key in PTX.
func (h *Host) key(words []uint64) {
	isFloat := h.form == Float32 || h.form == Float64
	x := math.Float64frombits(words[0])
	switch {
	case isFloat && x != x:
		words[0] = NoRow
		return
	case isFloat:
		word := math.Float64bits(x + 0)
		words[0] = word ^ uint64(int64(word)>>63)>>1
	case h.form == Unsigned64:
		words[0] ^= 1 << 63
	}
	if h.kind == FirstGreatest || h.kind == FirstGreatestWide {
		words[0], words[1] = ^words[0], ^words[1]
	}
}

// float returns a value as a float64.
func (h *Host) float(word uint64) float64 {
	switch h.form {
	case Signed32, Signed64:
		return float64(int64(word))
	case Unsigned32, Unsigned64:
		return float64(word)
	}
	return math.Float64frombits(word)
}

// addMoments corresponds to Lane.addMoments. The conversions prevent the compiler from
// fusing a multiplication with an addition, here and below.
func (h *Host) addMoments(i int, x float64) {
	if h.words[0][i] == 0 {
		h.words[1][i] = math.Float64bits(x)
	}
	distance := x - math.Float64frombits(h.words[1][i])
	h.words[0][i]++
	h.words[2][i] = math.Float64bits(math.Float64frombits(h.words[2][i]) + distance)
	h.words[3][i] = math.Float64bits(math.Float64frombits(h.words[3][i]) + float64(distance*distance))
}

// Partial merges the lanes in the order of [Tree]. Reset the lanes before further use.
func (h *Host) Partial() []uint64 {
	words := h.kind.Words()
	all := make([]uint64, words*Lanes)
	for lane := range Lanes {
		partial := all[lane*words:][:words]
		if h.kind == Moments {
			h.partialMoments(lane, partial)
			continue
		}
		for w := range partial {
			partial[w] = h.words[w][lane]
		}
	}
	return MergeNeighbours(h.kind, all)
}

// MergeNeighbours merges the partials of [Lanes] lanes, stored consecutively, in the
// order of [Tree]. It overwrites them.
func MergeNeighbours(kind Kind, all []uint64) []uint64 {
	words := kind.Words()
	for distance := 1; distance < Lanes; distance *= 2 {
		for lane := 0; lane < Lanes; lane += 2 * distance {
			MergeHost(kind, all[lane*words:][:words], all[(lane+distance)*words:][:words])
		}
	}
	return all[:words]
}

func (h *Host) partialMoments(lane int, to []uint64) {
	shift, sum, squares := math.Float64frombits(h.words[1][lane]), math.Float64frombits(h.words[2][lane]), math.Float64frombits(h.words[3][lane])
	distance := sum / float64(max(h.words[0][lane], 1))
	squares -= float64(sum * distance)
	if squares < 0 {
		squares = 0
	}
	to[0], to[1], to[2] = h.words[0][lane], math.Float64bits(shift+distance), math.Float64bits(squares)
}

// IdentityHost returns the partial of no rows.
func IdentityHost(kind Kind) []uint64 { return kind.identity() }

// MergeHost merges the partial of later rows into the partial of earlier ones, as
// [Merge] does on a GPU.
func MergeHost(kind Kind, into, later []uint64) {
	switch kind {
	case Count, CountTrue, SumInteger:
		into[0] += later[0]
	case ProductInteger:
		into[0] *= later[0]
	case SumWide:
		var carry uint64
		into[0], carry = bits.Add64(into[0], later[0], 0)
		into[1], _ = bits.Add64(into[1], later[1], carry)
	case SumDecimal:
		var carry uint64
		into[0], carry = bits.Add64(into[0], later[0], 0)
		into[1], carry = bits.Add64(into[1], later[1], carry)
		into[2], _ = bits.Add64(into[2], later[2], carry)
	case SumFloat:
		into[0] = addFloat(into[0], later[0])
	case ProductFloat:
		into[0] = math.Float64bits(math.Float64frombits(into[0]) * math.Float64frombits(later[0]))
	case MinSigned:
		into[0] = uint64(min(int64(into[0]), int64(later[0])))
	case MaxSigned:
		into[0] = uint64(max(int64(into[0]), int64(later[0])))
	case MinUnsigned:
		into[0] = min(into[0], later[0])
	case MaxUnsigned:
		into[0] = max(into[0], later[0])
	case MinFloat, MaxFloat:
		into[0] = extremeFloat(kind, into[0], later[0])
	case MinWide:
		if lessWideHost(later, into) {
			copy(into, later)
		}
	case MaxWide:
		if lessWideHost(into, later) {
			copy(into, later)
		}
	case Moments:
		mergeMomentsHost(into, later)
	default:
		if beforeHost(later, into) {
			copy(into, later)
		}
	}
}
