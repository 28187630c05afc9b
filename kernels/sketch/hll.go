package sketch

import (
	"math"
	"math/bits"
	"slices"
)

// The limits of the logarithm of the number of registers of a HLL sketch.
const (
	LeastLgK = 4
	MostLgK  = 21
)

// A coupon is a hash of a value: the register of a HLL sketch in the low 26 bits, and the number of leading zeros, plus 1,
// above them. 0 is no coupon.
type coupon uint32

const (
	addressBits = 26
	mostRank    = 63
)

func couponOf(data []byte) coupon {
	h1, h2 := murmur(data)
	return coupon(min(bits.LeadingZeros64(h2), mostRank-1)+1)<<addressBits | coupon(h1&(1<<addressBits-1))
}

func (c coupon) rank() uint8 { return uint8(c >> addressBits) }

// hll is a HLL sketch: coupons, or registers as soon as these take less memory.
type hll struct {
	lgK int
	// coupons has each coupon once, in order, up to distinct. The others follow in the order in which they were added.
	coupons   []coupon
	distinct  int
	registers []uint8
}

func newHLL(lgK int) *hll { return &hll{lgK: lgK} }

// mostCoupons is the number of coupons from which on a sketch has registers.
func (h *hll) mostCoupons() int {
	const lgSmall, small = 8, 8 // up to 2^8 registers, the list of 8 coupons is followed by registers
	if h.lgK < lgSmall {
		return small
	}
	return 3 << (h.lgK - 3) >> 2
}

func (h *hll) add(c coupon) {
	if h.registers != nil {
		slot := uint32(c) & (1<<h.lgK - 1)
		h.registers[slot] = max(h.registers[slot], c.rank())
		return
	}
	const fewest = 32
	h.coupons = append(h.coupons, c)
	if len(h.coupons) >= max(2*h.distinct, fewest) {
		h.sort()
	}
}

// sort orders the coupons, and replaces them by registers if they are many.
func (h *hll) sort() {
	if len(h.coupons) == h.distinct {
		return
	}
	slices.Sort(h.coupons)
	h.coupons = slices.Compact(h.coupons)
	if h.distinct = len(h.coupons); h.distinct >= h.mostCoupons() {
		h.spread()
	}
}

// spread replaces the coupons by registers.
func (h *hll) spread() {
	if h.registers != nil {
		return
	}
	h.registers = make([]uint8, 1<<h.lgK)
	for _, c := range h.coupons {
		h.add(c)
	}
	h.coupons, h.distinct = nil, 0
}

// merge adds the values of a sketch with as many registers or more.
func (h *hll) merge(other *hll) {
	if other.registers == nil {
		for _, c := range other.coupons {
			h.add(c)
		}
		return
	}
	h.spread()
	mask := 1<<h.lgK - 1
	for slot, rank := range other.registers { // the low bits of a value's register are the same in both
		h.registers[slot&mask] = max(h.registers[slot&mask], rank)
	}
}

// estimate returns the number of distinct values. That of coupons corrects for coupons that several values have, that of
// registers is Ertl's improved estimator, which needs no constants that were measured.
func (h *hll) estimate() float64 {
	h.sort()
	if h.registers == nil {
		const addresses = 1 << addressBits
		return -addresses * math.Log1p(-float64(len(h.coupons))/addresses)
	}
	const beyond = mostRank + 1
	var counts [beyond + 1]float64
	for _, rank := range h.registers {
		counts[min(rank, beyond)]++
	}
	m := float64(len(h.registers))
	if counts[0] == m {
		return 0
	}
	z := m * tau(1-counts[beyond]/m)
	for rank := mostRank; rank >= 1; rank-- {
		z = (z + counts[rank]) / 2
	}
	z += m * sigma(counts[0]/m)
	return m * m / (2 * math.Ln2 * z)
}

// sigma corrects for registers without a value: x is their share.
func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	sum, weight := x, 1.0
	for before := -1.0; sum != before; {
		x *= x
		before = sum
		sum += x * weight
		weight *= 2
	}
	return sum
}

// tau corrects for registers with the greatest rank: 1 − x is their share.
func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	sum, weight := 1-x, 1.0
	for before := -1.0; sum != before; {
		x = math.Sqrt(x)
		before = sum
		weight /= 2
		sum -= (1 - x) * (1 - x) * weight
	}
	return sum / 3
}
