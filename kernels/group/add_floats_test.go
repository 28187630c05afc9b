package group

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAddFloats compares sums and products of blocks with those of the values one by one.
func TestAddFloats(t *testing.T) {
	special := []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), math.SmallestNonzeroFloat64, math.MaxFloat64, 0x1p-1022, 1e300, -1e-300}
	random := rand.New(rand.NewPCG(1, 7))
	for _, spread := range []int{1, 30, 120, 2000} {
		for range 200 {
			x, y := make([]uint64, random.IntN(40)), make([]uint64, 40)
			value := func() uint64 {
				if spread == 2000 && random.IntN(20) == 0 {
					return math.Float64bits(special[random.IntN(len(special))])
				}
				return math.Float64bits(math.Ldexp(random.NormFloat64(), random.IntN(spread)-spread/2))
			}
			wantSum, wantProducts := make([]uint64, sumBins+sumBinCount), make([]uint64, sumBins+powerBinCount)
			sum, products := make([]uint64, sumBins+sumBinCount), make([]uint64, sumBins+powerBinCount)
			for range 2 { // the second block begins with a state
				for i := range x {
					x[i], y[i] = value(), value()
					addFloat(wantSum, math.Float64frombits(x[i]))
					addTerm(wantProducts, crossed, math.Float64frombits(x[i]), math.Float64frombits(y[i]))
				}
				addFloats(sum, x)
				addProducts(products, x, y, new([blockRows]uint64), new([blockRows]uint64))
				require.Equal(t, wantSum, sum)
				require.Equal(t, wantProducts, products)
			}
		}
	}
}
