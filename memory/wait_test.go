package memory_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestWaitWithoutNeed(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 100})
		block, err := mgr.AllocateWait(t.Context(), 100, memory.AllocateOptions{Tag: "at once"})
		require.NoError(t, err)
		empty, err := mgr.AllocateWait(t.Context(), 0, memory.AllocateOptions{})
		require.NoError(t, err, "nothing always fits")
		require.NoError(t, empty.Release())
		require.NoError(t, block.Release())
		assert.Zero(t, mgr.Stats().Failures)
	})
}

func TestWaitGoesByPriorityThenArrival(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 100})
		child := mustChild(t, mgr, "child", 100)
		held := mustAllocate(t, mgr, 100, "held")
		type arrival struct {
			name     string
			priority int
			manager  *memory.Manager
		}
		var mu sync.Mutex
		var served []string
		var group sync.WaitGroup
		for i, a := range []arrival{
			{"ordinary 1", 0, mgr}, {"high 1", 5, child}, {"low", -1, mgr}, {"ordinary 2", 0, child},
			{"high 2", 5, mgr}, {"highest", math.MaxInt, mgr}, {"ordinary 3", 0, mgr},
		} {
			group.Go(func() {
				block, err := a.manager.AllocateWait(await.Context(t), 100, memory.AllocateOptions{Tag: a.name, Priority: a.priority})
				if !assert.NoError(t, err) {
					return
				}
				// No other manager has memory now.
				mu.Lock()
				served = append(served, a.name)
				mu.Unlock()
				assert.NoError(t, block.Release())
			})
			requireWaiting(t, mgr, i+1)
		}
		require.NoError(t, held.Release())
		group.Wait()
		assert.Equal(t, []string{"highest", "high 1", "high 2", "ordinary 1", "ordinary 2", "ordinary 3", "low"}, served)
		requireNothingHeld(t, mgr.Stats())
		require.NoError(t, child.Close())
	})
}

// While a request waits at an account no other request gets that account's memory,
// but requests that do not need it continue.
func TestWaitKeepsOthersFromTheAccountOnly(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{PassingPeriod: -1, Budget: 1000})
		first, second := mustChild(t, mgr, "first", 100), mustChild(t, mgr, "second", 100)
		below := mustChild(t, first, "below", 100)
		job, err := first.Reserve("job", 30)
		require.NoError(t, err)

		held := mustAllocate(t, first, 40, "held")
		waits := allocateLater(t, await.Context(t), below, 80, memory.AllocateOptions{})
		for _, m := range []*memory.Manager{first, below} {
			_, err := m.Allocate(10, memory.AllocateOptions{Tag: "barges"})
			var budget *memory.BudgetError
			require.ErrorAs(t, err, &budget)
			assert.Equal(t, "first", budget.Manager)
			assert.Equal(t, 1, budget.Waiting)
			assert.ErrorContains(t, err, "1 requests wait ahead")
			require.NoError(t, mustAllocate(t, m, 0, "nothing").Release())
		}
		for _, m := range []*memory.Manager{mgr, second} {
			require.NoError(t, mustAllocate(t, m, 100, "goes on").Release())
			block, err := m.AllocateWait(t.Context(), 100, memory.AllocateOptions{})
			require.NoError(t, err)
			require.NoError(t, block.Release())
		}
		require.NoError(t, mustAllocate(t, job, 30, "reserved").Release(), "a reservation needs nobody's memory")
		assert.Equal(t, 1, mgr.Stats().Waiting)

		require.NoError(t, held.Release())
		require.Equal(t, 1, mgr.Stats().Waiting, "80 do not fit beside the reservation")
		require.NoError(t, job.Close())
		require.NoError(t, mustTake(t, waits).Release())
		require.NoError(t, mustAllocate(t, first, 100, "free again").Release())
		requireNothingHeld(t, mgr.Stats())
		for _, m := range []*memory.Manager{below, first, second} {
			require.NoError(t, m.Close())
		}
	})
}

