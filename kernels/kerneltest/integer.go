package kerneltest

import (
	"math/bits"
	"slices"
)

var (
	b32 = typ{bitsClass, 32}
	f32 = typ{floatClass, 32}
	b64 = typ{bitsClass, 64}
	u32 = typ{unsignedClass, 32}
)

// requireWidth refuses types that the instruction does not accept.
func (in *ins) requireWidth(t typ, widths ...int) {
	if !slices.Contains(widths, t.bits) {
		in.fail("the instruction has no type of %d bits", t.bits)
	}
}

func (in *ins) wantsInteger(t typ, widths ...int) {
	if !t.integer() {
		in.fail("the instruction needs an integer type")
	}
	in.requireWidth(t, widths...)
}

func addHandler(in *ins) {
	t := in.lastType()
	if t.float() {
		floatAdd(in, t)
		return
	}
	if in.take("cc") {
		in.wantsInteger(t, 32, 64)
		carried(in, t, in.opcode == "sub", false, true)
		return
	}
	in.wantsInteger(t, 16, 32, 64)
	switch {
	case in.take("sat"):
		if t != (typ{signedClass, 32}) {
			in.fail("only s32 has .sat")
		}
		sign := int64(1)
		if in.opcode == "sub" {
			sign = -1
		}
		in.put2(t, func(x, y uint64) uint64 {
			sum := int64(int32(x)) + sign*int64(int32(y))
			return uint64(uint32(max(min(sum, 1<<31-1), -1<<31)))
		})
	case in.opcode == "add":
		in.integers(added, t, t)
	default:
		in.integers(subtracted, t, t)
	}
}

func carryHandler(in *ins) {
	t := in.lastType()
	in.wantsInteger(t, 32, 64)
	carried(in, t, in.opcode == "subc", true, in.take("cc"))
}

// carried adds with carry, or subtracts with borrow, for each lane.
func carried(in *ins, t typ, subtract, reads, writes bool) {
	in.count(3, 3)
	d, a, b := in.destination(in.arguments[0], t), in.source(in.arguments[1], t), in.source(in.arguments[2], t)
	in.out.operation = step(func(w *warp, mask uint32) {
		to, x, y := &w.rows[d], a.read(w), b.read(w)
		eachLane(mask, func(i int) {
			carry := uint64(0)
			if reads {
				carry = uint64(w.carry >> i & 1)
			}
			result, out := addCarry(t, x[i], y[i], carry, subtract)
			to[i] = result
			if writes {
				w.carry = w.carry&^(1<<i) | uint32(out)<<i
			}
		})
	})
}

func addCarry(t typ, x, y, carry uint64, subtract bool) (result, out uint64) {
	switch {
	case t.bits == 64 && subtract:
		return bits.Sub64(x, y, carry)
	case t.bits == 64:
		return bits.Add64(x, y, carry)
	case subtract:
		r, o := bits.Sub32(uint32(x), uint32(y), uint32(carry))
		return uint64(r), uint64(o)
	}
	r, o := bits.Add32(uint32(x), uint32(y), uint32(carry))
	return uint64(r), uint64(o)
}

// product returns both halves of the product of two values of type t, each in the low
// bits.
func product(t typ, x, y uint64) (high, low uint64) {
	if t.bits < 64 {
		p := extend(t, x) * extend(t, y)
		return p >> t.bits & t.mask(), p & t.mask()
	}
	high, low = bits.Mul64(x, y)
	if t.signed() {
		high -= uint64(int64(x)>>63)&y + uint64(int64(y)>>63)&x
	}
	return high, low
}

func mulHandler(in *ins) {
	t := in.lastType()
	if t.float() {
		floatMul(in, t)
		return
	}
	in.wantsInteger(t, 16, 32, 64)
	switch in.oneOf("lo", "hi", "wide") {
	case "lo":
		in.integers(multiplied, t, t)
	case "hi":
		in.put2(t, func(x, y uint64) uint64 { high, _ := product(t, x, y); return high })
	case "wide":
		in.requireWidth(t, 16, 32)
		in.integers(multiplied, typ{t.class, 2 * t.bits}, t)
	default:
		in.fail("expected .lo, .hi or .wide")
	}
}

