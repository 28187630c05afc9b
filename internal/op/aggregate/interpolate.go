package aggregate

import "math"

// Interpolate returns x + (y − x) · part for a part from 0 to 1: a quantile between two values. Half
// of each is computed with if the difference of two finite values is infinite. interpolate.cuh has
// the same bits.
func Interpolate(x, y, part float64) float64 {
	if x == y {
		return x
	}
	difference := y - x
	if math.IsInf(difference, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		return 2 * (x/2 + float64((y/2-x/2)*part))
	}
	return x + float64(difference*part)
}
