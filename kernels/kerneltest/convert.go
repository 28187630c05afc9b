package kerneltest

import (
	"math"
	"math/big"
)

func cvtHandler(in *ins) {
	from := in.lastType()
	to := in.lastType()
	if from.class == bitsClass || to.class == bitsClass || from.class == predicateClass || to.class == predicateClass {
		in.fail("cvt needs u, s or f types")
	}
	in.count(2, 2)
	way := in.oneOf("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi")
	saturate := in.take("sat")
	flush := in.take("ftz")
	if flush && from != (typ{floatClass, 32}) && to != (typ{floatClass, 32}) {
		in.fail("only f32 has .ftz")
	}
	row, width := in.wideRow(in.arguments[0], to)
	if !saturate && way == "" && from.class == unsignedClass && (to.class == unsignedClass || to.signed() && to.bits > from.bits) {
		keep := from.mask() & to.mask()
		a := in.wideSource(in.arguments[1], from)
		in.out.operation = &arithmetic{kind: moved, to: row, a: a, b: a, keep: keep}
		return
	}
	if way == "" && !saturate && from.signed() && to.integer() && from.bits <= to.bits {
		// The result and its extension to a wider register have the same bits.
		keep := to.mask()
		if to.signed() {
			keep = typ{unsignedClass, width}.mask()
		}
		a := in.wideSource(in.arguments[1], from)
		in.out.operation = &arithmetic{kind: moved, extend: signExtension(from), to: row, a: a, b: a, keep: keep}
		return
	}
	f := in.conversion(to, from, way, saturate, flush)
	// A wider register receives the extended value.
	register := typ{unsignedClass, width}.mask()
	in.out.operation = lanewise1(row, in.wideSource(in.arguments[1], from), func(x uint64) uint64 { return extend(to, f(x)) & register })
}

// conversion returns the function that converts the bits of one type to another.
func (in *ins) conversion(to, from typ, way string, saturate, flush bool) func(uint64) uint64 {
	switch {
	case !from.float() && !to.float():
		if way != "" {
			in.fail("integers are not rounded")
		}
		return integerToInteger(to, from, saturate)
	case from.float() && !to.float():
		whole := wholeOf(way)
		if whole == nil {
			in.fail("a float becomes an integer by .rni, .rzi, .rmi or .rpi")
		}
		return func(x uint64) uint64 { return floatToInteger(to, from.bits, whole, value(from, x, flush)) }
	case !from.float():
		mode, ok := modeOf(way)
		if !ok {
			in.fail("an integer becomes a float by .rn, .rz, .rm or .rp")
		}
		return func(x uint64) uint64 {
			return finish(to, integerToFloat(to, from, extend(from, x), mode), saturate, flush)
		}
	case to.bits >= from.bits:
		whole := wholeOf(way)
		if way != "" && (whole == nil || to.bits != from.bits) {
			in.fail("the conversion is exact and takes no .%s", way)
		}
		return func(x uint64) uint64 {
			v := value(from, x, flush)
			if whole != nil {
				v = whole(v)
			}
			return finish(to, v, saturate, flush)
		}
	}
	mode, ok := modeOf(way)
	if !ok {
		in.fail("a float becomes a narrower one by .rn, .rz, .rm or .rp")
	}
	return func(x uint64) uint64 {
		v := value(from, x, flush)
		if ordinary(v) && v != 0 {
			v = exactValue{number: new(big.Float).SetFloat64(v)}.roundQuick(to.bits, mode, v)
		}
		return finish(to, v, saturate, flush)
	}
}

// roundQuick uses the processor's rounding if it matches the mode.
func (e exactValue) roundQuick(width int, mode rounding, v float64) float64 {
	if width == 32 && mode == nearest {
		return float64(float32(v))
	}
	return e.round(width, mode)
}

func modeOf(way string) (rounding, bool) {
	switch way {
	case "rn":
		return nearest, true
	case "rz":
		return towardZero, true
	case "rm":
		return downward, true
	case "rp":
		return upward, true
	}
	return nearest, false
}

