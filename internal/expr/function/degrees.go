package function

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/internal/ptx"
)

const degreesPerRadian = 180 / math.Pi

var _ = register(Function{
	Name:  "degrees",
	Float: func(x float64) float64 { return x * degreesPerRadian },
	Write: func(b *ptx.Builder, _ Type, x []ptx.Register) ptx.Register {
		factor := ptx.Register(fmt.Sprintf("0d%016X", math.Float64bits(degreesPerRadian)))
		return b.Op(ptx.Float64, "mul.rn.f64", x[0], factor)
	},
})
