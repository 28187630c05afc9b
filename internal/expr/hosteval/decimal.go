package hosteval

import (
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// magnitude is an unsigned 128-bit number.
type magnitude struct{ high, low uint64 }

func magnitudeOf(d decimal128.Num) (m magnitude, negative bool) {
	m = magnitude{uint64(d.HighBits()), d.LowBits()}
	if d.HighBits() < 0 {
		return m.negated(), true
	}
	return m, false
}

func (m magnitude) negated() magnitude {
	low, borrow := bits.Sub64(0, m.low, 0)
	high, _ := bits.Sub64(0, m.high, borrow)
	return magnitude{high, low}
}

func (m magnitude) less(other magnitude) bool {
	return m.high < other.high || m.high == other.high && m.low < other.low
}

func (m magnitude) signed(negative bool) decimal128.Num {
	if negative {
		m = m.negated()
	}
	return decimal128.New(int64(m.high), m.low)
}

// times returns the product, and whether it fits 128 bits.
func (m magnitude) times(other magnitude) (magnitude, bool) {
	if m.high != 0 && other.high != 0 {
		return magnitude{}, false
	}
	high, low := bits.Mul64(m.low, other.low)
	over1, cross1 := bits.Mul64(m.high, other.low)
	over2, cross2 := bits.Mul64(m.low, other.high)
	high, carry1 := bits.Add64(high, cross1, 0)
	high, carry2 := bits.Add64(high, cross2, 0)
	return magnitude{high, low}, over1|over2|carry1|carry2 == 0
}

// over returns the quotient, rounded down.
func (m magnitude) over(divisor magnitude) magnitude {
	if divisor.high == 0 {
		high, rest := m.high/divisor.low, m.high%divisor.low
		low, _ := bits.Div64(rest, m.low, divisor.low)
		return magnitude{high, low}
	}
	// The quotient has less than 64 bits: compute it bit by bit.
	var quotient uint64
	for shift := bits.LeadingZeros64(divisor.high) - bits.LeadingZeros64(m.high); shift >= 0; shift-- {
		shifted := magnitude{divisor.high<<shift | divisor.low>>(64-shift), divisor.low << shift}
		quotient <<= 1
		if !m.less(shifted) {
			low, borrow := bits.Sub64(m.low, shifted.low, 0)
			high, _ := bits.Sub64(m.high, shifted.high, borrow)
			m = magnitude{high, low}
			quotient |= 1
		}
	}
	return magnitude{0, quotient}
}

// powers are the powers of ten up to the 38 digits of a decimal128.
var powers = func() (p [39]magnitude) {
	p[0] = magnitude{0, 1}
	for i := 1; i < len(p); i++ {
		p[i], _ = p[i-1].times(magnitude{0, 10})
	}
	return p
}()

// fits reports whether a decimal of the type can have the magnitude.
func (m magnitude) fits(t arrow.DataType) bool {
	return m.less(powers[t.(*arrow.Decimal128Type).Precision])
}

func scaleOf(t arrow.DataType) int { return int(t.(*arrow.Decimal128Type).Scale) }

func (e *evaluation) decimals(n *exprtree.Node) arrow.Array {
	if len(n.Arguments) == 2 {
		loop := decimalLoop(n.Op, n.Type)
		if loop == nil {
			return nil
		}
		return e.checkedBinary(n, loop)
	}
	x := laneOf[decimal128.Num](e, n.Arguments[0])
	switch n.Op {
	case exprtree.Negate:
		return build(e, n.Type, func(i int) (decimal128.Num, bool) { return x.at(i).Negate(), x.ok(i) })
	case exprtree.Abs:
		return build(e, n.Type, func(i int) (decimal128.Num, bool) { return x.at(i).Abs(), x.ok(i) })
	case exprtree.Sign:
		return build(e, n.Type, func(i int) (int64, bool) { return int64(x.at(i).Sign()), x.ok(i) })
	}
	return nil
}

// floatPowers are the powers of ten, each rounded once.
var floatPowers = [39]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
	1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31, 1e32, 1e33, 1e34, 1e35, 1e36, 1e37, 1e38,
}

// toFloat converts as documented for exprtree.Cast.
func toFloat(d decimal128.Num, scale int) float64 {
	m, negative := magnitudeOf(d)
	value := math.FMA(float64(m.high), 1<<64, float64(m.low)) / floatPowers[scale]
	if negative {
		return -value
	}
	return value
}

// fromFloat converts as documented for exprtree.Cast; ok is false for too many digits.
func fromFloat(value float64, t arrow.DataType) (decimal128.Num, bool) {
	scaled := math.Round(value * floatPowers[scaleOf(t)]) // half away from zero
	if !(math.Abs(scaled) < 1<<127) {                     // also for NaN
		return decimal128.Num{}, false
	}
	high := math.Floor(math.Abs(scaled) / (1 << 64))
	m := magnitude{uint64(high), uint64(math.Abs(scaled) - high*(1<<64))}
	return m.signed(scaled < 0), m.fits(t)
}

// rescaled returns the magnitude at another scale, rounded half up if the scale decreases.
func rescaled(m magnitude, from, to int) (magnitude, bool) {
	if to >= from {
		return m.times(powers[to-from])
	}
	divisor := powers[from-to]
	low, carry := bits.Add64(m.low, divisor.low>>1|divisor.high<<63, 0) // powers of ten are even
	high, _ := bits.Add64(m.high, divisor.high>>1, carry)
	return magnitude{high, low}.over(divisor), true
}
