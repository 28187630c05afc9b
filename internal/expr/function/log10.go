package function

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/internal/ptx"
)

// A number is 2^k · m with m from √½ to √2, so its logarithm is k · log 2 + ln m · log e, with
// ln m = 2 · (s + s³/3 + s⁵/5 + …) and s = (m − 1)/(m + 1). Sums of two float64, of which the second
// is the rounding error of the first, keep twice the digits; only s³/3 and the following terms, which
// are less than a hundredth of s, have 53 bits. So the result is within 0.53 units in the last place,
// and those of powers of ten are whole. Every operation is rounded correctly, so the host and GPUs
// agree.
const (
	log2Head = 0x1.34413509f6p-2     // of 40 bits: its product with an exponent is exact
	log2Tail = 0x1.9fef311f12b36p-42 // log 2 without it
	logEHead = 0x1.bcb7b1526e50ep-2  // log e
	logETail = 0x1.95355baaafad3p-57 // log e without it
	rootHalf = 0x3fe6a09e667f3bcd    // the bits of √½
	subShift = 54                    // subnormal numbers are multiplied by 2^54
	least    = 0x1p-1022             // the least normal number
	fraction = 52                    // the bits of a number without sign and exponent
)

// atanhTerms are the factors of …, s⁵, s³.
var atanhTerms = [...]float64{2. / 21, 2. / 19, 2. / 17, 2. / 15, 2. / 13, 2. / 11, 2. / 9, 2. / 7, 2. / 5, 2. / 3}

var _ = register(Function{Name: "log10", Float: log10, Write: writeLog10})

func log10(x float64) float64 {
	switch {
	case x < 0 || x != x:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case math.IsInf(x, 1):
		return x
	}
	k := int64(0)
	if x < least {
		x, k = x*(1<<subShift), -subShift
	}
	bits := int64(math.Float64bits(x))
	e := (bits - rootHalf) >> fraction
	m, exponent := math.Float64frombits(uint64(bits-e<<fraction)), float64(k+e)

	f, d := m-1, m+1
	dTail := m - (d - 1)
	s := f / d
	sTail := math.FMA(-s, dTail, math.FMA(-s, d, f)) / d
	square := s * s
	series := 0.0
	for _, term := range atanhTerms {
		series = math.FMA(series, square, term)
	}
	ln := s + s
	lnTail := math.FMA(s*square, series, sTail+sTail)

	log := float64(ln * logEHead) // not fused with the additions
	logTail := math.FMA(lnTail, logEHead, math.FMA(ln, logETail, math.FMA(ln, logEHead, -log)))
	whole := exponent * log2Head
	sum := whole + log
	sumTail := log - (sum - whole)
	return sum + math.FMA(exponent, log2Tail, sumTail+logTail)
}

// constant returns a float64 as an operand.
func constant(x float64) ptx.Register {
	return ptx.Register(fmt.Sprintf("0d%016X", math.Float64bits(x)))
}

// floatWriter writes instructions of float64 that are rounded correctly.
type floatWriter struct{ *ptx.Builder }

func (w floatWriter) op(instruction string, x ...ptx.Register) ptx.Register {
	return w.Op(ptx.Float64, instruction, x...)
}

func (w floatWriter) add(x, y ptx.Register) ptx.Register    { return w.op("add.rn.f64", x, y) }
func (w floatWriter) sub(x, y ptx.Register) ptx.Register    { return w.op("sub.rn.f64", x, y) }
func (w floatWriter) mul(x, y ptx.Register) ptx.Register    { return w.op("mul.rn.f64", x, y) }
func (w floatWriter) fma(x, y, z ptx.Register) ptx.Register { return w.op("fma.rn.f64", x, y, z) }

func writeLog10(b *ptx.Builder, _ Type, operands []ptx.Register) ptx.Register {
	w := floatWriter{b}
	op, add, sub, mul, fma := w.op, w.add, w.sub, w.mul, w.fma
	word := func(instruction string, x ...ptx.Register) ptx.Register { return b.Op(ptx.Word64, instruction, x...) }
	compare := func(comparison string, y ptx.Register) ptx.Register {
		return b.Op(ptx.Predicate, comparison, operands[0], y)
	}

	small := compare("setp.lt.f64", constant(least))
	x := op("selp.f64", mul(operands[0], constant(1<<subShift)), operands[0], small)
	k := word("selp.b64", ptx.Register(fmt.Sprint(-subShift)), "0", small)
	bits := word("mov.b64", x)
	e := word("shr.s64", word("sub.s64", bits, ptx.Register(fmt.Sprint(int64(rootHalf)))), ptx.Register(fmt.Sprint(fraction)))
	m := op("mov.b64", word("sub.s64", bits, word("shl.b64", e, ptx.Register(fmt.Sprint(fraction)))))
	exponent := op("cvt.rn.f64.s64", word("add.s64", k, e))

	unit := constant(1)
	f, d := sub(m, unit), add(m, unit)
	dTail := sub(m, sub(d, unit))
	s := op("div.rn.f64", f, d)
	negative := op("neg.f64", s)
	sTail := op("div.rn.f64", fma(negative, dTail, fma(negative, d, f)), d)
	square := mul(s, s)
	series := constant(0)
	for _, term := range atanhTerms {
		series = fma(series, square, constant(term))
	}
	ln := add(s, s)
	lnTail := fma(mul(s, square), series, add(sTail, sTail))

	log := mul(ln, constant(logEHead))
	logTail := fma(lnTail, constant(logEHead), fma(ln, constant(logETail), fma(ln, constant(logEHead), op("neg.f64", log))))
	whole := mul(exponent, constant(log2Head))
	sum := add(whole, log)
	sumTail := sub(log, sub(sum, whole))
	result := add(sum, fma(exponent, constant(log2Tail), add(sumTail, logTail)))

	result = op("selp.f64", result, constant(math.Inf(1)), compare("setp.neu.f64", constant(math.Inf(1))))
	result = op("selp.f64", constant(math.Inf(-1)), result, compare("setp.eq.f64", constant(0)))
	return op("selp.f64", result, constant(math.NaN()), compare("setp.ge.f64", constant(0)))
}
