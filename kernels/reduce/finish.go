package reduce

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op/aggregate"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// The bits of every NaN result, on every device.
const (
	nan64 = 0x7ff8000000000000
	nan32 = 0x7fc00000
	nan16 = 0x7e00
)

// finish writes the code that makes the results, which one thread runs. finishHost does
// the same on the host.
func (w *writer) finish() {
	base := w.own(ownResults)
	for i, r := range w.plan.results {
		w.b.Comment("result %d", i)
		w.result(r, base, i*resultStride)
	}
}

// width returns the size of a type's values in bytes, 1 for bool.
func width(t arrow.DataType) int {
	if l, err := layout.Of(t); err == nil && (l.Kind == layout.Fixed || l.Kind == layout.Dictionary) {
		return l.Width
	}
	return 1
}

func (w *writer) result(r result, base ptx.Register, offset int) {
	b := w.b
	first, second := w.partials[r.first], w.partials[r.second]
	store := func(instruction string, offset int, value ptx.Register) {
		b.Void("st.global."+instruction, ptx.Register(fmt.Sprintf("[%s+%d]", base, offset)), value)
	}
	valid := ptx.Register("")
	var mean []ptx.Register
	switch r.finish {
	case finishCount:
		store("b64", offset, first[0])
		return
	case finishDifference:
		store("b64", offset, b.Op(ptx.Word64, "sub.s64", first[0], second[0]))
		return
	case finishVariance, finishDeviation:
		valid = b.Op(ptx.Predicate, "setp.gt.u64", first[0], number(r.freedom))
	case finishRow:
		valid = b.Op(ptx.Predicate, "setp.ne.s64", first[len(first)-1], number(int64(aggregate.NoRow)))
	default:
		valid = b.Op(ptx.Predicate, "setp.ne.u64", second[0], "0")
		switch r.finish {
		case finishSum:
			valid = b.Op(ptx.Predicate, "and.pred", valid, w.fits(w.plan.states[r.first], first))
		case finishMeanDecimal:
			mean = w.decimalMean(first, b.Op(ptx.Word64, "max.u64", second[0], "1"), r.factor)
			valid = b.Op(ptx.Predicate, "and.pred", valid, w.fits(w.plan.states[r.first], mean))
		}
	}
	store("u8", offset+validityOffset, b.Op(ptx.Word32, "selp.u32", "1", "0", valid))
	switch r.finish {
	case finishAny:
		isAny := b.Op(ptx.Predicate, "setp.ne.u64", first[0], "0")
		store("u8", offset, b.Op(ptx.Word32, "selp.u32", "1", "0", isAny))
	case finishAll:
		all := b.Op(ptx.Predicate, "setp.eq.u64", first[0], second[0])
		store("u8", offset, b.Op(ptx.Word32, "selp.u32", "1", "0", all))
	case finishRow:
		store("b64", offset, first[len(first)-1])
	case finishMean:
		sum := w.float(w.plan.states[r.first], first)
		store("b64", offset, w.canonical(aggregate.DivideByCount(b, sum, w.divisor(second[0]))))
	case finishVariance, finishDeviation:
		x := aggregate.DivideByCount(b, first[2], w.divisor(b.Op(ptx.Word64, "sub.u64", first[0], number(r.freedom))))
		if r.finish == finishDeviation {
			x = b.Op(ptx.Word64, "sqrt.rn.f64", x)
		}
		store("b64", offset, w.canonical(x))
	case finishMeanDecimal:
		store("b64", offset, mean[0])
		store("b64", offset+8, mean[1])
	case finishFloat:
		switch width(r.kind) {
		case 2:
			store("b16", offset, w.narrow(first[0], "f16", nan16))
		case 4:
			store("b32", offset, w.narrow(first[0], "f32", nan32))
		default:
			store("b64", offset, w.canonical(first[0]))
		}
	default:
		switch bytes := width(r.kind); bytes {
		case 16:
			store("b64", offset, first[0])
			store("b64", offset+8, first[1])
		case 8:
			store("b64", offset, first[0])
		default:
			store(fmt.Sprintf("u%d", 8*bytes), offset, b.Op(ptx.Word32, "cvt.u32.u64", first[0]))
		}
	}
}

