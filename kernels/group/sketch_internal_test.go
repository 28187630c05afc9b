package group

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// hashOf is mixed of hash.cuh.
func hashOf(x uint64) uint64 {
	const factor = 0xd6e8feb86659fd93
	x = (x ^ x>>32) * factor
	x = (x ^ x>>29) * factor
	return x ^ x>>32
}

// sketchOf is sketch_keys.
func sketchOf(keys []uint64) []uint32 {
	registers := make([]uint32, sketchRegisters)
	for _, key := range keys {
		hash := hashOf(key)
		rank := uint32(bits.LeadingZeros64(hash<<sketchBits|1<<(sketchBits-1))) + 1
		register := &registers[hash>>(64-sketchBits)]
		*register = max(*register, rank)
	}
	return registers
}

// sketchDraws are distributions of n keys.
var sketchDraws = map[string]func(r *rand.Rand, n int) []uint64{
	"uniform": func(r *rand.Rand, n int) []uint64 {
		return keysOf(n, func(int) uint64 { return uint64(r.IntN(n/3+1)) * 0x9e3779b97f4a7c15 })
	},
	"zipf": func(r *rand.Rand, n int) []uint64 {
		z := rand.NewZipf(r, 1.1, 1, math.MaxUint32)
		return keysOf(n, func(int) uint64 { return z.Uint64() << 20 })
	},
	"sorted": func(r *rand.Rand, n int) []uint64 {
		key := uint64(0)
		return keysOf(n, func(int) uint64 {
			if r.IntN(4) == 0 {
				key += 1 + uint64(r.IntN(1000))
			}
			return key
		})
	},
	"one key 90 %": func(r *rand.Rand, n int) []uint64 {
		return keysOf(n, func(int) uint64 {
			if r.IntN(10) > 0 {
				return 7
			}
			return r.Uint64()
		})
	},
	"distinct":         func(r *rand.Rand, n int) []uint64 { return keysOf(n, func(int) uint64 { return r.Uint64() }) },
	"consecutive":      func(_ *rand.Rand, n int) []uint64 { return keysOf(n, func(i int) uint64 { return uint64(i) }) },
	"multiples of 2⁴⁰": func(_ *rand.Rand, n int) []uint64 { return keysOf(n, func(i int) uint64 { return uint64(i) << 40 }) },
	"negative":         func(_ *rand.Rand, n int) []uint64 { return keysOf(n, func(i int) uint64 { return uint64(-100 * i) }) },
	"equal":            func(r *rand.Rand, n int) []uint64 { x := r.Uint64(); return keysOf(n, func(int) uint64 { return x }) },
	"zero":             func(_ *rand.Rand, n int) []uint64 { return make([]uint64, n) },
}

func keysOf(n int, key func(i int) uint64) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = key(i)
	}
	return keys
}

// TestDistinctEstimates requires estimates of every distribution, and of any number of rows, within five
// standard errors: one in two million would be outside by chance.
func TestDistinctEstimates(t *testing.T) {
	r := rand.New(rand.NewPCG(91, 92))
	for name, draw := range property.InOrder(sketchDraws) {
		for _, n := range []int{0, 1, 2, 10, 300, 2000, 5000, 40_000, 300_000} {
			keys := draw(r, n)
			different := map[uint64]bool{}
			for _, key := range keys {
				different[key] = true
			}
			want := float64(len(different))
			require.InDelta(t, want, float64(distinctOf(sketchOf(keys))), 5*sketchError*want+0.5, "%s, %d rows", name, n)
		}
	}
}

// TestErrorOfEstimates compares the mean and the deviation of many estimates with those of the theory.
// With 400 of them the deviation has an error of 3.5 %, the mean one of 5 % of the deviation.
func TestErrorOfEstimates(t *testing.T) {
	const trials = 400
	r := rand.New(rand.NewPCG(93, 94))
	for _, n := range []int{6000, 20_000} {
		sum, squares := 0.0, 0.0
		for range trials {
			deviation := float64(distinctOf(sketchOf(sketchDraws["distinct"](r, n))))/float64(n) - 1
			sum, squares = sum+deviation, squares+deviation*deviation
		}
		require.InDelta(t, 0, sum/trials, 0.25*sketchError, "%d keys", n)
		require.InDelta(t, sketchError, math.Sqrt(squares/trials), 0.2*sketchError, "%d keys", n)
	}
}

// TestEstimatesOfFullRegisters has more keys than hashes, and no key.
func TestEstimatesOfFullRegisters(t *testing.T) {
	registers := make([]uint32, sketchRegisters)
	require.Zero(t, distinctOf(registers))
	for i := range registers {
		registers[i] = mostRank
	}
	require.Greater(t, distinctOf(registers), uint64(1)<<62)
}