func madHandler(in *ins) {
	t := in.lastType()
	if t.float() {
		floatFma(in, t)
		return
	}
	if in.opcode == "fma" {
		in.fail("fma needs a float type")
	}
	in.wantsInteger(t, 16, 32, 64)
	switch half := in.oneOf("lo", "hi", "wide"); {
	case half == "wide":
		in.requireWidth(t, 16, 32)
		in.multiplyAdd(typ{t.class, 2 * t.bits}, t)
	case half == "":
		in.fail("expected .lo, .hi or .wide")
	case in.take("cc"):
		madCarried(in, t, half == "hi", false, true)
	case in.take("sat"):
		if half != "hi" || t != (typ{signedClass, 32}) {
			in.fail("only mad.hi.s32 has .sat")
		}
		in.put3(t, func(x, y, z uint64) uint64 {
			high, _ := product(t, x, y)
			return uint64(uint32(max(min(int64(int32(high))+int64(int32(z)), 1<<31-1), -1<<31)))
		})
	case half == "lo":
		in.multiplyAdd(t, t)
	default:
		mask := t.mask()
		in.put3(t, func(x, y, z uint64) uint64 {
			high, _ := product(t, x, y)
			return (high + z) & mask
		})
	}
}

func madCarryHandler(in *ins) {
	t := in.lastType()
	in.wantsInteger(t, 32, 64)
	half := in.oneOf("lo", "hi")
	if half == "" {
		in.fail("expected .lo or .hi")
	}
	madCarried(in, t, half == "hi", true, in.take("cc"))
}

func madCarried(in *ins, t typ, high, reads, writes bool) {
	in.requireWidth(t, 32, 64)
	in.count(4, 4)
	d, a, b, c := in.destination(in.arguments[0], t), in.source(in.arguments[1], t), in.source(in.arguments[2], t), in.source(in.arguments[3], t)
	in.out.operation = step(func(w *warp, mask uint32) {
		to, x, y, z := &w.rows[d], a.read(w), b.read(w), c.read(w)
		eachLane(mask, func(i int) {
			carry := uint64(0)
			if reads {
				carry = uint64(w.carry >> i & 1)
			}
			h, l := product(t, x[i], y[i])
			if high {
				l = h
			}
			result, out := addCarry(t, l, z[i], carry, false)
			to[i] = result
			if writes {
				w.carry = w.carry&^(1<<i) | uint32(out)<<i
			}
		})
	})
}

func divHandler(in *ins) {
	t := in.lastType()
	if t.float() {
		floatDiv(in, t)
		return
	}
	in.wantsInteger(t, 16, 32, 64)
	mask, remainder := t.mask(), in.opcode == "rem"
	in.put2(t, func(x, y uint64) uint64 {
		x, y = extend(t, x), extend(t, y)
		switch {
		case y == 0:
			// PTX leaves the result undefined. The pattern is easy to recognise as
			// wrong.
			return undefinedWord & mask
		case t.signed() && remainder:
			if int64(y) == -1 {
				return 0
			}
			return uint64(int64(x)%int64(y)) & mask
		case t.signed():
			if int64(y) == -1 {
				return -x & mask
			}
			return uint64(int64(x)/int64(y)) & mask
		case remainder:
			return x % y
		}
		return x / y
	})
}

func minMaxHandler(in *ins) {
	t := in.lastType()
	if t.float() {
		floatMinMax(in, t)
		return
	}
	in.wantsInteger(t, 16, 32, 64)
	greatest := in.opcode == "max"
	in.put2(t, func(x, y uint64) uint64 {
		if less(t, y, x) != greatest {
			return y
		}
		return x
	})
}

// less compares two values of an integer type.
func less(t typ, x, y uint64) bool {
	if t.signed() {
		return int64(extend(t, x)) < int64(extend(t, y))
	}
	return extend(t, x) < extend(t, y)
}

func absHandler(in *ins) {
	t := in.lastType()
	if t.float() {
		floatAbs(in, t)
		return
	}
	if !t.signed() {
		in.fail("the instruction needs a signed type")
	}
	in.requireWidth(t, 16, 32, 64)
	mask, always := t.mask(), in.opcode == "neg"
	in.put1(t, func(x uint64) uint64 {
		if always || int64(extend(t, x)) < 0 {
			return -x & mask
		}
		return x
	})
}

func sadHandler(in *ins) {
	t := in.lastType()
	in.wantsInteger(t, 16, 32, 64)
	mask := t.mask()
	in.put3(t, func(x, y, z uint64) uint64 {
		if less(t, x, y) {
			return (z + y - x) & mask
		}
		return (z + x - y) & mask
	})
}
