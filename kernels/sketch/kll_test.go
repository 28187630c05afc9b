package sketch

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// kllOfNumbers returns the sketch of some values.
func kllOfNumbers(k int, values ...float64) *kll[float64] {
	s := newKLL[float64](k, doubles{})
	for _, v := range values {
		s.add(v)
	}
	return s
}

// distributions are values with different orders and frequencies.
var distributions = map[string]func(r *rand.Rand, n int) []float64{
	"uniform":     drawn(func(r *rand.Rand, _ int) float64 { return r.Float64() }),
	"normal":      drawn(func(r *rand.Rand, _ int) float64 { return r.NormFloat64() }),
	"exponential": drawn(func(r *rand.Rand, _ int) float64 { return math.Exp(10 * r.ExpFloat64()) }),
	"ascending":   drawn(func(_ *rand.Rand, i int) float64 { return float64(i) }),
	"descending":  drawn(func(_ *rand.Rand, i int) float64 { return float64(-i) }),
	"from inside": drawn(func(_ *rand.Rand, i int) float64 { return float64(i * (1 - i%2*2)) }),
	"repeated":    drawn(func(r *rand.Rand, _ int) float64 { return float64(r.IntN(20)) }),
	"periodic":    drawn(func(_ *rand.Rand, i int) float64 { return float64(i % 1000) }),
	"infinite":    drawn(func(r *rand.Rand, _ int) float64 { return 1 / float64(r.IntN(3)-1) }),
	"one value":   drawn(func(*rand.Rand, int) float64 { return 7 }),
}

func drawn(draw func(r *rand.Rand, i int) float64) func(r *rand.Rand, n int) []float64 {
	return func(r *rand.Rand, n int) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = draw(r, i)
		}
		return values
	}
}

// errorOfK is the error of a rank that DataSketches states for 99 of 100 queries.
func errorOfK(k int) float64 { return 2.296 / math.Pow(float64(k), 0.9723) }

// requireRanks counts the quantiles and ranks with a greater error than k has: at most two of 100.
func requireRanks(t *testing.T, name string, s *kll[float64], k int, values []float64) {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	n, wrong := float64(len(sorted)), 0
	const queries = 100
	for i := range queries {
		q := (float64(i) + 0.5) / queries
		v := s.quantile(q)
		first, _ := slices.BinarySearch(sorted, v)
		last, present := slices.BinarySearch(sorted, math.Nextafter(v, math.Inf(1)))
		require.True(t, present || last > first || math.IsInf(v, 0), "%s: %v is none of the values", name, v)
		if math.IsInf(v, 1) {
			last = len(sorted)
		}
		if float64(first)/n > q+errorOfK(k) || float64(last)/n < q-errorOfK(k) || math.Abs(s.rank(v)-float64(last)/n) > errorOfK(k) {
			wrong++
		}
	}
	require.LessOrEqual(t, wrong, 2, "%s, k %d, %d values", name, k, len(values))
	require.Equal(t, []float64{sorted[0], sorted[len(sorted)-1], float64(len(sorted))}, []float64{s.quantile(0), s.quantile(1), float64(s.n)}, name)
}

// TestKLLErrors requires the error that DataSketches states, of whole sketches, of merged ones, and of ones that were merged with
// others of another size.
func TestKLLErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, draw := range distributions {
		for _, k := range []int{20, 200, 500} {
			for _, n := range []int{1, 100, 5000, 60_000} {
				values := draw(r, n)
				requireRanks(t, name, kllOfNumbers(k, values...), k, values)
				merged := newKLL[float64](k, doubles{})
				for part := range slices.Chunk(values, 1+n/7) {
					require.NoError(t, merged.merge(kllOfNumbers(k+len(part)%3*50, part...)))
				}
				requireRanks(t, name+", merged", merged, k, values)
				require.LessOrEqual(t, merged.retained(), merged.places(), name)
			}
		}
	}
}

// TestKLLIsExact compares quantiles of few values, which a sketch has all, with their definition.
func TestKLLIsExact(t *testing.T) {
	s := kllOfNumbers(200, 30, 10, math.NaN(), 20, 40)
	for q, want := range map[float64]float64{0: 10, 0.25: 10, 0.26: 20, 0.5: 20, 0.75: 30, 0.99: 40, 1: 40} {
		require.Equal(t, want, s.quantile(q), "rank %v", q)
	}
	for v, want := range map[float64]float64{9: 0, 10: 0.25, 15: 0.25, 30: 0.75, 40: 1, math.Inf(1): 1, math.Inf(-1): 0} {
		require.Equal(t, want, s.rank(v), "value %v", v)
	}
	require.Equal(t, int64(4), s.n)
}

// TestKLLIsDeterministic requires equal bytes of equal rows, and of sketches that are merged in the same order.
func TestKLLIsDeterministic(t *testing.T) {
	values := distributions["normal"](rand.New(rand.NewPCG(5, 6)), 20_000)
	merged := func() []byte {
		s := kllOfNumbers(100, values[:9000]...)
		require.NoError(t, s.merge(kllOfNumbers(100, values[9000:]...)))
		return s.bytes()
	}
	require.Equal(t, kllOfNumbers(100, values...).bytes(), kllOfNumbers(100, values...).bytes())
	require.Equal(t, merged(), merged())
}

// TestKLLCoins requires that both halves of a level stay about equally often.
func TestKLLCoins(t *testing.T) {
	heads := 0
	const throws = 10_000
	for i := range throws {
		heads += coin(valueForm[float64](doubles{}), []float64{float64(i), float64(i) + 1}, int64(i/100))
	}
	require.InDelta(t, throws/2, heads, 4*math.Sqrt(throws)/2)
}

// TestKLLOfTooManyValues refuses a merge of more values than int64 counts.
func TestKLLOfTooManyValues(t *testing.T) {
	s, other := kllOfNumbers(8, 1), kllOfNumbers(8, 2)
	other.n = mostValues
	require.ErrorIs(t, s.merge(other), errTooMany)
}

// TestKLLCapacities compares the capacity of all levels with the rule of the format, of exact fractions.
func TestKLLCapacities(t *testing.T) {
	for _, k := range []int{8, 200, 1000, MostKLL} {
		s := newKLL[float64](k, doubles{})
		for levels := 1; levels <= 30; levels++ {
			for level, got := range s.capacity {
				want := float64(k) * math.Pow(2.0/3, float64(levels-level-1))
				require.InDelta(t, math.Max(want, levelWidth), got, 0.51, "k %d, level %d of %d", k, level, levels)
			}
			s.raise(1)
		}
	}
}

// TestKLLExactFractions requires value i of n for the fraction i/n, also where the product of the floats is above i: DataSketches
// rounds it to seven digits.
func TestKLLExactFractions(t *testing.T) {
	above := 0
	for _, n := range []int{7, 10, 100, 150, 199} {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(i + 1)
		}
		s := kllOfNumbers(200, values...)
		for i := 1; i <= n; i++ {
			q := float64(i) / float64(n)
			require.Equal(t, float64(i), s.quantile(q), "%d of %d", i, n)
			if q*float64(n) > float64(i) {
				above++
			}
		}
	}
	require.Positive(t, above)
}