func wholeOf(way string) func(float64) float64 {
	switch way {
	case "rni":
		return math.RoundToEven
	case "rzi":
		return math.Trunc
	case "rmi":
		return math.Floor
	case "rpi":
		return math.Ceil
	}
	return nil
}

// value returns a float of any width as a float64, which is exact.
func value(t typ, x uint64, flush bool) float64 {
	switch t.bits {
	case 16:
		return halfValue(uint16(x))
	case 32:
		return float64(single(x, flush))
	}
	return math.Float64frombits(x)
}

// finish returns the bits of a value that the type can represent.
func finish(t typ, v float64, saturate, flush bool) uint64 {
	if saturate {
		if v != v || v <= 0 {
			v = 0
		}
		v = min(v, 1)
	}
	switch t.bits {
	case 16:
		return uint64(halfBits(v))
	case 32:
		return fromSingle(float32(v), flush)
	}
	return math.Float64bits(v)
}

func halfValue(x uint16) float64 {
	e, m := int(x>>10&31), float64(x&1023)
	var v float64
	switch {
	case e == 31 && m != 0:
		return math.NaN()
	case e == 31:
		v = math.Inf(1)
	case e == 0:
		v = math.Ldexp(m, -24)
	default:
		v = math.Ldexp(1024+m, e-25)
	}
	if x>>15 != 0 {
		v = -v
	}
	return v
}

// halfBits returns the bits of a value that 16 bits can represent.
func halfBits(v float64) uint16 {
	if v != v {
		return 0x7fff
	}
	var sign uint16
	if math.Signbit(v) {
		sign, v = 1<<15, -v
	}
	switch {
	case math.IsInf(v, 0):
		return sign | 31<<10
	case v < math.Ldexp(1, -14):
		return sign | uint16(math.Ldexp(v, 24))
	}
	m, e := math.Frexp(v)
	return sign | uint16(e+14)<<10 | uint16(math.Ldexp(m, 11))&1023
}

func bounds(t typ) (least, most float64) {
	if t.signed() {
		return -math.Ldexp(1, t.bits-1), math.Ldexp(1, t.bits-1)
	}
	return 0, math.Ldexp(1, t.bits)
}

// floatToInteger saturates. NaN becomes zero, or the highest bit if one of the types
// has 64 bits, as the PTX manual specifies.
func floatToInteger(to typ, fromBits int, whole func(float64) float64, v float64) uint64 {
	least, end := bounds(to)
	switch {
	case v != v && (fromBits == 64 || to.bits == 64):
		return 1 << (to.bits - 1)
	case v != v:
		return 0
	}
	v = whole(v)
	switch {
	case v >= end && to.signed():
		return to.mask() >> 1
	case v >= end:
		return to.mask()
	case v < least && to.signed():
		return 1 << (to.bits - 1)
	case v < least:
		return 0
	case to.signed():
		return uint64(int64(v)) & to.mask()
	case v >= 1<<63:
		return uint64(int64(v-1<<63)) ^ 1<<63
	}
	return uint64(int64(v))
}

// integerToFloat converts x, which is extended to 64 bits.
func integerToFloat(to, from typ, x uint64, mode rounding) float64 {
	if x == 0 {
		return 0
	}
	number := new(big.Float).SetPrec(64)
	if from.signed() {
		number.SetInt64(int64(x))
	} else {
		number.SetUint64(x)
	}
	switch {
	case mode == nearest && from.signed() && to.bits == 32:
		return float64(float32(int64(x)))
	case mode == nearest && from.signed() && to.bits == 64:
		return float64(int64(x))
	}
	return exactValue{number: number}.round(to.bits, mode)
}

func integerToInteger(to, from typ, saturate bool) func(uint64) uint64 {
	mask := to.mask()
	if !saturate {
		return func(x uint64) uint64 { return extend(from, x) & mask }
	}
	return func(x uint64) uint64 {
		x = extend(from, x)
		switch {
		case from.signed() && to.signed():
			return uint64(max(min(int64(x), int64(mask>>1)), -int64(mask>>1)-1)) & mask
		case from.signed():
			return min(uint64(max(int64(x), 0)), mask)
		case to.signed():
			return min(x, mask>>1)
		}
		return min(x, mask)
	}
}
