package spill_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// attempts bounds the number of calls until an operation succeeds.
const attempts = 20

// After a move that fails the table is in its old place and nothing else is held; the
// next move succeeds.
func TestFailingDriver(t *testing.T) {
	for _, operation := range []string{"HostAlloc", "Alloc", "CopyToHostAsync", "CopyToDeviceAsync", "EventRecord", "StreamWaitEvent"} {
		t.Run(operation, func(t *testing.T) {
			mgr, s, f := onFake(t, 2, spill.Options{})
			want := numbers(tableRows, 3)
			table := add(t, mgr, s, want)
			f.left.Store(-10)
			f.operation = operation
			failures := 0
			for nth := range int64(attempts) {
				f.left.Store(nth + 1)
				released, err := s.Reclaim(t.Context(), tableBytes)
				if err == nil {
					require.EqualValues(t, tableBytes, released)
					var held *buffer.Buffer
					if held, err = table.Acquire(t.Context()); err == nil {
						require.NoError(t, held.Release())
					}
				}
				f.left.Store(-10)
				requireTable(t, want, table)
				if table.Spilled() {
					require.Zero(t, mgr.Stats().InUse)
				} else {
					require.EqualValues(t, tableBytes, mgr.Stats().InUse)
				}
				require.NoError(t, table.Use(t.Context(), func(held *buffer.Buffer) error {
					requireBuffer(t, want, held)
					return nil
				}))
				if err != nil {
					failures++
					require.ErrorIs(t, err, errInjected)
					continue
				}
				require.Positive(t, failures)
				return
			}
			require.Fail(t, "the driver was called without end")
		})
	}
}

func TestGivingUp(t *testing.T) {
	mgr, s, f := onFake(t, 2, spill.Options{})
	want := numbers(tableRows, 3)
	table := add(t, mgr, s, want)
	done, cancel := context.WithCancelCause(t.Context())
	cancel(errInjected)
	released, err := s.Reclaim(done, 1)
	require.ErrorIs(t, err, errInjected)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, released)

	// The context ends during the copy to the host, then during the copy to the
	// device.
	giveUp := func(ctx context.Context, cancel context.CancelCauseFunc) context.Context {
		queries := 0
		f.onQuery = func() {
			if queries++; queries == 3 {
				cancel(errInjected)
			}
		}
		f.held.Store(true)
		return ctx
	}
	goOn := func() {
		f.held.Store(false)
		f.onQuery = nil
	}
	released, err = s.Reclaim(giveUp(context.WithCancelCause(t.Context())), 1)
	goOn()
	require.ErrorIs(t, err, errInjected)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, released)
	require.False(t, table.Spilled())
	requireTable(t, want, table)
	require.EqualValues(t, tableBytes, press(t, s))

	_, err = table.Acquire(done)
	require.ErrorIs(t, err, errInjected)
	require.ErrorIs(t, err, context.Canceled)
	_, err = table.Acquire(giveUp(context.WithCancelCause(t.Context())))
	goOn()
	require.ErrorIs(t, err, errInjected)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, table.Spilled())
	requireTable(t, want, table)
	held := acquire(t, table)
	requireBuffer(t, want, held)
	require.NoError(t, held.Release())
}

// A caller that acquires a table during its move gets it after the move.
func TestAcquireDuringTheMove(t *testing.T) {
	mgr, s, f := onFake(t, 2, spill.Options{})
	want := numbers(tableRows, 3)
	table := add(t, mgr, s, want)
	acquired := make(chan *buffer.Buffer)
	f.onCopyToHost = func() {
		f.onCopyToHost = nil
		go func() {
			held, err := table.Acquire(t.Context())
			assert.NoError(t, err)
			acquired <- held
		}()
		assert.NoError(t, await.Happens(func() bool { return table.Waiting() > 0 }))
	}
	require.Zero(t, press(t, s))
	held := <-acquired
	requireBuffer(t, want, held)
	stats := s.Stats()
	assert.Zero(t, stats.Spills)
	assert.Zero(t, stats.HostBytes)
	assert.EqualValues(t, 1, stats.Refusals.Pinned)
	require.NoError(t, held.Release())

	// A caller that gives up its wait does not delay the others.
	ctx, cancel := context.WithCancelCause(t.Context())
	failed := make(chan error)
	f.onCopyToHost = func() {
		f.onCopyToHost = nil
		go func() {
			_, err := table.Acquire(ctx)
			failed <- err
		}()
		assert.NoError(t, await.Happens(func() bool { return table.Waiting() > 0 }))
		cancel(errInjected)
		assert.ErrorIs(t, <-failed, errInjected)
	}
	require.EqualValues(t, tableBytes, press(t, s))
}