// divisor returns a count as a float64, at least 1: without values the result is null.
func (w *writer) divisor(count ptx.Register) ptx.Register {
	return w.b.Op(ptx.Word64, "cvt.rn.f64.u64", w.b.Op(ptx.Word64, "max.u64", count, "1"))
}

func (w *writer) isNaN(x ptx.Register) ptx.Register {
	return w.b.Op(ptx.Predicate, "setp.nan.f64", x, x)
}

func (w *writer) canonical(x ptx.Register) ptx.Register {
	return w.b.Op(ptx.Word64, "selp.b64", number(int64(nan64)), x, w.isNaN(x))
}

// narrow converts a float64 back to the narrower float from which it was widened.
func (w *writer) narrow(x ptx.Register, to string, nan int) ptx.Register {
	b := w.b
	isNaN := w.isNaN(x)
	single := b.Op(ptx.Float32, "cvt.rn.f32.f64", x)
	bits := b.Op(ptx.Word32, "mov.b32", single)
	if to == "f16" {
		bits = b.Op(ptx.Word32, "cvt.u32.u16", b.Op(ptx.Word16, "cvt.rn.f16.f32", single))
	}
	return b.Op(ptx.Word32, "selp.b32", number(nan), bits, isNaN)
}

// float converts a sum to a float64.
func (w *writer) float(s state, sum []ptx.Register) ptx.Register {
	b := w.b
	switch {
	case s.kind == aggregate.SumFloat:
		return sum[0]
	case s.kind != aggregate.SumWide && isSigned(s.form):
		return b.Op(ptx.Word64, "cvt.rn.f64.s64", sum[0])
	case s.kind != aggregate.SumWide:
		return b.Op(ptx.Word64, "cvt.rn.f64.u64", sum[0])
	}
	negative := ptx.Register("")
	if isSigned(s.form) {
		sum, negative = w.magnitude(sum)
	}
	high := b.Op(ptx.Word64, "cvt.rn.f64.u64", sum[1])
	high = b.Op(ptx.Word64, "mul.rn.f64", high, "0d43F0000000000000") // 2⁶⁴
	x := b.Op(ptx.Word64, "add.rn.f64", high, b.Op(ptx.Word64, "cvt.rn.f64.u64", sum[0]))
	if negative != "" {
		x = b.Op(ptx.Word64, "selp.b64", b.Op(ptx.Word64, "neg.f64", x), x, negative)
	}
	return x
}

// fits returns the predicate that a sum fits the type of the result: 64 bits, signed
// like the values, or a decimal of 38 digits.
func (w *writer) fits(s state, sum []ptx.Register) ptx.Register {
	b := w.b
	switch {
	case s.kind == aggregate.SumDecimal:
		magnitude, _ := w.magnitude(sum)
		none := b.Op(ptx.Predicate, "setp.eq.u64", magnitude[2], "0")
		less := b.Op(ptx.Predicate, "setp.lt.u64", magnitude[1], hexadecimal(aggregate.TooLong[1]))
		equal := b.Op(ptx.Predicate, "setp.eq.u64", magnitude[1], hexadecimal(aggregate.TooLong[1]))
		low := b.Op(ptx.Predicate, "setp.lt.u64", magnitude[0], hexadecimal(aggregate.TooLong[0]))
		less = b.Op(ptx.Predicate, "or.pred", less, b.Op(ptx.Predicate, "and.pred", equal, low))
		return b.Op(ptx.Predicate, "and.pred", none, less)
	case isSigned(s.form):
		return b.Op(ptx.Predicate, "setp.eq.s64", sum[1], b.Op(ptx.Word64, "shr.s64", sum[0], "63"))
	}
	return b.Op(ptx.Predicate, "setp.eq.u64", sum[1], "0")
}

func hexadecimal(word uint64) ptx.Register { return ptx.Register(fmt.Sprintf("0x%x", word)) }

