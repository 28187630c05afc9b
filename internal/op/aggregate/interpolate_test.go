package aggregate

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// TestInterpolate compares with big floats: the error is a few units in the last place of the larger
// operand, and the result lies between both.
func TestInterpolate(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		x, y := rapid.Float64().Draw(t, "x"), rapid.Float64().Draw(t, "y")
		if x > y {
			x, y = y, x
		}
		part := rapid.Float64Range(0, 1).Draw(t, "part")
		exact := new(big.Float).SetPrec(2200).Sub(new(big.Float).SetPrec(2200).SetFloat64(y), big.NewFloat(x))
		exact.Mul(exact, big.NewFloat(part)).Add(exact, big.NewFloat(x))
		want, _ := exact.Float64()
		got := Interpolate(x, y, part)
		require.False(t, math.IsInf(got, 0) || math.IsNaN(got), "%v of %v and %v", part, x, y)
		require.LessOrEqual(t, math.Abs(got/4-want/4), math.Max(math.Abs(x), math.Abs(y))*0x1p-52+math.SmallestNonzeroFloat64, "%v of %v and %v", part, x, y)
	})
}
