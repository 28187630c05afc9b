package observe

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestDifferenceHasWhatChanged(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	r, err := New(Options{Managers: []*memory.Manager{mgr, mgr}, SampleBytes: 1})
	require.NoError(t, err)
	defer r.Close()
	require.Len(t, r.Managers(), 1, "a manager is recorded once")
	allocate := func(bytes uint64) *memory.Block {
		block, err := mgr.Allocate(bytes, memory.AllocateOptions{})
		require.NoError(t, err)
		return block
	}
	first := allocate(100)
	before := r.heap.profile()
	second := allocate(30)
	require.NoError(t, first.Release())
	made, err := difference(before, r.heap.profile())
	require.NoError(t, err)
	sums := make([]int64, 4)
	for _, s := range made.Sample {
		for i, v := range s.Value {
			sums[i] += v
		}
	}
	assert.Equal(t, []int64{1, 30, 0, -70}, sums)
	require.NoError(t, second.Release())
	_, err = New(Options{Managers: []*memory.Manager{nil}})
	require.ErrorContains(t, err, "Options.Managers[0] is nil")
}
