package kerneltest

import (
	"math"
	"math/rand/v2"
)

var extremes = []uint64{0, 1, 2, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000,
	0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0xfffffffffffffff0,
	0xffffffff80000000, 0x5555555555555555, 0xdeadbeefcafebabe}

// operands returns all pairs of extreme values, and random ones.
func operands() [][3]uint64 {
	random := rand.New(rand.NewPCG(3, 4))
	var rows [][3]uint64
	for _, a := range extremes {
		for _, b := range extremes {
			rows = append(rows, [3]uint64{a, b, extremes[random.IntN(len(extremes))]})
		}
	}
	for range 600 {
		rows = append(rows, [3]uint64{random.Uint64() >> random.IntN(64), random.Uint64() >> random.IntN(64), random.Uint64() >> random.IntN(64)})
	}
	return rows
}

var floats = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 1.5, 2.5, -2.5, 3, 0.1, 1e-3, math.Pi, 1e10, -1e10, 1e30, 1e38, 3.4e38, 1e-38, 1e-40, -1e-45,
	127.5, 128, 255.5, 256, -128.5, -129, 32767.5, 65535.5, 2147483647.5, 2147483648, -2147483649, 4294967295.5, 4294967296, 9.3e18, -9.3e18, 1.9e19,
	1e300, -1e300, 5e-324, 2.2e-308, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}

// floatOperands is operands for float64, or for float32 in the low half.
func floatOperands(width int) [][3]uint64 {
	random := rand.New(rand.NewPCG(5, 6))
	bits := math.Float64bits
	if width == 32 {
		bits = func(x float64) uint64 { return uint64(math.Float32bits(float32(x))) }
	}
	any := func() uint64 {
		if random.IntN(2) == 0 {
			return random.Uint64() >> (64 - width) // any exponent
		}
		return bits(random.NormFloat64() * math.Ldexp(1, random.IntN(60)-30))
	}
	var rows [][3]uint64
	for _, a := range floats {
		for _, b := range floats {
			rows = append(rows, [3]uint64{bits(a), bits(b), bits(floats[random.IntN(len(floats))])})
		}
	}
	for range 1500 {
		rows = append(rows, [3]uint64{any(), any(), any()})
	}
	return rows
}
