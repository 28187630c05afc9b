package aggregate

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/internal/ptx"
)

// Means are divisions by counts. ptxas expands div.rn.f64 with an additional hundred
// instructions for infinities and for operands and results near the limits of float64,
// which the driver takes 5 ms to compile. Counts are whole numbers of up to 2^64, so
// fewer cases are needed here.

// divideWhole writes x / y, rounded to nearest, for a whole number y from 1 to 2^64 and
// a finite x that is zero or has a magnitude of at least 2^-900. It uses Newton's
// iteration and a last step with the exact remainder (Markstein, IBM Journal of
// Research and Development 34, 1990). For other x the result is approximate, or NaN if
// x is not finite.
func divideWhole(b *ptx.Builder, x, y ptx.Register) ptx.Register {
	fma := func(x, y, z ptx.Register) ptx.Register { return b.Op(ptx.Word64, "fma.rn.f64", x, y, z) }
	const unit = ptx.Register("0d3FF0000000000000")
	negative := b.Op(ptx.Word64, "neg.f64", y)
	inverse := b.Op(ptx.Word64, "rcp.approx.ftz.f64", y) // precise to 20 bits or more
	wrong := fma(negative, inverse, unit)
	inverse = fma(inverse, fma(wrong, wrong, wrong), inverse)
	inverse = fma(inverse, fma(negative, inverse, unit), inverse)
	quotient := b.Op(ptx.Word64, "mul.rn.f64", x, inverse)
	return fma(fma(negative, quotient, x), inverse, quotient)
}

// Magnitudes below tiny are multiplied by larger before the division, and the quotient
// is scaled back. Subnormal quotients are rounded twice.
const tiny, larger = 0x1p-900, 0x1p256

// DivideByCount writes x / y of any float64 and a whole number from 1 to 2^64 as a
// float64. [DivideByCountHost] gives the same result, except for the bits of NaN.
func DivideByCount(b *ptx.Builder, x, y ptx.Register) ptx.Register {
	absolute := b.Op(ptx.Word64, "abs.f64", x)
	small := b.Op(ptx.Predicate, "setp.lt.f64", absolute, float(tiny))
	none := b.Op(ptx.Predicate, "setp.eq.f64", absolute, zero)
	finite := b.Op(ptx.Predicate, "setp.lt.f64", absolute, float(math.Inf(1)))
	unit := immediate(math.Float64bits(1))
	up := b.Op(ptx.Word64, "selp.b64", immediate(math.Float64bits(larger)), unit, small)
	down := b.Op(ptx.Word64, "selp.b64", immediate(math.Float64bits(1/larger)), unit, small)
	quotient := divideWhole(b, b.Op(ptx.Word64, "mul.rn.f64", x, up), y)
	quotient = b.Op(ptx.Word64, "mul.rn.f64", quotient, down)
	// For zeros, infinities and NaN the result is x.
	quotient = b.Op(ptx.Word64, "selp.b64", quotient, x, finite)
	return b.Op(ptx.Word64, "selp.b64", x, quotient, none)
}

// float returns a float64 as an operand.
func float(x float64) ptx.Register {
	return ptx.Register(fmt.Sprintf("0d%016X", math.Float64bits(x)))
}

// DivideByCountHost returns x / y for a whole number y that is not zero.
func DivideByCountHost(x float64, y uint64) float64 {
	if math.Abs(x) < tiny {
		return float64(x*larger) / float64(y) * (1 / larger)
	}
	return x / float64(y)
}