// magnitude returns the absolute value of a number of several words, the lowest word
// first, and the predicate that the number is negative.
func (w *writer) magnitude(x []ptx.Register) ([]ptx.Register, ptx.Register) {
	negative := w.b.Op(ptx.Predicate, "setp.lt.s64", x[len(x)-1], "0")
	return w.negateIf(x, negative), negative
}

// negateIf returns −x if a predicate holds, and x otherwise: all bits inverted, plus
// one.
func (w *writer) negateIf(x []ptx.Register, when ptx.Register) []ptx.Register {
	b := w.b
	carry := b.Op(ptx.Word64, "selp.u64", "1", "0", when)
	negated := make([]ptx.Register, len(x))
	for i, word := range x {
		inverted := b.Op(ptx.Word64, "selp.b64", b.Op(ptx.Word64, "not.b64", word), word, when)
		negated[i] = b.Op(ptx.Word64, "add.s64", inverted, carry)
		if i < len(x)-1 {
			overflowed := b.Op(ptx.Predicate, "setp.lt.u64", negated[i], carry)
			carry = b.Op(ptx.Word64, "selp.u64", "1", "0", overflowed)
		}
	}
	return negated
}

// decimalMean is [aggregate.DecimalMean]: the sum of decimals times a factor, divided by a count of at
// most 63 bits. It is a long division, one bit at a time, which one thread runs once.
func (w *writer) decimalMean(sum []ptx.Register, count ptx.Register, factor uint64) []ptx.Register {
	b := w.b
	magnitude, negative := w.magnitude(sum)
	words := w.times(magnitude, factor)
	rest := b.Op(ptx.Word64, "mov.u64", "0")
	bits := b.Op(ptx.Word32, "mov.u32", number(64*len(words)))
	again := b.Label()
	b.Place(again)
	// The quotient's bits enter at the low end while the dividend's leave at the high
	// end.
	top := b.Op(ptx.Word64, "shr.u64", words[len(words)-1], "63")
	b.Move("shl.b64", rest, rest, "1")
	b.Move("or.b64", rest, rest, top)
	for i := len(words) - 1; i > 0; i-- {
		b.Move("shl.b64", words[i], words[i], "1")
		b.Move("or.b64", words[i], words[i], b.Op(ptx.Word64, "shr.u64", words[i-1], "63"))
	}
	b.Move("shl.b64", words[0], words[0], "1")
	fits := b.Op(ptx.Predicate, "setp.ge.u64", rest, count)
	b.Emit("@%s sub.s64 %s, %s, %s", fits, rest, rest, count)
	b.Emit("@%s or.b64 %s, %s, 1", fits, words[0], words[0])
	b.Move("sub.s32", bits, bits, "1")
	b.Branch(b.Op(ptx.Predicate, "setp.ne.u32", bits, "0"), again)

	up := b.Op(ptx.Predicate, "setp.ge.u64", rest, b.Op(ptx.Word64, "sub.s64", count, rest))
	carry := b.Op(ptx.Word64, "selp.u64", "1", "0", up)
	for i, word := range words {
		b.Move("add.s64", words[i], word, carry)
		carry = b.Op(ptx.Word64, "selp.u64", "1", "0", b.Op(ptx.Predicate, "setp.lt.u64", words[i], carry))
	}
	return w.negateIf(words, negative)
}

// times returns the product of a number of several words, the lowest word first, and a factor, in as
// many words.
func (w *writer) times(x []ptx.Register, factor uint64) []ptx.Register {
	b := w.b
	product := make([]ptx.Register, len(x))
	carry := ptx.Register("0")
	for i, word := range x {
		low := b.Op(ptx.Word64, "mul.lo.u64", word, hexadecimal(factor))
		product[i] = b.Op(ptx.Word64, "add.s64", low, carry)
		above := b.Op(ptx.Word64, "selp.u64", "1", "0", b.Op(ptx.Predicate, "setp.lt.u64", product[i], low))
		carry = b.Op(ptx.Word64, "add.s64", b.Op(ptx.Word64, "mul.hi.u64", word, hexadecimal(factor)), above)
	}
	return product
}
