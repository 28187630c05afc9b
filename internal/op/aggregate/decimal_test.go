package aggregate_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/op/aggregate"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

func TestTypesOfMeans(t *testing.T) {
	for _, c := range [][4]int32{
		{10, 2, 14, 6}, {1, 0, 5, 4}, {5, 5, 9, 9}, {34, 0, 38, 4}, {34, 30, 38, 34},
		// More than 34 digits: four of those before the point, as long as 19 are left.
		{35, 0, 38, 4}, {38, 0, 38, 4}, {38, 2, 38, 6}, {38, 17, 38, 19}, {38, 19, 38, 19}, {38, 38, 38, 38}, {36, 30, 38, 32},
	} {
		got := aggregate.MeanOfDecimals(&arrow.Decimal128Type{Precision: c[0], Scale: c[1]})
		require.Equal(t, &arrow.Decimal128Type{Precision: c[2], Scale: c[3]}, got, "decimal(%d, %d)", c[0], c[1])
		require.Equal(t, uint64(math.Pow10(int(c[3]-c[1]))), aggregate.MeanFactor(&arrow.Decimal128Type{Precision: c[0], Scale: c[1]}))
	}
}

// words returns an integer as three words in two's complement, the lowest first.
func words(x *big.Int) (w [3]uint64) {
	mask := new(big.Int).SetUint64(math.MaxUint64)
	for i := range w {
		w[i] = new(big.Int).And(new(big.Int).Rsh(x, uint(64*i)), mask).Uint64()
	}
	return w
}

// TestDecimalMean compares means with those of math/big, with halves and values around 38 digits.
func TestDecimalMean(t *testing.T) {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil)
	r := property.Random(t)
	for range 3000 {
		count := r.Uint64()>>(16+r.IntN(48)) + 1
		factor := uint64(math.Pow10(r.IntN(5)))
		sum := new(big.Int).SetUint64(r.Uint64())
		switch r.IntN(4) {
		case 0: // an odd number of halves
			sum.Mul(sum.SetBit(sum, 0, 1), new(big.Int).SetUint64(count))
			sum.Quo(sum, new(big.Int).SetUint64(2*factor))
		case 1: // near the limit
			sum.Rsh(sum, uint(r.IntN(64)))
			whole := new(big.Int).Mul(limit, new(big.Int).SetUint64(count))
			sum.Sub(whole.Quo(whole, new(big.Int).SetUint64(factor)), sum.Sub(sum, big.NewInt(1<<10)))
		default:
			sum.Lsh(sum, uint(r.IntN(100)))
		}
		if r.IntN(2) == 0 {
			sum.Neg(sum)
		}
		want := new(big.Int).Abs(sum)
		want.Mul(want, new(big.Int).SetUint64(2*factor)).Add(want, new(big.Int).SetUint64(count))
		want.Quo(want, new(big.Int).Lsh(new(big.Int).SetUint64(count), 1))
		fits := want.Cmp(limit) < 0
		if sum.Sign() < 0 {
			want.Neg(want)
		}
		mean, ok := aggregate.DecimalMean(words(sum), count, factor)
		require.Equal(t, fits, ok, "%v · %d / %d", sum, factor, count)
		if ok {
			low := words(want)
			require.Equal(t, [2]uint64(low[:2]), mean, "%v · %d / %d", sum, factor, count)
		}
		require.Equal(t, new(big.Int).Abs(sum).Cmp(limit) < 0, aggregate.FitsDecimal(words(sum)))
	}
}