// Small requests behind a large one do not overtake it, although they would fit.
func TestWaitInLineBehindALargeRequest(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{PassingPeriod: -1, Budget: 100})
		held := mustAllocate(t, mgr, 50, "held")
		large := allocateLater(t, await.Context(t), mgr, 90, memory.AllocateOptions{})
		little := allocateLater(t, await.Context(t), mgr, 10, memory.AllocateOptions{})
		urgent, err := mgr.AllocateWait(await.Context(t), 10, memory.AllocateOptions{Priority: 1})
		require.NoError(t, err)
		assert.Equal(t, 2, mgr.Stats().Waiting, "only who is more urgent passes")
		require.NoError(t, urgent.Release())
		require.NoError(t, held.Release())
		first, second := mustTake(t, large), mustTake(t, little)
		assert.EqualValues(t, 100, mgr.Stats().InUse)
		require.NoError(t, first.Release())
		require.NoError(t, second.Release())
	})
}

func TestWaitCancelled(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{PassingPeriod: -1, Budget: 100})
		held := mustAllocate(t, mgr, 50, "held")
		ctx, cancel := context.WithCancel(t.Context())
		large := allocateLater(t, ctx, mgr, 90, memory.AllocateOptions{})
		little := allocateLater(t, await.Context(t), mgr, 10, memory.AllocateOptions{})
		cancel()
		_, err := take(t, large)
		require.ErrorIs(t, err, context.Canceled)
		block := mustTake(t, little)
		assert.EqualValues(t, 1, mgr.Stats().Failures)

		expired, cancelExpired := context.WithTimeout(t.Context(), 0)
		defer cancelExpired()
		for _, done := range []context.Context{ctx, expired} {
			_, err = mgr.AllocateWait(done, 1, memory.AllocateOptions{})
			require.ErrorIs(t, err, done.Err(), "a context that is done gets nothing")
		}
		assert.EqualValues(t, 60, mgr.Stats().InUse)
		require.NoError(t, block.Release())
		require.NoError(t, held.Release())
	})
}

func TestWaitCancelledForAReason(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		reason := errors.New("the user went away")
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 100})
		held := mustAllocate(t, mgr, 100, "held")
		ctx, cancel := context.WithCancelCause(t.Context())
		waits := allocateLater(t, ctx, mgr, 1, memory.AllocateOptions{})
		cancel(reason)
		_, err := take(t, waits)
		require.ErrorIs(t, err, reason)
		_, err = mgr.AllocateWait(ctx, 1, memory.AllocateOptions{})
		require.ErrorIs(t, err, reason)
		_, err = mgr.ReserveWait(ctx, "job", 1, memory.AllocateOptions{})
		require.ErrorIs(t, err, reason)
		require.NoError(t, held.Release())
	})
}

// If a grant and a cancellation coincide, the request is either granted or
// cancelled. In both cases its bytes are in use or free, and the requests behind it
// get them.
func TestWaitCancelledAndGrantedAtOnce(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		const rounds = 400
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 100})
		granted := 0
		for range rounds {
			held := mustAllocate(t, mgr, 100, "held")
			ctx, cancel := context.WithCancel(t.Context())
			contested := allocateLater(t, ctx, mgr, 100, memory.AllocateOptions{Tag: "contested"})
			behind := allocateLater(t, await.Context(t), mgr, 100, memory.AllocateOptions{Tag: "behind"})
			var both sync.WaitGroup
			both.Go(cancel)
			both.Go(func() { assert.NoError(t, held.Release()) })
			block, err := take(t, contested)
			if err == nil {
				granted++
				require.NoError(t, block.Release())
			} else {
				require.ErrorIs(t, err, context.Canceled)
			}
			require.NoError(t, mustTake(t, behind).Release())
			both.Wait()
			s := mgr.Stats()
			require.Zero(t, s.InUse)
			require.EqualValues(t, 100, s.Remaining)
			require.Zero(t, s.Waiting)
		}
		t.Logf("%d of %d were granted", granted, rounds)
		s := mgr.Stats()
		assert.EqualValues(t, rounds-granted, s.Failures)
		requireNothingHeld(t, s)
	})
}

