package memory_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// testClock is a clock that advances only on demand.
type testClock struct{ nanoseconds atomic.Int64 }

func (c *testClock) read() time.Time { return time.Unix(0, c.nanoseconds.Load()) }

func (c *testClock) pass(d time.Duration) { c.nanoseconds.Add(int64(d)) }

// agingManager returns a manager with requests that age after one minute of the
// clock.
func agingManager(t *testing.T, dev *device.Device, options memory.Options) (*memory.Manager, *testClock) {
	t.Helper()
	options.PassingPeriod = time.Minute
	mgr := devicetest.Manager(t, dev, options)
	clock := new(testClock)
	memory.SetClock(mgr, clock.read)
	return mgr, clock
}

func allocateContextLater(t testing.TB, ctx context.Context, m *memory.Manager, bytes uint64) <-chan result {
	t.Helper()
	before := m.Stats().Waiting
	results := make(chan result, 1)
	go func() {
		block, err := m.AllocateContext(ctx, bytes, memory.AllocateOptions{Tag: "turn"})
		results <- result{block, err}
	}()
	requireWaiting(t, m, before+1)
	return results
}

// Regression: one waiting tenant made every request of all other tenants fail,
// although there was room.
func TestSmallerRequestsPassUntilTheWaitingOneHasAged(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr, clock := agingManager(t, dev, memory.Options{Budget: 100})
		a, b := mustChild(t, mgr, "a", 0), mustChild(t, mgr, "b", 20)
		held := mustAllocate(t, mgr, 30, "held")
		large := allocateLater(t, await.Context(t), a, 80, memory.AllocateOptions{Tag: "large"})

		little := mustAllocate(t, b, 1, "fits")
		waited, err := b.AllocateWait(t.Context(), 2, memory.AllocateOptions{})
		require.NoError(t, err, "requests in the queue pass, too")
		require.NoError(t, mgr.Check(7))
		job, err := b.Reserve("job", 4)
		require.NoError(t, err)
		assert.Equal(t, 1, mgr.Stats().Waiting)

		clock.pass(time.Minute - 1)
		require.NoError(t, mustAllocate(t, b, 10, "still young").Release())
		clock.pass(1)
		_, err = b.Allocate(1, memory.AllocateOptions{})
		var budget *memory.BudgetError
		require.ErrorAs(t, err, &budget)
		assert.Equal(t, 1, budget.Waiting)
		assert.ErrorContains(t, err, "1 requests wait ahead; wait behind them with Manager.AllocateContext")
		require.ErrorIs(t, mgr.Check(1), memory.ErrBudget)
		_, err = b.Reserve("another job", 1)
		require.ErrorIs(t, err, memory.ErrBudget)
		require.NoError(t, mustAllocate(t, job, 4, "reserved before").Release())

		for _, block := range []*memory.Block{little, waited, held} {
			require.NoError(t, block.Release())
		}
		require.NoError(t, job.Close())
		require.NoError(t, mustTake(t, large).Release())
		require.NoError(t, mustAllocate(t, b, 20, "free again").Release())
		requireNothingHeld(t, mgr.Stats())
		require.NoError(t, a.Close())
		require.NoError(t, b.Close())
	})
}

// A request as large as the waiting one does not overtake it: it would take the
// memory that was released for that request.
func TestOnlySmallerRequestsPass(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		resource := newSmall(dev, 100)
		mgr, _ := agingManager(t, dev, memory.Options{Budget: 1000, Resource: resource})
		held := mustAllocate(t, mgr, 60, "held")
		waits := allocateLater(t, await.Context(t), mgr, 50, memory.AllocateOptions{})
		for _, bytes := range []uint64{50, 51, 900} {
			_, err := mgr.Allocate(bytes, memory.AllocateOptions{})
			require.ErrorIs(t, err, memory.ErrBudget)
		}
		require.NoError(t, mustAllocate(t, mgr, 40, "smaller").Release())
		require.NoError(t, held.Release())
		require.NoError(t, mustTake(t, waits).Release())
	})
}

