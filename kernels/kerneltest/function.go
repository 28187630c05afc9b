package kerneltest

import "math"

func copysignHandler(in *ins) {
	t := in.lastType()
	if !t.float() {
		in.fail("copysign needs a float type")
	}
	in.requireWidth(t, 32, 64)
	sign := uint64(1) << (t.bits - 1)
	// The first operand has the sign, the second has the magnitude.
	in.put2(t, func(x, y uint64) uint64 { return x&sign | y&^sign })
}

// functionHandler compiles functions of one float. Approximate functions are computed
// in float64 and rounded; the hardware may differ in the last places.
func functionHandler(in *ins) {
	t := in.lastType()
	if !t.float() {
		in.fail("the instruction needs a float type")
	}
	in.requireWidth(t, 32, 64)
	var f func(float64) float64
	switch in.opcode {
	case "sqrt":
		f = math.Sqrt
	case "rcp":
		f = func(x float64) float64 { return 1 / x }
	case "rsqrt":
		f = func(x float64) float64 { return 1 / math.Sqrt(x) }
	case "sin":
		f = math.Sin
	case "cos":
		f = math.Cos
	case "ex2":
		f = math.Exp2
	case "lg2":
		f = math.Log2
	}
	approximate := in.take("approx")
	mode := in.rounding()
	switch {
	case !approximate && (in.opcode != "sqrt" && in.opcode != "rcp"):
		in.fail("expected .approx")
	case mode != nearest && in.opcode == "sqrt":
		in.directed(t, 1, func(v []float64) exactValue { return exactRoot(v[0]) }, mode)
		return
	case mode != nearest:
		in.directed(t, 1, func(v []float64) exactValue { return exactQuotient(1, v[0]) }, mode)
		return
	case t.bits == 64:
		coarse := in.take("ftz")
		if approximate && in.opcode != "rcp" && in.opcode != "rsqrt" {
			in.fail("the instruction does not exist for f64")
		}
		in.put1(t, func(x uint64) uint64 {
			r := math.Float64bits(f(math.Float64frombits(x)))
			if approximate && coarse {
				r &^= 0xffffffff // the hardware returns only the upper half
			}
			return r
		})
		return
	}
	flush := in.flush(t)
	in.put1(t, func(x uint64) uint64 { return fromSingle(float32(f(float64(single(x, flush)))), flush) })
}
