package kerneltest

import "math"

// canonical is the bit pattern of every 32-bit NaN result.
const canonical = 0x7fffffff

// single returns the float32 in a register's bits.
func single(x uint64, flush bool) float32 {
	if flush && x&0x7f800000 == 0 {
		x &= 0x80000000
	}
	return math.Float32frombits(uint32(x))
}

func fromSingle(f float32, flush bool) uint64 {
	if f != f {
		return canonical
	}
	x := uint64(math.Float32bits(f))
	if flush && x&0x7f800000 == 0 {
		x &= 0x80000000
	}
	return x
}

// flush takes .ftz.
func (in *ins) flush(t typ) bool {
	if !in.take("ftz") {
		return false
	}
	if t.bits != 32 || !t.float() {
		in.fail("only f32 has .ftz")
	}
	return true
}

func (in *ins) rounding() rounding {
	switch in.oneOf("rn", "rz", "rm", "rp") {
	case "rz":
		return towardZero
	case "rm":
		return downward
	case "rp":
		return upward
	}
	return nearest
}

func saturated32(x uint64) uint64 {
	f := math.Float32frombits(uint32(x))
	switch {
	case f != f, f <= 0:
		return 0
	case f > 1:
		return uint64(math.Float32bits(1))
	}
	return x
}

// floats2 compiles a function of two floats of one width, with .ftz and .sat for f32.
func (in *ins) floats2(t typ, narrow func(x, y float32) float32, wide func(x, y float64) float64) {
	in.requireWidth(t, 32, 64)
	if t.bits == 64 {
		in.put2(t, func(x, y uint64) uint64 {
			return math.Float64bits(wide(math.Float64frombits(x), math.Float64frombits(y)))
		})
		return
	}
	flush, saturate := in.flush(t), in.take("sat")
	in.put2(t, func(x, y uint64) uint64 {
		r := fromSingle(narrow(single(x, flush), single(y, flush)), flush)
		if saturate {
			r = saturated32(r)
		}
		return r
	})
}

// directed computes with a rounding mode other than to nearest.
func (in *ins) directed(t typ, operands int, exact func(v []float64) exactValue, mode rounding) {
	in.requireWidth(t, 32, 64)
	flush, saturate := false, false
	if t.bits == 32 {
		flush, saturate = in.flush(t), in.take("sat")
	}
	f := func(words ...uint64) uint64 {
		v := make([]float64, len(words))
		for i, x := range words {
			if t.bits == 32 {
				v[i] = float64(single(x, flush))
			} else {
				v[i] = math.Float64frombits(x)
			}
		}
		r := exact(v).round(t.bits, mode)
		if t.bits == 64 {
			return math.Float64bits(r)
		}
		result := fromSingle(float32(r), flush)
		if saturate {
			result = saturated32(result)
		}
		return result
	}
	switch operands {
	case 1:
		in.put1(t, func(x uint64) uint64 { return f(x) })
	case 2:
		in.put2(t, func(x, y uint64) uint64 { return f(x, y) })
	case 3:
		in.put3(t, func(x, y, z uint64) uint64 { return f(x, y, z) })
	}
}

func floatAdd(in *ins, t typ) {
	mode, subtract := in.rounding(), in.opcode == "sub"
	switch {
	case mode != nearest:
		in.directed(t, 2, func(v []float64) exactValue {
			if subtract {
				return exactSum(v[0], -v[1], mode)
			}
			return exactSum(v[0], v[1], mode)
		}, mode)
	case subtract:
		in.floats2(t, func(x, y float32) float32 { return x - y }, func(x, y float64) float64 { return x - y })
	default:
		in.floats2(t, func(x, y float32) float32 { return x + y }, func(x, y float64) float64 { return x + y })
	}
}

func floatMul(in *ins, t typ) {
	if mode := in.rounding(); mode != nearest {
		in.directed(t, 2, func(v []float64) exactValue { return exactProduct(v[0], v[1]) }, mode)
		return
	}
	in.floats2(t, func(x, y float32) float32 { return x * y }, func(x, y float64) float64 { return x * y })
}

func floatDiv(in *ins, t typ) {
	if in.opcode == "rem" {
		in.fail("rem needs an integer type")
	}
	if in.take("approx") || in.take("full") {
		in.requireWidth(t, 32) // exact here; the hardware may differ in the last places
	} else if mode := in.rounding(); mode != nearest {
		in.directed(t, 2, func(v []float64) exactValue { return exactQuotient(v[0], v[1]) }, mode)
		return
	}
	in.floats2(t, func(x, y float32) float32 { return x / y }, func(x, y float64) float64 { return x / y })
}

func floatFma(in *ins, t typ) {
	in.requireWidth(t, 32, 64)
	if mode := in.rounding(); mode != nearest {
		in.directed(t, 3, func(v []float64) exactValue { return exactFma(v[0], v[1], v[2], mode) }, mode)
		return
	}
	if t.bits == 64 {
		in.put3(t, func(x, y, z uint64) uint64 {
			return math.Float64bits(math.FMA(math.Float64frombits(x), math.Float64frombits(y), math.Float64frombits(z)))
		})
		return
	}
	flush, saturate := in.flush(t), in.take("sat")
	in.put3(t, func(x, y, z uint64) uint64 {
		r := fromSingle(fma32(single(x, flush), single(y, flush), single(z, flush)), flush)
		if saturate {
			r = saturated32(r)
		}
		return r
	})
}

// fma32 returns x·y + z rounded once. The product is exact in a float64. The sum is
// rounded to odd there, so that rounding it to float32 gives the same result as
// rounding the exact value (Boldo and Melquiond, 2008).
func fma32(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	if math.IsInf(s, 0) || s != s {
		return float32(s)
	}
	// The error of the sum, by Knuth's two-sum.
	t := s - p
	e := (p - (s - t)) + (c - t)
	if bits := math.Float64bits(s); e != 0 && bits&1 == 0 {
		if (e > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
		s = math.Float64frombits(bits)
	}
	return float32(s)
}

func floatMinMax(in *ins, t typ) {
	in.requireWidth(t, 32, 64)
	keepNaN := in.take("NaN")
	greatest := in.opcode == "max"
	pick := func(x, y float64) float64 {
		switch {
		case x != x && y != y, keepNaN && (x != x || y != y):
			return math.NaN()
		case x != x:
			return y
		case y != y:
			return x
		case greatest:
			return math.Max(x, y)
		}
		return math.Min(x, y)
	}
	in.floats2(t, func(x, y float32) float32 { return float32(pick(float64(x), float64(y))) }, pick)
}

func floatAbs(in *ins, t typ) {
	in.requireWidth(t, 32, 64)
	flush := in.flush(t)
	sign := uint64(1) << (t.bits - 1)
	negate := in.opcode == "neg"
	in.put1(t, func(x uint64) uint64 {
		if flush {
			x = uint64(math.Float32bits(single(x, true)))
		}
		if negate {
			return x ^ sign
		}
		return x &^ sign
	})
}
