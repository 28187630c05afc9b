package op_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// waiting waits until a number of requests wait for memory of the manager.
func waiting(t *testing.T, mgr *memory.Manager, n int) {
	t.Helper()
	await.Until(t, func() bool { return mgr.Stats().Waiting == n }, "%d requests wait", n)
}

// TestOperatorsWaitForTheirTurn has an old request wait for more memory than is free.
// Operators queue behind it instead of failing, until their context is done.
func TestOperatorsWaitForTheirTurn(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 4096, PassingPeriod: -1})
		for name, allocate := range map[string]func(*op.Call) error{
			"Allocate": func(call *op.Call) error {
				block, _, err := call.Allocate(512)
				if err != nil {
					return err
				}
				return block.Release()
			},
			"NewSlice": func(call *op.Call) error {
				slice, err := op.NewSlice[int64](call, 64)
				if err != nil {
					return err
				}
				return slice.Release()
			},
		} {
			t.Run(name, func(t *testing.T) {
				held, err := mgr.Allocate(3072, memory.AllocateOptions{})
				require.NoError(t, err)
				large := make(chan error, 1)
				go func() {
					block, err := mgr.AllocateWait(t.Context(), 2048, memory.AllocateOptions{})
					if err == nil {
						err = block.Release()
					}
					large <- err
				}()
				waiting(t, mgr, 1)

				cause := assert.AnError
				ended, cancel := context.WithCancelCause(t.Context())
				inTurn := make(chan error, 2)
				for _, ctx := range []context.Context{ended, t.Context()} {
					call, err := op.Begin(ctx, kernels.Options{Manager: mgr})
					require.NoError(t, err)
					go func() { inTurn <- allocate(&call) }()
				}
				waiting(t, mgr, 3)
				cancel(cause)
				err = <-inTurn
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, err, cause)
				require.NoError(t, held.Release())
				require.NoError(t, <-large)
				require.NoError(t, <-inTurn)
			})
		}
	})
}
