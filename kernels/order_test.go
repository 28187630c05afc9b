package kernels_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/internal/testing/stall"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// TestLaunchIsOrdered launches on one stream while a write to an argument's memory is
// pending on another, blocked stream. The launch's stream must wait for an event that
// is recorded after the write, unless all arguments in the block are Unordered.
func TestLaunchIsOrdered(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"k": {}}}
	dev, module := loadKernels(t, gpu, kernels.LoadOptions{})
	mgr := devicetest.Manager(t, dev, memory.Options{})
	f, other := function(t, module, "k"), newStream(t, dev)
	gates := stall.New(t, dev)
	values := newSlice[uint8](t, mgr, 8)
	words := &kernels.Words{Values: []uint64{0}, Blocks: []*memory.Block{values.Block()}}
	unordered := values.Unordered()
	for _, c := range []struct {
		arguments []any
		waits     bool
	}{
		{[]any{values}, true}, {[]any{values.Block()}, true}, {[]any{kernels.Output(values)}, true}, {[]any{words}, true},
		{[]any{unordered, values}, true}, {[]any{values, unordered}, true}, {[]any{unordered, words}, true},
		{[]any{unordered}, false}, {[]any{unordered, kernels.Output(unordered)}, false},
	} {
		gate := gates.Hold(mgr.Stream())
		require.NoError(t, values.Fill(nil, 7))
		before := len(gpu.Calls())
		require.NoError(t, f.Launch(other, device.Dim3{}, device.Dim3{}, 0, c.arguments...))
		require.True(t, gate.Holding(), "the host does not wait")
		calls := gpu.Calls()[before:]
		require.Equal(t, c.waits, slices.Contains(calls, eventRecord(mgr.Stream())), "%T: %v", c.arguments[0], calls)
		gate.Release()
		require.NoError(t, mgr.Stream().Synchronize(t.Context()))
		require.NoError(t, other.Synchronize(t.Context()))
	}
}
