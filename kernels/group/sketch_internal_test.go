package group

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
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

// planOf plans partitions by hashes of a key with a large range and a known estimate.
func planOf(t *testing.T, mgr *memory.Manager, rows int, distinct uint64, choice strategy.Group) *partitionPlan {
	t.Helper()
	k := columntest.ColumnOf(t, mgr, arrow.PrimitiveTypes.Int64, make([]int64, rows))
	k.LearnDistinctEstimate(distinct)
	x := columntest.ColumnOf(t, mgr, arrow.PrimitiveTypes.Float64, make([]float64, rows))
	table, err := tableOf([]string{"k", "x"}, []*column.Column{k, x}, buffer.Rows{Count: int64(rows)})
	require.NoError(t, err)
	q, ctx := By(table, Columns("k")...), strategy.WithGroup(t.Context(), choice)
	r := &run{presence: -1, ranks: map[int]*column.Column{}}
	r.plan, err = q.check([]Aggregate{Sum(expr.Col("x"))}, &r.options)
	require.NoError(t, err)
	require.NoError(t, r.load(ctx, q))
	r.call, err = op.Begin(ctx, r.options.Options, k, x)
	require.NoError(t, err)
	planned, err := r.planHashed(q)
	require.NoError(t, err)
	require.NoError(t, r.close())
	require.NoError(t, table.Release())
	return planned
}

// TestChoiceOfHashes requires the number of places that is chosen by the rows and an estimate of the groups, or none.
func TestChoiceOfHashes(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	for _, test := range []struct {
		name     string
		rows     int
		distinct uint64
		choice   strategy.Group
		budget   uint64
		places   uint64
	}{
		{name: "few rows", rows: fewestHashedRows - 1, distinct: 100_000},
		{name: "few groups", rows: fewestHashedRows, distinct: 100},
		{name: "groups of tiles", rows: fewestHashedRows, distinct: 20_000},
		{name: "more groups", rows: fewestHashedRows, distinct: mostDensePlaces + 1, places: 1 << 17},
		{name: "distinct keys", rows: 1 << 20, distinct: 1 << 20, places: 1 << 21},
		{name: "too small a budget", rows: 1 << 20, distinct: 1 << 20, budget: 40 << 20},
		{name: "a budget", rows: 1 << 20, distinct: 1 << 20, budget: 200 << 20, places: 1 << 21},
		{name: "numbered", rows: 1 << 20, distinct: 1 << 20, choice: strategy.Group{Numbered: true}},
		{name: "estimated", rows: 10, distinct: 3, choice: strategy.Group{Estimated: true}, places: 8},
		{name: "given", rows: 10, distinct: 3, choice: strategy.Group{HashedGroups: 100}, places: 256},
	} {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: test.budget})
		planned := planOf(t, mgr, test.rows, test.distinct, test.choice)
		if test.places == 0 {
			require.Nil(t, planned, test.name)
			continue
		}
		require.NotNil(t, planned, test.name)
		require.Equal(t, test.places, planned.keys.places, test.name)
	}
}
