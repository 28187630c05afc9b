package function

import "math"

// degreesPerRadian is rounded once, so 180 degrees are math.Pi, but results are not rounded correctly.
const degreesPerRadian = 180 / math.Pi

var (
	_ = registerFormula("degrees", product[float64, onHost](degreesPerRadian), product[register64, onDevice](degreesPerRadian))
	_ = registerFormula("radians", product[float64, onHost](math.Pi/180), product[register64, onDevice](math.Pi/180))
)

func product[N any, C calculator[N]](factor float64) func(c C, x N) N {
	return func(c C, x N) N { return c.mul(x, c.constant(factor)) }
}
