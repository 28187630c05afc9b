package aggregate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// kinds has each kind with a form of its values.
var kinds = map[Kind]Form{
	Count: 0, CountTrue: Boolean, SumInteger: Signed64, ProductInteger: Unsigned64, SumWide: Signed64, SumDecimal: Wide, SumFloat: Float64, ProductFloat: Float64,
	MinSigned: Signed64, MaxSigned: Signed64, MinUnsigned: Unsigned64, MaxUnsigned: Unsigned64, MinFloat: Float64, MaxFloat: Float64,
	MinWide: Wide, MaxWide: Wide, Moments: Float64, FirstLeast: Float64, FirstGreatest: Signed64, FirstLeastWide: Wide, FirstGreatestWide: Wide,
}

func random(r *rand.Rand, form Form) uint64 {
	switch form {
	case Boolean:
		return r.Uint64N(2)
	case Float64:
		return math.Float64bits(r.NormFloat64())
	}
	return r.Uint64() >> r.IntN(64)
}

// partial returns the partial of random rows.
func partial(r *rand.Rand, kind Kind, form Form, rows int) []uint64 {
	h := NewHost(kind, form)
	low, high, keep := make([]uint64, rows), make([]uint64, rows), make([]bool, rows)
	for i := range rows {
		low[i], high[i], keep[i] = random(r, form), random(r, form), r.IntN(3) > 0
	}
	h.Add(low, high, keep, int64(r.IntN(1000)))
	return h.Partial()
}

// TestIdentity checks that merging with the partial of no rows changes no bit, on
// either side. The kernels rely on it for lanes without rows.
func TestIdentity(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for kind, form := range property.InOrder(kinds) {
		require.Equal(t, kind.Words(), len(IdentityHost(kind)))
		for rows := range 5 {
			p := partial(r, kind, form, rows)
			left, right := IdentityHost(kind), append([]uint64(nil), p...)
			MergeHost(kind, left, p)
			MergeHost(kind, right, IdentityHost(kind))
			require.Equal(t, p, left, "kind %d of %d rows, behind none", kind, rows)
			require.Equal(t, p, right, "kind %d of %d rows, ahead of none", kind, rows)
		}
	}
}

// TestOrderOfTheTree checks that neighbours are merged first.
func TestOrderOfTheTree(t *testing.T) {
	all := make([]uint64, Lanes)
	want := make([]float64, Lanes)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range all {
		want[i] = math.Ldexp(r.NormFloat64(), r.IntN(60))
		all[i] = math.Float64bits(want[i])
	}
	for n := Lanes / 2; n > 0; n /= 2 {
		for i := range n {
			want[i] = want[2*i] + want[2*i+1]
		}
	}
	require.Equal(t, math.Float64bits(want[0]), MergeNeighbours(SumFloat, all)[0])
}

// TestExtremesOfZerosAndNaN checks the cases in which Go's min and max differ.
func TestExtremesOfZerosAndNaN(t *testing.T) {
	minus, nan := math.Copysign(0, -1), math.NaN()
	for _, c := range []struct {
		kind    Kind
		x, y, z float64
	}{
		{MinFloat, 0, minus, minus}, {MinFloat, minus, 0, minus}, {MaxFloat, 0, minus, 0}, {MaxFloat, minus, 0, 0},
		{MinFloat, nan, 5, 5}, {MinFloat, 5, nan, 5}, {MaxFloat, -nan, 5, 5}, {MaxFloat, math.Inf(-1), nan, math.Inf(-1)},
	} {
		into := []uint64{math.Float64bits(c.x)}
		MergeHost(c.kind, into, []uint64{math.Float64bits(c.y)})
		require.Equal(t, math.Float64bits(c.z), into[0], "%v", c)
	}
	both := []uint64{math.Float64bits(nan) | 7}
	MergeHost(MinFloat, both, []uint64{math.Float64bits(-nan)})
	require.EqualValues(t, uint64(canonicalNaN), both[0])
}