// Many requests that wait for little memory all succeed eventually: no release is
// missed, even if other requests fail concurrently.
func TestWaitLosesNoWakeUp(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		const workers, rounds = 32, 100
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 300})
		child := mustChild(t, mgr, "child", 250)
		below := mustChild(t, child, "below", 250)
		managers := []*memory.Manager{mgr, child, below, below}
		ctx := await.Context(t)
		var waiters, others sync.WaitGroup
		for worker := range workers {
			waiters.Go(func() {
				tag := string(rune('a' + worker%5))
				for range rounds {
					block, err := managers[worker%4].AllocateWait(ctx, 100, memory.AllocateOptions{Tag: tag, Priority: worker % 3})
					if !assert.NoError(t, err) {
						return
					}
					assert.NoError(t, block.Release())
				}
			})
		}
		done := make(chan struct{})
		for _, m := range []*memory.Manager{mgr, below} {
			others.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					for _, bytes := range []uint64{50, 220, 240, 1000} {
						if block, err := m.Allocate(bytes, memory.AllocateOptions{Tag: "a"}); err == nil {
							assert.NoError(t, block.Release())
						}
					}
				}
			})
		}
		waiters.Wait()
		close(done)
		others.Wait()
		requireNothingHeld(t, mgr.Stats())
		require.NoError(t, below.Close())
		require.NoError(t, child.Close())
		assert.EqualValues(t, 300, mgr.Stats().Remaining)
	})
}

// One large request among many small ones, which would always fit, eventually
// succeeds.
func TestWaitStarvesNobody(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 100})
		ctx := await.Context(t)
		var little sync.WaitGroup
		var done atomic.Bool
		for worker := range 8 {
			little.Go(func() {
				for !done.Load() {
					var block *memory.Block
					var err error
					if worker%2 == 0 {
						block, err = mgr.AllocateWait(ctx, 20, memory.AllocateOptions{Tag: "small"})
						assert.NoError(t, err)
					} else {
						block, err = mgr.Allocate(20, memory.AllocateOptions{Tag: "small"})
					}
					if err == nil {
						assert.NoError(t, block.Release())
					} else if ctx.Err() != nil {
						return
					}
				}
			})
		}
		for range 20 {
			block, err := mgr.AllocateWait(ctx, 100, memory.AllocateOptions{Tag: "large"})
			if !assert.NoError(t, err) {
				break
			}
			assert.NoError(t, block.Release())
		}
		done.Store(true)
		little.Wait()
		requireNothingHeld(t, mgr.Stats())
	})
}

func TestWaitForALargerBudget(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 100})
		child := mustChild(t, mgr, "child", 60)
		held := mustAllocate(t, child, 50, "held")
		waits := allocateLater(t, await.Context(t), child, 50, memory.AllocateOptions{})
		require.NoError(t, child.SetBudget(99))
		require.Equal(t, 1, mgr.Stats().Waiting)
		require.NoError(t, child.SetBudget(100))
		block := mustTake(t, waits)
		require.NoError(t, held.Release())
		require.NoError(t, block.Release())
		require.NoError(t, child.Close())
	})
}

func TestWaitForNothingThatCanCome(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 100})
		child := mustChild(t, mgr, "child", 1000)
		below := mustChild(t, child, "below", 50)
		held := mustAllocate(t, below, 50, "held")
		for _, hopeless := range []struct {
			manager *memory.Manager
			bytes   uint64
			short   string
		}{{mgr, 101, ""}, {child, 101, ""}, {child, 1001, "child"}, {below, 51, "below"}, {below, math.MaxUint64, "below"}} {
			_, err := hopeless.manager.AllocateWait(t.Context(), hopeless.bytes, memory.AllocateOptions{})
			var budget *memory.BudgetError
			require.ErrorAs(t, err, &budget)
			assert.Equal(t, hopeless.short, budget.Manager)
			_, err = hopeless.manager.ReserveWait(t.Context(), "job", hopeless.bytes, memory.AllocateOptions{})
			require.ErrorIs(t, err, memory.ErrBudget)
		}
		assert.EqualValues(t, 10, mgr.Stats().Failures)
		require.NoError(t, held.Release())
		require.NoError(t, below.Close())
		require.NoError(t, child.Close())
	})
}