func TestReleaseDuringTheMove(t *testing.T) {
	mgr, s, f := onFake(t, 2, spill.Options{})
	table := addOnly(t, mgr, s, numbers(tableRows, 3))
	f.onCopyToHost = func() {
		f.onCopyToHost = nil
		assert.NoError(t, table.Release())
		assert.ErrorIs(t, table.Release(), memory.ErrReleased)
		assert.ErrorIs(t, func() error { _, err := table.Acquire(t.Context()); return err }(), memory.ErrReleased)
	}
	require.EqualValues(t, tableBytes, press(t, s), "its memory was released nevertheless")
	require.Zero(t, mgr.Stats().Blocks)
	stats := s.Stats()
	require.Zero(t, stats.Spilled)
	require.Zero(t, stats.HostBytes)
}

// awaitedContext signals the first wait for it.
type awaitedContext struct {
	context.Context
	once    sync.Once
	awaited chan struct{}
}

func (c *awaitedContext) Done() <-chan struct{} {
	c.once.Do(func() { close(c.awaited) })
	return c.Context.Done()
}

// A reclaimer with no table left to move waits for the moves of another.
func TestReclaimersWaitForOneAnother(t *testing.T) {
	mgr, s, f := onFake(t, 2, spill.Options{})
	add(t, mgr, s, numbers(tableRows, 3))
	ctx := &awaitedContext{Context: t.Context(), awaited: make(chan struct{})}
	released := make(chan uint64)
	f.onCopyToHost = func() {
		f.onCopyToHost = nil
		go func() {
			bytes, err := s.Reclaim(ctx, 1)
			assert.NoError(t, err)
			released <- bytes
		}()
		<-ctx.awaited
	}
	require.EqualValues(t, tableBytes, press(t, s))
	require.EqualValues(t, tableBytes, <-released)
	require.EqualValues(t, 1, s.Stats().Spills)
}

func TestMisuse(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	_, err := spill.NewSpiller(nil, spill.Options{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	fakeDevice, _ := openFake(t)
	fakeManager := devicetest.Manager(t, fakeDevice, memory.Options{Resource: memory.NewDriverResource(fakeDevice)})
	_, err = spill.NewSpiller(fakeManager, spill.Options{Host: memory.NewDriverResource(fakeDevice)})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.ErrorContains(t, err, "Options.Host")

	s, err := spill.NewSpiller(mgr, spill.Options{})
	require.NoError(t, err)
	assert.Positive(t, s.Stats().HostBudget)
	_, err = s.Add(nil)
	require.ErrorIs(t, err, memory.ErrReleased)
	foreign, err := buffer.FromRecord(fakeManager, numbers(3, 1))
	require.NoError(t, err)
	_, err = s.Add(foreign)
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.NoError(t, foreign.Release(), "it is still the caller's")

	loaded, err := buffer.FromRecord(mgr, numbers(3, 1))
	require.NoError(t, err)
	require.NoError(t, loaded.Retain())
	table, err := s.Add(loaded)
	require.NoError(t, err)
	require.ErrorIs(t, s.Close(), spill.ErrOpen)
	held := acquire(t, table)
	require.NoError(t, table.Release())
	require.ErrorIs(t, table.Release(), memory.ErrReleased)
	_, err = table.Acquire(t.Context())
	require.ErrorIs(t, err, memory.ErrReleased)
	_, err = table.Record(t.Context())
	require.ErrorIs(t, err, memory.ErrReleased)
	requireBuffer(t, numbers(3, 1), held)
	require.NoError(t, held.Release())
	require.Zero(t, press(t, s))
	var none *spill.Table
	require.NoError(t, none.Release())
	assert.Equal(t, "nil table", none.String())

	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Close(), memory.ErrClosed)
	_, err = s.Add(loaded)
	require.ErrorIs(t, err, memory.ErrClosed)
	require.NoError(t, loaded.Release())
}
