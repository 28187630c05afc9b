package aggregate

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/internal/ptx"
)

// Means are divisions by counts. What div.rn.f64 becomes has a hundred instructions
// beside for infinities, and for operands and results at the ends of float64's range,
// for which the driver takes 5 ms to compile. Counts are whole numbers of up to 2^64,
// so there is less to look at here.

// divideWhole writes x / y, rounded to nearest, where y is a whole number from 1 to
// 2^64 and x is zero or at least 2^-900 away from it, and finite: by Newton's iteration
// and a last step with the exact remainder (Markstein, IBM Journal of Research and
// Development 34, 1990). Else the result is close, or NaN where x is not finite.
func divideWhole(b *ptx.Builder, x, y ptx.Register) ptx.Register {
	fma := func(x, y, z ptx.Register) ptx.Register { return b.Op(ptx.Word64, "fma.rn.f64", x, y, z) }
	const unit = ptx.Register("0d3FF0000000000000")
	negative := b.Op(ptx.Word64, "neg.f64", y)
	inverse := b.Op(ptx.Word64, "rcp.approx.ftz.f64", y) // of 20 bits or more
	wrong := fma(negative, inverse, unit)
	inverse = fma(inverse, fma(wrong, wrong, wrong), inverse)
	inverse = fma(inverse, fma(negative, inverse, unit), inverse)
	quotient := b.Op(ptx.Word64, "mul.rn.f64", x, inverse)
	return fma(fma(negative, quotient, x), inverse, quotient)
}

// Numbers below tiny are divided as multiples by larger, and the quotient is brought
// back: it is rounded twice where it is subnormal.
const tiny, larger = 0x1p-900, 0x1p256

// DivideByCount writes x / y of any float64 and a whole number from 1 to 2^64 as a
// float64. [DivideByCountHost] gives the same, but for what NaN it is.
func DivideByCount(b *ptx.Builder, x, y ptx.Register) ptx.Register {
	absolute := b.Op(ptx.Word64, "abs.f64", x)
	small := b.Op(ptx.Predicate, "setp.lt.f64", absolute, float(tiny))
	none := b.Op(ptx.Predicate, "setp.eq.f64", absolute, zero)
	finite := b.Op(ptx.Predicate, "setp.lt.f64", absolute, float(math.Inf(1)))
	one := immediate(math.Float64bits(1))
	up := b.Op(ptx.Word64, "selp.b64", immediate(math.Float64bits(larger)), one, small)
	down := b.Op(ptx.Word64, "selp.b64", immediate(math.Float64bits(1/larger)), one, small)
	quotient := divideWhole(b, b.Op(ptx.Word64, "mul.rn.f64", x, up), y)
	quotient = b.Op(ptx.Word64, "mul.rn.f64", quotient, down)
	// Zeros, infinities and NaN stay what they are.
	quotient = b.Op(ptx.Word64, "selp.b64", quotient, x, finite)
	return b.Op(ptx.Word64, "selp.b64", x, quotient, none)
}

// float is a float64 as an operand.
func float(x float64) ptx.Register {
	return ptx.Register(fmt.Sprintf("0d%016X", math.Float64bits(x)))
}

// DivideByCountHost is x / y, where y is a whole number that is not zero.
func DivideByCountHost(x float64, y uint64) float64 {
	if math.Abs(x) < tiny {
		return float64(x*larger) / float64(y) * (1 / larger)
	}
	return x / float64(y)
}
