package function

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/internal/ptx"
)

// calculator computes formulas. A formula is a generic function of a calculator and its numbers, so that
// it is written once: the host computes with float64 and GPUs get its instructions, and both round each
// operation in the same way.
type calculator[N any] interface {
	constant(x float64) N
	add(x, y N) N
	sub(x, y N) N
	mul(x, y N) N
	div(x, y N) N
	// fma is x · y + z, rounded once.
	fma(x, y, z N) N
	sqrt(x N) N
	abs(x N) N
	// nearest is the nearest whole number, ties to even.
	nearest(x N) N
	// power is 2^k of a whole number from −1022 to 1023.
	power(k N) N
	// split returns m from √½ to √2 and k with x = m · 2^k, of a positive normal number.
	split(x N) (m, k N)
	// signed is the magnitude of x with the sign of y, which zeros and NaN have too.
	signed(x, y N) N
	// less returns one of two numbers by x < y, equal by x = y. Both are false of NaN.
	less(x, y, isTrue, isFalse N) N
	equal(x, y, isTrue, isFalse N) N
}

// onHost is the calculator of the host. The conversions of products prevent that Go fuses them.
type onHost struct{}

func (onHost) constant(x float64) float64  { return x }
func (onHost) add(x, y float64) float64    { return float64(x + y) }
func (onHost) sub(x, y float64) float64    { return float64(x - y) }
func (onHost) mul(x, y float64) float64    { return float64(x * y) }
func (onHost) div(x, y float64) float64    { return x / y }
func (onHost) fma(x, y, z float64) float64 { return math.FMA(x, y, z) }
func (onHost) sqrt(x float64) float64      { return math.Sqrt(x) }
func (onHost) abs(x float64) float64       { return math.Abs(x) }
func (onHost) nearest(x float64) float64   { return math.RoundToEven(x) }
func (onHost) signed(x, y float64) float64 { return math.Copysign(x, y) }

func (onHost) power(k float64) float64 {
	if k != k {
		k = 0 // as GPUs convert it
	}
	return math.Float64frombits(uint64(int64(k)+1023) << fraction)
}

func (onHost) split(x float64) (m, k float64) {
	bits := int64(math.Float64bits(x))
	e := (bits - rootHalf) >> fraction
	return math.Float64frombits(uint64(bits - e<<fraction)), float64(e)
}

func (onHost) less(x, y, isTrue, isFalse float64) float64 {
	if x < y {
		return isTrue
	}
	return isFalse
}

func (onHost) equal(x, y, isTrue, isFalse float64) float64 {
	if x == y {
		return isTrue
	}
	return isFalse
}

// register64 is a register with a float64.
type register64 = ptx.Register

// onDevice is the calculator that writes instructions.
type onDevice struct{ floatWriter }

func (d onDevice) constant(x float64) ptx.Register    { return constant(x) }
func (d onDevice) div(x, y ptx.Register) ptx.Register { return d.op("div.rn.f64", x, y) }
func (d onDevice) sqrt(x ptx.Register) ptx.Register   { return d.op("sqrt.rn.f64", x) }
func (d onDevice) abs(x ptx.Register) ptx.Register    { return d.op("abs.f64", x) }
func (d onDevice) nearest(x ptx.Register) ptx.Register {
	return d.op("cvt.rni.f64.f64", x)
}

func (d onDevice) word(instruction string, x ...ptx.Register) ptx.Register {
	return d.Op(ptx.Word64, instruction, x...)
}

func (d onDevice) power(k ptx.Register) ptx.Register {
	biased := d.word("add.s64", d.word("cvt.rzi.s64.f64", k), "1023")
	return d.op("mov.b64", d.word("shl.b64", biased, whole(fraction)))
}

func (d onDevice) split(x ptx.Register) (m, k ptx.Register) {
	bits := d.word("mov.b64", x)
	e := d.word("shr.s64", d.word("sub.s64", bits, whole(rootHalf)), whole(fraction))
	return d.op("mov.b64", d.word("sub.s64", bits, d.word("shl.b64", e, whole(fraction)))), d.op("cvt.rn.f64.s64", e)
}

func (d onDevice) signed(x, y ptx.Register) ptx.Register {
	sign := d.word("and.b64", d.word("mov.b64", y), whole(math.MinInt64))
	return d.op("mov.b64", d.word("or.b64", d.word("mov.b64", d.abs(x)), sign))
}

func (d onDevice) less(x, y, isTrue, isFalse ptx.Register) ptx.Register {
	return d.op("selp.f64", isTrue, isFalse, d.Op(ptx.Predicate, "setp.lt.f64", x, y))
}

func (d onDevice) equal(x, y, isTrue, isFalse ptx.Register) ptx.Register {
	return d.op("selp.f64", isTrue, isFalse, d.Op(ptx.Predicate, "setp.eq.f64", x, y))
}

// whole returns an integer as an operand.
func whole(x int64) ptx.Register { return ptx.Register(fmt.Sprint(x)) }

// The two forms of a formula of one number and of two.
type (
	hostFormula    = func(c onHost, x float64) float64
	deviceFormula  = func(c onDevice, x ptx.Register) ptx.Register
	hostFormula2   = func(c onHost, x, y float64) float64
	deviceFormula2 = func(c onDevice, x, y ptx.Register) ptx.Register
)

func registerFormula(name string, host hostFormula, device deviceFormula) *Function {
	return register(Function{
		Name:  name,
		Float: func(x float64) float64 { return host(onHost{}, x) },
		Write: func(b *ptx.Builder, _ Type, x []ptx.Register) ptx.Register {
			return device(onDevice{floatWriter{b}}, x[0])
		},
	})
}

func registerFormula2(name string, host hostFormula2, device deviceFormula2) *Function {
	return register(Function{
		Name:   name,
		Floats: func(x, y float64) float64 { return host(onHost{}, x, y) },
		Write: func(b *ptx.Builder, _ Type, x []ptx.Register) ptx.Register {
			return device(onDevice{floatWriter{b}}, x[0], x[1])
		},
	})
}

// sum returns x + y and its rounding error.
func sum[N any, C calculator[N]](c C, x, y N) (total, rest N) {
	total = c.add(x, y)
	part := c.sub(total, x)
	return total, c.add(c.sub(x, c.sub(total, part)), c.sub(y, part))
}

// negative returns −x.
func negative[N any, C calculator[N]](c C, x N) N { return c.mul(x, c.constant(-1)) }

// series returns the polynomial with some factors, that of the highest power first.
func series[N any, C calculator[N]](c C, x N, factors []float64) N {
	result := c.constant(factors[0])
	for _, factor := range factors[1:] {
		result = c.fma(result, x, c.constant(factor))
	}
	return result
}