func TestWaitUntilTheManagerIsClosed(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr, err := memory.NewManager(dev, memory.Options{Budget: 100})
		require.NoError(t, err)
		child := mustChild(t, mgr, "child", 100)
		held := mustAllocate(t, mgr, 100, "held")
		var waits []<-chan result
		for _, m := range []*memory.Manager{mgr, child} {
			waits = append(waits, allocateLater(t, await.Context(t), m, 10, memory.AllocateOptions{}))
		}
		require.ErrorIs(t, mgr.Close(), memory.ErrLeak)
		for _, each := range waits {
			_, err := take(t, each)
			require.ErrorIs(t, err, memory.ErrClosed)
		}
		_, err = child.AllocateWait(t.Context(), 1, memory.AllocateOptions{})
		require.ErrorIs(t, err, memory.ErrClosed)
		require.NoError(t, held.Release())
		requireNothingHeld(t, mgr.Stats())
	})
}

func TestWaitForTheDevice(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		resource := newSmall(dev, 100)
		mgr := devicetest.Manager(t, dev, memory.Options{PassingPeriod: -1, Resource: resource, Budget: 1000})
		child := mustChild(t, mgr, "child", 0)

		_, err := child.AllocateWait(t.Context(), 101, memory.AllocateOptions{Tag: "hopeless"})
		require.ErrorIs(t, err, device.ErrOutOfMemory, "with nothing in use nothing will be released")
		assert.ErrorContains(t, err, "hopeless")
		assert.Equal(t, 2, resource.requests(), "once at first, once while releases would be noticed")

		first, second := mustAllocate(t, mgr, 40, "held"), mustAllocate(t, mgr, 40, "held")
		asked := resource.requests()
		waits := allocateLater(t, await.Context(t), child, 90, memory.AllocateOptions{})
		_, err = mgr.Allocate(10, memory.AllocateOptions{})
		require.ErrorIs(t, err, memory.ErrBudget, "who waits for the device comes first, too")
		assert.Equal(t, asked+2, resource.requests(), "the device is not asked without a release")
		require.NoError(t, first.Release())
		await.Until(t, func() bool { return resource.requests() == asked+3 }, "the device was asked again")
		requireWaiting(t, mgr, 1)
		require.NoError(t, second.Release())
		require.NoError(t, mustTake(t, waits).Release())
		s := mgr.Stats()
		requireNothingHeld(t, s)
		assert.EqualValues(t, 90, s.Peak, "what failed was never in use")
		require.NoError(t, child.Close())
	})
}

// If the released memory does not help and nothing else is in use, the wait ends.
func TestWaitForADeviceThatHasTooLittle(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: newSmall(dev, 100), Budget: 1000})
		held := mustAllocate(t, mgr, 50, "held")
		waits := allocateLater(t, await.Context(t), mgr, 101, memory.AllocateOptions{})
		require.NoError(t, held.Release())
		_, err := take(t, waits)
		require.ErrorIs(t, err, device.ErrOutOfMemory)
		assert.EqualValues(t, 1000, mgr.Stats().Remaining)
	})
}

func TestWaitThenAnErrorOfTheResource(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		resource := newSmall(dev, 1000)
		mgr := devicetest.Manager(t, dev, memory.Options{PassingPeriod: -1, Resource: resource, Budget: 100})
		held := mustAllocate(t, mgr, 100, "held")
		waits := allocateLater(t, await.Context(t), mgr, 100, memory.AllocateOptions{})
		behind := allocateLater(t, await.Context(t), mgr, 30, memory.AllocateOptions{})
		failure := errors.New("broken")
		resource.set(func(bytes uint64) error {
			if bytes == 100 {
				return failure
			}
			return nil
		})
		require.NoError(t, held.Release())
		_, err := take(t, waits)
		require.ErrorIs(t, err, failure, "it is no want of memory, and not waited for")
		require.NoError(t, mustTake(t, behind).Release())
		requireNothingHeld(t, mgr.Stats())
	})
}

