package kerneltest

import (
	"maps"
	"math"
	"math/bits"
	"slices"
)

// The outcomes of a comparison, as bits of a set.
const (
	isLess = 1 << iota
	isEqual
	isGreater
	isUnordered
)

// outcomes are those that make a comparison true.
var outcomes = map[string]uint8{
	"eq": isEqual, "ne": isLess | isGreater,
	"lt": isLess, "le": isLess | isEqual, "gt": isGreater, "ge": isGreater | isEqual,
	"lo": isLess, "ls": isLess | isEqual, "hi": isGreater, "hs": isGreater | isEqual,
	"num": isLess | isEqual | isGreater, "nan": isUnordered,
	"equ": isEqual | isUnordered, "neu": isLess | isGreater | isUnordered,
	"ltu": isLess | isUnordered, "leu": isLess | isEqual | isUnordered,
	"gtu": isGreater | isUnordered, "geu": isGreater | isEqual | isUnordered,
}

var comparisons = slices.Sorted(maps.Keys(outcomes))

// comparison compares two operands in the lanes of a warp.
type comparison struct {
	a, b source
	kind comparisonKind
	// Values of integers are masked and the bit of their sign is flipped. Unsigned
	// comparisons then have the order of the type.
	mask, flip uint64
	// Floats have a type, perhaps flushed to zero, and the outcomes that are true.
	float  typ
	flush  bool
	accept uint8
}

type comparisonKind uint8

const (
	comparesFloats comparisonKind = iota
	comparesEqual
	comparesLess
	comparesGreater
)

// accepted returns the lanes that meet the comparison. Lanes outside mask may be wrong.
//
//go:norace
func (c *comparison) accepted(w *warp, mask uint32) uint32 {
	x, y := c.a.read(w), c.b.read(w)
	var accepted uint32
	switch c.kind {
	case comparesEqual:
		for i := range x {
			accepted |= truth((x[i]^y[i])&c.mask == 0) << i
		}
	case comparesLess:
		for i := range x {
			accepted |= truth(x[i]&c.mask^c.flip < y[i]&c.mask^c.flip) << i
		}
	case comparesGreater:
		for i := range x {
			accepted |= truth(x[i]&c.mask^c.flip > y[i]&c.mask^c.flip) << i
		}
	default:
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros32(mask)
			a, b := value(c.float, x[i], c.flush), value(c.float, y[i], c.flush)
			outcome := truth(a < b)*isLess | truth(a == b)*isEqual | truth(a > b)*isGreater
			if outcome == 0 {
				outcome = isUnordered
			}
			accepted |= truth(outcome&uint32(c.accept) != 0) << i
		}
	}
	return accepted
}

// comparison compiles the comparison of two values of a type. The result is the negation
// of what it returns if not is true.
func (in *ins) comparison(name string, t typ, flush bool) (c comparison, not bool) {
	integers := name == "eq" || name == "ne"
	switch name {
	case "lo", "ls", "hi", "hs":
		if t.float() {
			in.fail(".%s does not apply to floats", name)
		}
		if t.signed() {
			in.fail(".%s does not apply to signed types", name)
		}
		fallthrough
	case "lt", "le", "gt", "ge":
		if t.class == bitsClass {
			in.fail(".%s does not apply to .b types", name)
		}
		integers = true
	}
	c.accept = outcomes[name]
	if t.float() {
		if c.accept == 0 {
			in.fail("the comparison is missing")
		}
		c.float, c.flush = t, flush
		return c, false
	}
	if !integers {
		in.fail(".%s does not apply to integers", name)
	}
	c.mask = t.mask()
	if t.signed() {
		c.flip = 1 << (t.bits - 1)
	}
	switch c.accept {
	case isEqual:
		c.kind = comparesEqual
	case isLess | isGreater:
		c.kind, not = comparesEqual, true
	case isLess:
		c.kind = comparesLess
	case isGreater | isEqual:
		c.kind, not = comparesLess, true
	case isGreater:
		c.kind = comparesGreater
	case isLess | isEqual:
		c.kind, not = comparesGreater, true
	}
	return c, not
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
	o := &setting{combine: logic[combine], third: predicate{row: -1, value: everyLane}, p: -1, q: -1}
	o.compare, o.not = in.comparison(name, t, flush)
	n := 3
	if combine != "" {
		n = 4
	}
	in.count(n, n)
	o.compare.a, o.compare.b = in.source(in.arguments[1], t), in.source(in.arguments[2], t)
	if combine != "" {
		o.third = in.predicate(in.arguments[3])
	}
	in.out.operation = o
	if in.opcode == "set" {
		o.register = in.destination(in.arguments[0], result)
		o.yes = 0xffffffff
		if result.float() {
			o.yes = uint64(math.Float32bits(1))
		}
		return
	}
	to := in.arguments[0]
	if to.kind != nameArgument || to.not {
		in.fail("the destination is not a predicate")
	}
	o.p = in.predicateDestination(to.name)
	if to.pair != "" {
		o.q = in.predicateDestination(to.pair)
	}
}

