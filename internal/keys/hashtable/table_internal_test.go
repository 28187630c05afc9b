package hashtable

import (
	"math"
	"math/bits"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// TestSlotsHaveNumbersOf32Bits tests the largest numbers of rows: the number of the slot
// of the nulls, the last one, still differs from no_row.
func TestSlotsHaveNumbersOf32Bits(t *testing.T) {
	for _, n := range []int{1, 2, 1000, 1 << 30, 1<<30 + 1, math.MaxInt32} {
		assert.GreaterOrEqual(t, slotsFor(n), 2*uint64(n), "%d rows fill at most half", n)
		assert.Less(t, slotsFor(n), uint64(math.MaxUint32), "%d rows", n)
	}
}

// unmixed is the inverse of mixed in insert.cuh.
func unmixed(word uint64) uint64 {
	inverse := func(x uint64) uint64 { // Newton's iteration
		y := x
		for range 6 {
			y *= 2 - x*y
		}
		return y
	}
	word = (word ^ word>>33) * inverse(0xc4ceb9fe1a85ec53)
	word = (word ^ word>>33) * inverse(0xff51afd7ed558ccd)
	return word ^ word>>33
}

// longestRun returns the largest number of adjacent used slots: the most keys that one
// key can be compared with.
func longestRun(slots []uint32) int {
	longest, run := 0, 0
	for _, row := range slots {
		run++
		if row == math.MaxUint32 {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// TestChosenKeysSpread inserts keys that all hash to the first slot of a table with known
// seeds. In a table with random seeds they are spread as other keys are.
func TestChosenKeysSpread(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	mgr := devicetest.Manager(t, dev, memory.Options{})
	const n = 2048
	values := make([]uint64, n)
	for i := range values {
		// The home of a hash is its high half times the number of slots.
		home, _ := bits.Mul64(uint64(i), slotsFor(n))
		require.Zero(t, home)
		values[i] = unmixed(uint64(i))
	}
	numbers, err := memory.NewSlice[uint64](mgr, n, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, numbers.Upload(t.Context(), nil, values))
	c, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Uint64, Length: n, Buffers: []column.Bytes{{}, numbers.AsBytes()}})
	require.NoError(t, err)
	require.NoError(t, numbers.Release())
	defer func() { require.NoError(t, c.Release()) }()

	call, err := op.Begin(t.Context(), kernels.Options{}, c)
	require.NoError(t, err)
	g := &Groups{call: call, column: c, distinct: n}
	k, err := keysOf(c)
	require.NoError(t, err)
	runOf := func(change func(*table)) int {
		hashes, err := newTable(&call, slotsFor(n))
		require.NoError(t, err)
		defer func() { require.NoError(t, hashes.block.Release()) }()
		change(&hashes)
		require.NoError(t, g.insert(k, hashes))
		slots := make([]uint32, hashes.slots.Len())
		require.NoError(t, hashes.slots.Download(t.Context(), call.Stream, slots))
		return longestRun(slots[:len(slots)-1])
	}
	require.Equal(t, n, runOf(func(h *table) { h.seed, h.factor = 0, 1 }), "the keys collide where the seeds are known")
	for range 3 {
		// Of half as many keys as slots, the longest run is about 30 at random.
		require.Less(t, runOf(func(*table) {}), 200)
	}
}

// TestTablesHaveSeedsOfTheirOwn compares the seeds of two tables.
func TestTablesHaveSeedsOfTheirOwn(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	mgr := devicetest.Manager(t, dev, memory.Options{})
	call, err := op.Begin(t.Context(), kernels.Options{Manager: mgr})
	require.NoError(t, err)
	first, err := newTable(&call, slotsFor(1))
	require.NoError(t, err)
	second, err := newTable(&call, slotsFor(1))
	require.NoError(t, err)
	require.NotEqual(t, [2]uint64{first.seed, first.factor}, [2]uint64{second.seed, second.factor})
	require.NotZero(t, first.factor&1)
	require.NotZero(t, second.factor&1)
	require.NoError(t, first.block.Release())
	require.NoError(t, second.block.Release())
}
