package ablation_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/keys/radix"
	"github.com/gpuframe/gpuframe/internal/keys/radix/ablation"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// TestVariants sorts random keys with every form.
func TestVariants(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		random := rand.New(rand.NewPCG(1, 2))
		rows := 30_001
		if testing.Short() && devicetest.Emulated(dev) {
			rows = 12_500 // two tiles of most forms
		}
		for _, v := range ablation.Variants() {
			t.Run(v.Name, func(t *testing.T) {
				s := radix.Sort{Width: v.Width, High: v.Width, Rows: rows, Input: true, Limits: v.Limits}
				if v.Width == 32 {
					sortedAs(t, mgr, s, func() uint32 { return random.Uint32() })
				} else {
					sortedAs(t, mgr, s, random.Uint64)
				}
			})
		}
	})
}

func sortedAs[T uint32 | uint64](t *testing.T, mgr *memory.Manager, s radix.Sort, random func() T) {
	keys := make([]T, s.Rows)
	for i := range keys {
		keys[i] = random()
	}
	call, err := op.Begin(t.Context(), kernels.Options{Manager: mgr})
	require.NoError(t, err)
	of := s.InputScratch()
	block, buffers, err := call.Scratch(s.KeyBytes(), s.KeyBytes(), of[1], of[3])
	require.NoError(t, err)
	defer func() { require.NoError(t, block.Release()) }()
	values, err := memory.Reinterpret[T](buffers[0])
	require.NoError(t, err)
	require.NoError(t, values.Upload(t.Context(), nil, keys))
	require.NoError(t, s.Run(&call, radix.Buffers{Input: buffers[0], Keys: [2]memory.Slice[uint8](buffers[1:3]), State: buffers[3]}))
	result, err := memory.Reinterpret[T](buffers[1])
	require.NoError(t, err)
	got := make([]T, s.Rows)
	require.NoError(t, result.Download(t.Context(), nil, got))
	slices.Sort(keys)
	require.True(t, slices.Equal(keys, got))
}
