package memory_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// A request that has its bytes reserved, but gets no memory from the resource,
// leaves the bytes to a request that began to wait meanwhile.
func TestQueueAfterAResourceThatFails(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for name, tag := range map[string]string{"from a tag cache": "again", "from the budget": "another"} {
			t.Run(name, func(t *testing.T) {
				resource := newSmall(dev, 1000)
				mgr := devicetest.Manager(t, dev, memory.Options{Resource: resource, Budget: 100})
				require.NoError(t, mustAllocate(t, mgr, 100, "again").Release())
				inside, fail := make(chan struct{}), make(chan struct{})
				failure := errors.New("broken")
				resource.set(func(uint64) error {
					resource.set(nil)
					close(inside)
					<-fail
					return failure
				})
				var group sync.WaitGroup
				group.Go(func() {
					_, err := mgr.Allocate(100, memory.AllocateOptions{Tag: tag})
					assert.ErrorIs(t, err, failure)
				})
				<-inside
				waits := allocateLater(t, await.Context(t), mgr, 100, memory.AllocateOptions{})
				close(fail)
				group.Wait()
				require.NoError(t, mustTake(t, waits).Release())
				s := mgr.Stats()
				requireNothingHeld(t, s)
				assert.EqualValues(t, 2, s.Allocations)
				assert.EqualValues(t, 1, s.Failures)
			})
		}
	})
}

// A request that fails at a higher account briefly holds bytes of the child's
// budget. A waiting request that is refused at that moment is tried again.
func TestQueueBesideRequestsThatFailFurtherUp(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 80})
		child := mustChild(t, mgr, "child", 100)
		below := mustChild(t, child, "below", 100)
		done := make(chan struct{})
		var others sync.WaitGroup
		for range 4 {
			others.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					if _, err := below.Allocate(90, memory.AllocateOptions{}); !assert.ErrorIs(t, err, memory.ErrBudget) {
						return
					}
				}
			})
		}
		for range 100 {
			held := mustAllocate(t, mgr, 50, "held")
			waits := allocateLater(t, await.Context(t), child, 50, memory.AllocateOptions{})
			require.NoError(t, held.Release())
			require.NoError(t, mustTake(t, waits).Release())
		}
		close(done)
		others.Wait()
		requireNothingHeld(t, mgr.Stats())
		require.NoError(t, below.Close())
		require.NoError(t, child.Close())
	})
}

// A request that can never succeed stops waiting and does not block others.
func TestQueueAfterTheBudgetBecameTooSmall(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{PassingPeriod: -1, Budget: 1000})
		child := mustChild(t, mgr, "child", 100)
		below := mustChild(t, child, "below", 100)
		held := mustAllocate(t, child, 70, "held")
		large := allocateLater(t, await.Context(t), below, 80, memory.AllocateOptions{Tag: "large"})
		larger := allocateLater(t, await.Context(t), below, 90, memory.AllocateOptions{Tag: "larger"})
		little := allocateLater(t, await.Context(t), child, 10, memory.AllocateOptions{Tag: "little"})
		require.NoError(t, child.SetBudget(79))
		for _, hopeless := range []<-chan result{large, larger} {
			_, err := take(t, hopeless)
			var budget *memory.BudgetError
			require.ErrorAs(t, err, &budget)
			assert.Equal(t, "child", budget.Manager)
			assert.EqualValues(t, 79, budget.Budget)
		}
		require.Equal(t, 1, mgr.Stats().Waiting, "80 are in use then")
		require.NoError(t, held.Release())
		require.NoError(t, mustTake(t, little).Release())
		requireNothingHeld(t, mgr.Stats())
		require.NoError(t, below.Close())
		require.NoError(t, child.Close())
	})
}

// Memory released under a lowered budget becomes available only when the bytes in
// use are below the budget.
func TestQueueUnderALoweredBudget(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 1000})
		child := mustChild(t, mgr, "child", 1000)
		first, second := mustAllocate(t, child, 500, "same"), mustAllocate(t, child, 500, "same")
		require.NoError(t, mgr.SetBudget(600))
		require.NoError(t, mustAllocate(t, child, 0, "nothing").Release(), "nothing always fits")
		require.NoError(t, first.Release())
		_, err := child.Allocate(500, memory.AllocateOptions{Tag: "same"})
		require.ErrorIs(t, err, memory.ErrBudget)
		third := mustAllocate(t, child, 100, "same")
		assert.EqualValues(t, 600, mgr.Stats().InUse)
		require.NoError(t, second.Release())
		require.NoError(t, third.Release())
		require.NoError(t, mustAllocate(t, mgr, 600, "same").Release())
		require.NoError(t, child.Close())
	})
}