// setting is setp or set: a comparison, combined with a predicate.
type setting struct {
	compare comparison
	not     bool
	combine arithmeticKind // moved: the comparison alone
	third   predicate
	p, q    int32 // predicates of the result and of its negation; −1: none
	// If there is no predicate p, register receives yes or 0.
	register int32
	yes      uint64
}

//go:norace
func (o *setting) execute(w *warp, mask uint32) {
	value, other := o.compare.accepted(w, mask), o.third.read(w)
	if o.not {
		value = ^value
	}
	joined := o.join(value, other)
	if o.p < 0 {
		var result [lanes]uint64
		for i := range result {
			result[i] = o.yes * uint64(joined>>i&1)
		}
		w.set(o.register, mask, &result, ^uint64(0))
		return
	}
	w.setBits(o.p, mask, joined)
	if o.q >= 0 {
		w.setBits(o.q, mask, o.join(^value, other))
	}
}

//go:norace
func (o *setting) join(value, other uint32) uint32 {
	switch o.combine {
	case conjoined:
		return value & other
	case disjoined:
		return value | other
	case differing:
		return value ^ other
	}
	return value
}

func selectHandler(in *ins) {
	t := in.lastType()
	in.requireWidth(t, 16, 32, 64)
	in.count(4, 4)
	in.out.operation = &selection{in.destination(in.arguments[0], t), in.source(in.arguments[1], t), in.source(in.arguments[2], t),
		in.predicate(in.arguments[3])}
}

// selection takes each lane from one of two operands.
type selection struct {
	to     int32
	a, b   source
	chosen predicate
}

//go:norace
func (o *selection) execute(w *warp, mask uint32) {
	to, x, y, chosen := &w.rows[o.to], o.a.read(w), o.b.read(w), o.chosen.read(w)
	for ; mask != 0; mask &= mask - 1 {
		i := bits.TrailingZeros32(mask)
		if chosen>>i&1 != 0 {
			to[i] = x[i]
		} else {
			to[i] = y[i]
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
	in.out.operation = lanewise3(in.destination(in.arguments[0], t), in.source(in.arguments[1], t), in.source(in.arguments[2], t),
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
	in.out.operation = step(func(w *warp, mask uint32) {
		var accepted uint32
		x := a.read(w)
		eachLane(mask, func(i int) {
			e, m := x[i]>>mantissa&exponent, x[i]&(1<<mantissa-1)
			var holds bool
			switch kind {
			case "finite":
				holds = e != exponent
			case "infinite":
				holds = e == exponent && m == 0
			case "number":
				holds = e != exponent || m == 0
			case "notanumber":
				holds = e == exponent && m != 0
			case "normal":
				holds = e != exponent && e != 0
			case "subnormal":
				holds = e == 0 && m != 0
			}
			accepted |= truth(holds) << i
		})
		w.setBits(d, mask, accepted)
	})
}