func TestContextRequestsWaitForTheirTurn(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr, clock := agingManager(t, dev, memory.Options{Budget: 100})
		held := mustAllocate(t, mgr, 30, "held")
		_, err := mgr.AllocateContext(t.Context(), 71, memory.AllocateOptions{})
		require.ErrorIs(t, err, memory.ErrBudget, "nobody is ahead: it fails as Allocate does")
		block, err := mgr.AllocateContext(t.Context(), 70, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, block.Release())

		large := allocateLater(t, await.Context(t), mgr, 80, memory.AllocateOptions{})
		clock.pass(time.Hour)
		fits := allocateContextLater(t, await.Context(t), mgr, 15)
		tooMuch := allocateContextLater(t, await.Context(t), mgr, 60)
		_, err = mgr.AllocateContext(t.Context(), 101, memory.AllocateOptions{})
		require.ErrorIs(t, err, memory.ErrBudget, "no turn helps")
		require.NoError(t, held.Release())
		first, second := mustTake(t, large), mustTake(t, fits)
		_, err = take(t, tooMuch)
		require.ErrorIs(t, err, memory.ErrBudget, "its turn came, and 5 bytes were left")
		require.NoError(t, first.Release())
		require.NoError(t, second.Release())
		requireNothingHeld(t, mgr.Stats())
	})
}

func TestContextRequestsGiveUpTheirTurn(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr, clock := agingManager(t, dev, memory.Options{Budget: 100})
		held := mustAllocate(t, mgr, 30, "held")
		large := allocateLater(t, await.Context(t), mgr, 80, memory.AllocateOptions{})
		clock.pass(time.Hour)
		ctx, cancel := context.WithCancelCause(t.Context())
		turn := allocateContextLater(t, ctx, mgr, 1)
		reason := errors.New("the user left")
		cancel(reason)
		_, err := take(t, turn)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, reason)
		_, err = mgr.AllocateContext(ctx, 1, memory.AllocateOptions{})
		require.ErrorIs(t, err, context.Canceled)
		_, err = memory.NewSliceContext[int8](ctx, mgr, 1, memory.AllocateOptions{})
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, held.Release())
		require.NoError(t, mustTake(t, large).Release())
		slice, err := memory.NewSliceContext[int64](t.Context(), mgr, 12, memory.AllocateOptions{})
		require.NoError(t, err)
		assert.Equal(t, 12, slice.Len())
		require.NoError(t, slice.Release())
	})
}

// A context passed to the manager reaches the resource.
func TestWaitPassesTheContextToTheResource(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		resource := &contextual{Resource: memory.NewDriverResource(dev)}
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 100, Resource: resource})
		for _, allocate := range []func(context.Context, uint64, memory.AllocateOptions) (*memory.Block, error){mgr.AllocateWait, mgr.AllocateContext} {
			ctx, cancel := context.WithCancel(t.Context())
			resource.before = cancel
			_, err := allocate(ctx, 10, memory.AllocateOptions{})
			require.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, ctx, resource.seen)
			resource.before = nil
			block, err := allocate(t.Context(), 10, memory.AllocateOptions{})
			require.NoError(t, err)
			require.NoError(t, block.Release())
		}
		ctx, cancel := context.WithCancel(t.Context())
		resource.before = cancel
		_, err := mgr.ReserveWait(ctx, "job", 10, memory.AllocateOptions{})
		require.ErrorIs(t, err, context.Canceled)
		resource.before = nil
		requireNothingHeld(t, mgr.Stats())
		assert.EqualValues(t, 100, mgr.Stats().Remaining)
	})
}

// contextual is a resource that waits and returns when its context is done.
type contextual struct {
	memory.Resource
	seen   context.Context
	before func()
}

func (c *contextual) AllocateContext(ctx context.Context, bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	if err := c.wait(ctx); err != nil {
		return resource.Allocation{}, err
	}
	return c.Resource.Allocate(bytes, stream)
}

func (c *contextual) Prime(uint64) error { return nil }

func (c *contextual) PrimeContext(ctx context.Context, _ uint64) error { return c.wait(ctx) }

func (c *contextual) wait(ctx context.Context) error {
	c.seen = ctx
	if c.before != nil {
		c.before()
	}
	return ctx.Err()
}