// A request that the device refuses keeps its place: released memory accumulates for
// it, and requests that came later, or that do not wait, cannot take it.
func TestQueueKeepsThePlaceOfWhoTriesInVain(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		resource := newSmall(dev, 100)
		mgr := devicetest.Manager(t, dev, memory.Options{PassingPeriod: -1, Resource: resource, Budget: 1000})
		child := mustChild(t, mgr, "child", 0)
		first, second := mustAllocate(t, mgr, 50, "first"), mustAllocate(t, mgr, 50, "second")
		large := allocateLater(t, await.Context(t), child, 100, memory.AllocateOptions{Tag: "large"})
		little := allocateLater(t, await.Context(t), mgr, 50, memory.AllocateOptions{Tag: "little"})
		asked := resource.requests()
		require.NoError(t, first.Release())
		await.Until(t, func() bool { return resource.requests() > asked }, "the device was asked again")
		for range 100 {
			_, err := mgr.Allocate(50, memory.AllocateOptions{Tag: "barges"})
			require.ErrorIs(t, err, memory.ErrBudget)
		}
		assert.Equal(t, 2, mgr.Stats().Waiting)
		assert.Equal(t, asked+1, resource.requests(), "nobody else was let to the device")
		require.NoError(t, second.Release())
		block := mustTake(t, large)
		assert.EqualValues(t, 100, mgr.Stats().InUse)
		require.NoError(t, block.Release())
		require.NoError(t, mustTake(t, little).Release())
		require.NoError(t, mustAllocate(t, mgr, 50, "free again").Release())
		requireNothingHeld(t, mgr.Stats())
		require.NoError(t, child.Close())
	})
}

// A request that leaves the queue while it tries lets the requests behind it
// continue and loses no bytes, regardless of the reason.
func TestQueueWhileSomebodyTries(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for _, name := range []string{"granted", "cancelled", "broken"} {
			t.Run(name, func(t *testing.T) {
				resource := newSmall(dev, 100)
				mgr := devicetest.Manager(t, dev, memory.Options{PassingPeriod: -1, Resource: resource, Budget: 1000})
				first, second := mustAllocate(t, mgr, 50, "first"), mustAllocate(t, mgr, 50, "second")
				ctx, cancel := context.WithCancel(await.Context(t))
				defer cancel()
				tries := allocateLater(t, ctx, mgr, 60, memory.AllocateOptions{})
				behind := allocateLater(t, await.Context(t), mgr, 40, memory.AllocateOptions{})
				inside, goOn := make(chan struct{}), make(chan error)
				resource.set(func(uint64) error {
					resource.set(nil)
					close(inside)
					return <-goOn
				})
				require.NoError(t, first.Release())
				<-inside
				require.Equal(t, 2, mgr.Stats().Waiting, "who tries has its place still")
				broken := errors.New("broken")
				switch name {
				case "granted":
					require.NoError(t, second.Release())
					goOn <- nil
					require.NoError(t, mustTake(t, tries).Release())
				case "cancelled":
					cancel()
					goOn <- device.ErrOutOfMemory
					_, err := take(t, tries)
					require.ErrorIs(t, err, context.Canceled)
				case "broken":
					goOn <- broken
					_, err := take(t, tries)
					require.ErrorIs(t, err, broken)
				}
				require.NoError(t, mustTake(t, behind).Release())
				if name != "granted" {
					require.NoError(t, second.Release())
				}
				s := mgr.Stats()
				requireNothingHeld(t, s)
				assert.EqualValues(t, 1000, s.Remaining)
			})
		}
	})
}

func TestQueueOfAChildThatIsClosed(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 100})
		child := mustChild(t, mgr, "child", 100)
		below := mustChild(t, child, "below", 100)
		held := mustAllocate(t, mgr, 100, "held")
		var refused []<-chan result
		for _, m := range []*memory.Manager{child, below} {
			refused = append(refused, allocateLater(t, await.Context(t), m, 60, memory.AllocateOptions{}))
		}
		goesOn := allocateLater(t, await.Context(t), mgr, 50, memory.AllocateOptions{})
		require.NoError(t, child.Close())
		for _, each := range refused {
			_, err := take(t, each)
			require.ErrorIs(t, err, memory.ErrClosed)
		}
		require.NoError(t, held.Release())
		require.NoError(t, mustTake(t, goesOn).Release())
		require.NoError(t, below.Close())
	})
}

// A context with a cancellation cause still yields a cancellation error.
func TestQueueLeftForAReason(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 100})
		held := mustAllocate(t, mgr, 100, "held")
		reason := errors.New("the user went away")
		ctx, cancel := context.WithCancelCause(t.Context())
		waits := allocateLater(t, ctx, mgr, 1, memory.AllocateOptions{})
		cancel(reason)
		_, waited := take(t, waits)
		_, allocated := mgr.AllocateWait(ctx, 1, memory.AllocateOptions{})
		_, reserved := mgr.ReserveWait(ctx, "job", 1, memory.AllocateOptions{})
		for _, err := range []error{waited, allocated, reserved} {
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, err, reason)
		}
		require.NoError(t, held.Release())
	})
}
