package buffer_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// waiting returns when the given number of requests wait for memory.
func waiting(t *testing.T, mgr *memory.Manager, requests int) {
	await.Until(t, func() bool { return mgr.Stats().Waiting == requests }, "%d requests wait", requests)
}

// A load with a context waits behind earlier requests for memory. A load without a
// context fails instead, because nothing could end its wait.
func TestLoadsWaitForTheirTurn(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{Budget: 1 << 20, PassingPeriod: -1})
	record := flights(t, 10)
	held, err := mgr.Allocate(512<<10, memory.AllocateOptions{})
	require.NoError(t, err)
	large := make(chan error)
	go func() {
		block, err := mgr.AllocateWait(context.Background(), 768<<10, memory.AllocateOptions{})
		if err == nil {
			err = block.Release()
		}
		large <- err
	}()
	waiting(t, mgr, 1)

	_, err = buffer.FromRecord(mgr, record)
	require.ErrorIs(t, err, memory.ErrBudget)

	ctx, cancel := context.WithCancelCause(t.Context())
	loaded := make(chan error)
	load := func(ctx context.Context) {
		table, err := buffer.FromRecordWith(ctx, mgr, record, buffer.LoadOptions{})
		if err == nil {
			err = table.Release()
		}
		loaded <- err
	}
	go load(ctx)
	waiting(t, mgr, 2)
	cancel(errInjected)
	require.ErrorIs(t, <-loaded, errInjected)

	go load(t.Context())
	waiting(t, mgr, 2)
	require.NoError(t, held.Release())
	require.NoError(t, <-large)
	require.NoError(t, <-loaded)
}
