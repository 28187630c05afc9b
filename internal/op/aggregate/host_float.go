package aggregate

import "math"

func addFloat(x, y uint64) uint64 {
	return math.Float64bits(math.Float64frombits(x) + math.Float64frombits(y))
}

// extremeFloat returns the minimum or maximum as PTX defines it: a number rather than
// NaN, and −0 less than +0. Go's min and max return NaN.
func extremeFloat(kind Kind, x, y uint64) uint64 {
	a, b := math.Float64frombits(x), math.Float64frombits(y)
	switch {
	case a != a && b != b:
		return canonicalNaN
	case a != a:
		return y
	case b != b:
		return x
	case kind == MinFloat:
		return math.Float64bits(min(a, b))
	}
	return math.Float64bits(max(a, b))
}

func lessWideHost(x, y []uint64) bool {
	if x[1] != y[1] {
		return int64(x[1]) < int64(y[1])
	}
	return x[0] < y[0]
}

func beforeHost(x, y []uint64) bool {
	row := len(x) - 1
	if row == 2 && x[1] != y[1] {
		return int64(x[1]) < int64(y[1])
	}
	if x[0] != y[0] {
		if row == 2 {
			return x[0] < y[0]
		}
		return int64(x[0]) < int64(y[0])
	}
	return int64(x[row]) < int64(y[row])
}

func mergeMomentsHost(into, later []uint64) {
	switch {
	case later[0] == 0:
		return
	case into[0] == 0:
		copy(into, later)
		return
	}
	part := float64(later[0]) / float64(into[0]+later[0])
	distance := math.Float64frombits(later[1]) - math.Float64frombits(into[1])
	mean := math.Float64frombits(into[1]) + float64(distance*part)
	between := float64(distance*distance) * float64(float64(into[0])*part)
	squares := float64(math.Float64frombits(into[2])+math.Float64frombits(later[2])) + float64(between)
	into[0] += later[0]
	into[1], into[2] = math.Float64bits(mean), math.Float64bits(squares)
}
