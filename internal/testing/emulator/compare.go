package emulator

import (
	"math"
	"math/bits"
)

var comparisons = []string{"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs",
	"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}

// comparison returns the function of a comparison of two values of a type.
func (in *ins) comparison(name string, t typ, flush bool) func(x, y uint64) bool {
	if t.float() {
		return in.floatComparison(name, t, flush)
	}
	switch {
	case t.class == bitsClass && name != "eq" && name != "ne":
		in.fail(".%s does not apply to .b types", name)
	case t.signed() && (name == "lo" || name == "ls" || name == "hi" || name == "hs"):
		in.fail(".%s does not apply to signed types", name)
	}
	if compare := integerComparison(name, t); compare != nil {
		return compare
	}
	in.fail(".%s does not apply to integers", name)
	return nil
}

func integerComparison(name string, t typ) func(x, y uint64) bool {
	switch {
	case t.bits == 16 && t.signed():
		return comparing[int16](name)
	case t.bits == 16:
		return comparing[uint16](name)
	case t.bits == 32 && t.signed():
		return comparing[int32](name)
	case t.bits == 32:
		return comparing[uint32](name)
	case t.signed():
		return comparing[int64](name)
	}
	return comparing[uint64](name)
}

func comparing[T int16 | uint16 | int32 | uint32 | int64 | uint64](name string) func(x, y uint64) bool {
	switch name {
	case "eq":
		return func(x, y uint64) bool { return T(x) == T(y) }
	case "ne":
		return func(x, y uint64) bool { return T(x) != T(y) }
	case "lt", "lo":
		return func(x, y uint64) bool { return T(x) < T(y) }
	case "le", "ls":
		return func(x, y uint64) bool { return T(x) <= T(y) }
	case "gt", "hi":
		return func(x, y uint64) bool { return T(x) > T(y) }
	case "ge", "hs":
		return func(x, y uint64) bool { return T(x) >= T(y) }
	}
	return nil
}

func (in *ins) floatComparison(name string, t typ, flush bool) func(x, y uint64) bool {
	var compare func(x, y float64) bool
	base, unordered := name, false
	if len(name) == 3 && name != "num" && name != "nan" {
		base, unordered = name[:2], name[2] == 'u'
	}
	switch base {
	case "eq":
		compare = func(x, y float64) bool { return x == y }
	case "ne":
		compare = func(x, y float64) bool { return x < y || x > y }
	case "lt":
		compare = func(x, y float64) bool { return x < y }
	case "le":
		compare = func(x, y float64) bool { return x <= y }
	case "gt":
		compare = func(x, y float64) bool { return x > y }
	case "ge":
		compare = func(x, y float64) bool { return x >= y }
	case "num":
		compare = func(x, y float64) bool { return x == x && y == y }
	case "nan":
		compare = func(x, y float64) bool { return x != x || y != y }
	default:
		in.fail(".%s does not apply to floats", name)
	}
	value := func(x uint64) float64 { return math.Float64frombits(x) }
	if t.bits == 32 {
		value = func(x uint64) float64 { return float64(single(x, flush)) }
	}
	return func(x, y uint64) bool {
		a, b := value(x), value(y)
		return compare(a, b) || unordered && (a != a || b != b)
	}
}

func setHandler(in *ins) {
	t := in.lastType()
	in.requireWidth(t, 16, 32, 64)
	if t.float() {
		in.requireWidth(t, 32, 64)
	}
	var result typ
	if in.opcode == "set" {
		result = in.lastType()
		if result.bits != 32 {
			in.fail("the result has 32 bits")
		}
	}
	name := in.oneOf(comparisons...)
	combine := in.oneOf("and", "or", "xor")
	flush := in.flush(t)
	compare := in.comparison(name, t, flush)
	n := 3
	third := predicate{row: -1, value: everyLane}
	if combine != "" {
		n = 4
	}
	in.count(n, n)
	a, b := in.source(in.arguments[1], t), in.source(in.arguments[2], t)
	if combine != "" {
		third = in.predicate(in.arguments[3])
	}
	joined := func(value, other uint32) uint32 {
		switch combine {
		case "and":
			return value & other
		case "or":
			return value | other
		case "xor":
			return value ^ other
		}
		return value
	}
	evaluate := func(w *warp, mask uint32) uint32 {
		x, y := a.of(w), b.of(w)
		var found uint32
		for m := mask; m != 0; m &= m - 1 {
			if i := bits.TrailingZeros32(m); compare(x[i], y[i]) {
				found |= 1 << i
			}
		}
		return found
	}
	if in.opcode == "set" {
		d := in.destination(in.arguments[0], result)
		yes := uint64(0xffffffff)
		if result.float() {
			yes = uint64(math.Float32bits(1))
		}
		in.out.run = func(w *warp, mask uint32) {
			value := joined(evaluate(w, mask), third.of(w))
			eachLane(mask, func(i int) { w.rows[d][i] = yes * uint64(value>>i&1) })
		}
		return
	}
	to := in.arguments[0]
	if to.kind != nameArgument || to.not {
		in.fail("the destination is not a predicate")
	}
	p, q := in.predicateDestination(to.name), int32(-1)
	if to.pair != "" {
		q = in.predicateDestination(to.pair)
	}
	in.out.run = func(w *warp, mask uint32) {
		value, other := evaluate(w, mask), third.of(w)
		w.setBits(p, mask, joined(value, other))
		if q >= 0 {
			w.setBits(q, mask, joined(^value, other))
		}
	}
}

func selectHandler(in *ins) {
	t := in.lastType()
	in.requireWidth(t, 16, 32, 64)
	in.count(4, 4)
	d, a, b := in.destination(in.arguments[0], t), in.source(in.arguments[1], t), in.source(in.arguments[2], t)
	p := in.predicate(in.arguments[3])
	in.out.run = func(w *warp, mask uint32) {
		to, x, y, chosen := &w.rows[d], a.of(w), b.of(w), p.of(w)
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros32(mask)
			if chosen>>i&1 != 0 {
				to[i] = x[i]
			} else {
				to[i] = y[i]
			}
		}
	}
}

