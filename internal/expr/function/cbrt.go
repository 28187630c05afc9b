package function

import "math"

// The cube root of m · 2^k is that of m · 2^(k − 3j), a number from 0.35 to 2.83, times 2^j. Three steps of
// Halley from a line give its digits, and one of Newton, with the rounding error of the cube, the last one:
// it is within 1 unit in the last place of the exact result.
var _ = registerFormula("cbrt", cubeRoot[float64, onHost], cubeRoot[register64, onDevice])

func cubeRoot[N any, C calculator[N]](c C, x N) N {
	a, zero := c.abs(x), c.constant(0)
	scaled := c.less(a, c.constant(least), c.mul(a, c.constant(1<<subShift)), a)
	m, k := c.split(scaled)
	j := c.nearest(c.mul(k, c.constant(1./3)))
	t := c.mul(m, c.power(c.fma(j, c.constant(-3), k)))
	root := c.fma(t, c.constant(0.33), c.constant(0.63))
	for range 3 {
		cube := c.mul(c.mul(root, root), root)
		root = c.div(c.mul(root, c.add(cube, c.add(t, t))), c.add(t, c.add(cube, cube)))
	}
	square := c.mul(root, root)
	lost := c.fma(root, root, negative(c, square))
	over := c.fma(negative(c, lost), root, c.fma(negative(c, square), root, t))
	root = c.add(root, c.div(over, c.mul(square, c.constant(3))))
	j = c.less(a, c.constant(least), c.sub(j, c.constant(subShift/3)), j)
	root = c.signed(c.mul(root, c.power(j)), x)
	return c.less(zero, a, c.less(a, c.constant(math.Inf(1)), root, x), x)
}
