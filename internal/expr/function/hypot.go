package function

import (
	"math"

	"github.com/gpuframe/gpuframe/internal/ptx"
)

// hypot is √(x² + y²) without overflow or underflow of the squares: with m and n the
// larger and the smaller magnitude, m · √((n/m)² + 1). Every operation is rounded
// correctly, so the host and GPUs agree. math.Hypot differs between processors.
var _ = register(Function{
	Name: "hypot",
	Floats: func(x, y float64) float64 {
		m, n := math.Abs(x), math.Abs(y)
		if m < n {
			m, n = n, m
		}
		switch {
		case math.IsInf(m, 1) || math.IsInf(n, 1):
			return math.Inf(1) // also if the other one is NaN
		case m == 0:
			return n // zero or NaN
		}
		r := n / m
		square := float64(r * r) // not fused with the addition
		return m * math.Sqrt(square+1)
	},
	Write: func(b *ptx.Builder, _ Type, x []ptx.Register) ptx.Register {
		const unit, infinity = "0d3FF0000000000000", "0d7FF0000000000000"
		first, second := b.Op(ptx.Float64, "abs.f64", x[0]), b.Op(ptx.Float64, "abs.f64", x[1])
		less := b.Op(ptx.Predicate, "setp.lt.f64", first, second)
		m := b.Op(ptx.Float64, "selp.f64", second, first, less)
		n := b.Op(ptx.Float64, "selp.f64", first, second, less)
		r := b.Op(ptx.Float64, "div.rn.f64", n, m)
		sum := b.Op(ptx.Float64, "add.rn.f64", b.Op(ptx.Float64, "mul.rn.f64", r, r), unit)
		result := b.Op(ptx.Float64, "mul.rn.f64", m, b.Op(ptx.Float64, "sqrt.rn.f64", sum))
		result = b.Op(ptx.Float64, "selp.f64", n, result, b.Op(ptx.Predicate, "setp.eq.f64", m, "0d0000000000000000"))
		isInfinite := b.Op(ptx.Predicate, "setp.eq.f64", first, infinity)
		isInfinite = b.Op(ptx.Predicate, "setp.eq.or.f64", second, infinity, isInfinite)
		return b.Op(ptx.Float64, "selp.f64", infinity, result, isInfinite)
	},
})