func slctHandler(in *ins) {
	by := in.lastType()
	t := in.lastType()
	if by != (typ{signedClass, 32}) {
		in.fail("slct is supported for s32")
	}
	in.count(4, 4)
	in.out.run = lanewise3(in.destination(in.arguments[0], t), in.source(in.arguments[1], t), in.source(in.arguments[2], t),
		in.source(in.arguments[3], by), func(x, y, z uint64) uint64 {
			if int32(z) >= 0 {
				return x
			}
			return y
		})
}

func testHandler(in *ins) {
	t := in.lastType()
	if !t.float() {
		in.fail("testp needs a float type")
	}
	in.requireWidth(t, 32, 64)
	in.count(2, 2)
	mantissa, exponent := 52, uint64(0x7ff)
	if t.bits == 32 {
		mantissa, exponent = 23, 0xff
	}
	kind := in.oneOf("finite", "infinite", "number", "notanumber", "normal", "subnormal")
	if kind == "" {
		in.fail("testp: unknown test")
	}
	d, a := in.predicateDestination(in.arguments[0].name), in.source(in.arguments[1], t)
	in.out.run = func(w *warp, mask uint32) {
		var found uint32
		x := a.of(w)
		eachLane(mask, func(i int) {
			e, m := x[i]>>mantissa&exponent, x[i]&(1<<mantissa-1)
			var is bool
			switch kind {
			case "finite":
				is = e != exponent
			case "infinite":
				is = e == exponent && m == 0
			case "number":
				is = e != exponent || m == 0
			case "notanumber":
				is = e == exponent && m != 0
			case "normal":
				is = e != exponent && e != 0
			case "subnormal":
				is = e == 0 && m != 0
			}
			found |= truth(is) << i
		})
		w.setBits(d, mask, found)
	}
}
