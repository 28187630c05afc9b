package data

import "math/bits"

// random is a sequence of random numbers: SplitMix64.
type random struct{ state uint64 }

// golden is the odd number nearest to 2⁶⁴ divided by the golden ratio.
const golden = 0x9e3779b97f4a7c15

// scramble is the output function of SplitMix64. It is a bijection.
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// randomOf returns the sequence of a row of a stream. Streams are independent of each other.
func randomOf(seed, stream uint64, row int64) random {
	return random{scramble(scramble(scramble(seed+golden)+stream) + uint64(row))}
}

func (r *random) next() uint64 {
	r.state += golden
	return scramble(r.state)
}

// below returns a number in [0, n).
func (r *random) below(n int64) int64 {
	high, _ := bits.Mul64(r.next(), uint64(n))
	return int64(high)
}

// between returns a number in [low, high].
func (r *random) between(low, high int64) int64 { return low + r.below(high-low+1) }

// pick returns one of some texts.
func (r *random) pick(list []string) string { return list[r.below(int64(len(list)))] }