func TestReclaimersAreAskedBeforeFailing(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 100, Resource: newSmall(dev, 90)})
		child := mustChild(t, mgr, "child", 80)
		var asked []uint64
		idle := &reclaimFunc{func(_ context.Context, bytes uint64) (uint64, error) {
			asked = append(asked, bytes)
			return 0, errors.New("there is nothing")
		}}
		var cached *memory.Block
		cache := &reclaimFunc{func(context.Context, uint64) (uint64, error) {
			if cached == nil {
				return 0, nil
			}
			bytes := cached.Bytes()
			err := cached.Release()
			cached = nil
			return bytes, err
		}}
		removeIdle, removeCache := mgr.AddReclaimer(idle), child.AddReclaimer(cache)

		cached = mustAllocate(t, child, 30, "cache")
		block := mustAllocate(t, mgr, 80, "wants it")
		assert.Equal(t, []uint64{10}, asked, "it is asked for what is missing, and before those of the children")
		assert.Nil(t, cached)
		require.NoError(t, block.Release())

		cached = mustAllocate(t, child, 30, "cache")
		block = mustAllocate(t, child, 60, "wants it")
		assert.Len(t, asked, 1, "the child is short: only its reclaimers can help")
		require.NoError(t, block.Release())

		cached = mustAllocate(t, child, 10, "cache")
		block = mustAllocate(t, mgr, 85, "the device is short")
		assert.Len(t, asked, 2)
		require.NoError(t, block.Release())

		removeCache()
		cached = mustAllocate(t, child, 50, "cache")
		_, err := mgr.Allocate(80, memory.AllocateOptions{})
		require.ErrorIs(t, err, memory.ErrBudget)
		assert.Len(t, asked, 3)
		removeIdle()
		_, err = mgr.Allocate(80, memory.AllocateOptions{})
		require.ErrorIs(t, err, memory.ErrBudget)
		assert.Len(t, asked, 3, "who was removed is asked no more")
		require.NoError(t, cached.Release())
		require.NoError(t, child.Close())
	})
}

// Memory that cannot be reclaimed now may become reclaimable later without a
// release.
func TestReclaimersAreAskedAnewWhileWaiting(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for name, capacity := range map[string]uint64{"budget": 1000, "device": 100} {
			t.Run(name, func(t *testing.T) {
				budget := uint64(100)
				if name == "device" {
					budget = 1000
				}
				mgr := devicetest.Manager(t, dev, memory.Options{Budget: budget, Resource: newSmall(dev, capacity)})
				cached := mustAllocate(t, mgr, 70, "cache")
				const asks = 4
				var asked atomic.Int64
				defer mgr.AddReclaimer(&reclaimFunc{func(context.Context, uint64) (uint64, error) {
					if asked.Add(1) != asks {
						return 0, nil
					}
					return 70, cached.Release()
				}})()
				block, err := mgr.AllocateWait(await.Context(t), 60, memory.AllocateOptions{})
				require.NoError(t, err)
				assert.EqualValues(t, asks, asked.Load())
				require.NoError(t, block.Release())
			})
		}
	})
}

// Memory that reclaimers release in small parts suffices eventually, for any number
// of calls.
func TestReclaimersReleaseLittleByLittle(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for name, capacity := range map[string]uint64{"budget": 1 << 20, "device": 200} {
			t.Run(name, func(t *testing.T) {
				budget := uint64(200)
				if name == "device" {
					budget = 1 << 20
				}
				mgr := devicetest.Manager(t, dev, memory.Options{Budget: budget, Resource: newSmall(dev, capacity)})
				var cached []*memory.Block
				for range 200 {
					cached = append(cached, mustAllocate(t, mgr, 1, "cache"))
				}
				defer mgr.AddReclaimer(&reclaimFunc{func(context.Context, uint64) (uint64, error) {
					if len(cached) == 0 {
						return 0, nil
					}
					block := cached[0]
					cached = cached[1:]
					return 1, block.Release()
				}})()
				require.NoError(t, mustAllocate(t, mgr, 190, "large").Release())
				require.Len(t, cached, 10)
				for _, block := range cached {
					require.NoError(t, block.Release())
				}
				cached = nil
			})
		}
	})
}

// A reclaimer that only claims to release memory does not block a request
// indefinitely.
func TestReclaimerThatReleasesNothing(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for _, capacity := range []uint64{50, 1000} {
			mgr := devicetest.Manager(t, dev, memory.Options{Budget: 100, Resource: newSmall(dev, capacity)})
			held := mustAllocate(t, mgr, 30, "held")
			remove := mgr.AddReclaimer(&reclaimFunc{func(context.Context, uint64) (uint64, error) { return 1000, nil }})
			_, err := mgr.Allocate(80, memory.AllocateOptions{})
			require.Error(t, err)
			_, err = mgr.Reserve("job", 80)
			require.ErrorIs(t, err, memory.ErrBudget)
			remove()
			require.NoError(t, held.Release())
		}
	})
}
