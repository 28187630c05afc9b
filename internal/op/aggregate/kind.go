package aggregate

import "math"

// Kind is the kind of an accumulator.
type Kind uint8

// The kinds, with the words of their partials.
const (
	// Count counts rows, CountTrue rows with a true value: one word.
	Count Kind = iota
	CountTrue
	// SumInteger and ProductInteger have 64 bits and wrap around: one word.
	SumInteger
	ProductInteger
	// SumWide adds 64-bit integers in 128 bits, which no number of rows overflows: the
	// low word, then the high word.
	SumWide
	// SumDecimal adds decimals in 192 bits, which no number of rows overflows: three
	// words, the lowest first.
	SumDecimal
	// SumFloat and ProductFloat accumulate in float64: one word.
	SumFloat
	ProductFloat
	// MinSigned to MaxUnsigned compare integers: one word.
	MinSigned
	MaxSigned
	MinUnsigned
	MaxUnsigned
	// MinFloat and MaxFloat skip NaN if there are numbers, and order −0 before +0: one
	// word, a float64.
	MinFloat
	MaxFloat
	// MinWide and MaxWide compare decimals of one scale: the low word, then the high
	// word.
	MinWide
	MaxWide
	// Moments are the number of values, their mean, and the sum of the squared
	// deviations from it, the last two as float64: three words.
	Moments
	// FirstLeast and FirstGreatest find the first row of the smallest or largest value;
	// NaN is after all numbers. The words are the value as a signed key, which ascends
	// for both, and the row, or NoRow without rows. The wide kinds are for decimals and
	// have two words of key, the low word first.
	FirstLeast
	FirstGreatest
	FirstLeastWide
	FirstGreatestWide
)

// NoRow is the row of FirstLeast and similar kinds if no row was added.
const NoRow = math.MaxInt64

// Words returns the number of words of a partial.
func (k Kind) Words() int {
	switch k {
	case SumWide, MinWide, MaxWide, FirstLeast, FirstGreatest:
		return 2
	case SumDecimal, Moments, FirstLeastWide, FirstGreatestWide:
		return 3
	}
	return 1
}

// Long reports whether merging takes many instructions.
func (k Kind) Long() bool { return k >= Moments }

// Form is the form of values in registers and, in 64 bits, on the host.
type Form uint8

// The forms. On the host signed and unsigned integers are extended to 64 bits, floats
// are the bits of float64, and a boolean is 0 or 1.
const (
	Boolean    Form = iota // a predicate
	Signed32               // .b32
	Unsigned32             // .b32
	Signed64               // .b64
	Unsigned64             // .b64
	Float32                // .f32
	Float64                // .f64
	Wide                   // two of .b64, the low word first
)

const canonicalNaN = 0x7ff8000000000000

// identity returns the partial of no rows. Merged with another partial it gives the
// other one.
func (k Kind) identity() []uint64 {
	switch k {
	case ProductInteger:
		return []uint64{1}
	case SumWide:
		return []uint64{0, 0}
	case ProductFloat:
		return []uint64{math.Float64bits(1)}
	case MinSigned:
		return []uint64{math.MaxInt64}
	case MaxSigned:
		return []uint64{1 << 63}
	case MinUnsigned:
		return []uint64{math.MaxUint64}
	case MinFloat, MaxFloat:
		return []uint64{canonicalNaN}
	case MinWide:
		return []uint64{math.MaxUint64, math.MaxInt64}
	case MaxWide:
		return []uint64{0, 1 << 63}
	case SumDecimal, Moments:
		return []uint64{0, 0, 0}
	case FirstLeast, FirstGreatest:
		return []uint64{math.MaxInt64, NoRow}
	case FirstLeastWide, FirstGreatestWide:
		return []uint64{math.MaxUint64, math.MaxInt64, NoRow}
	}
	return []uint64{0}
}
