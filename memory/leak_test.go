package memory_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// leakLog collects the leaks that the backstop reports.
type leakLog struct {
	mu    sync.Mutex
	leaks []memory.Leak
}

func (l *leakLog) add(leak memory.Leak) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leaks = append(l.leaks, leak)
}

func (l *leakLog) all() []memory.Leak {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]memory.Leak(nil), l.leaks...)
}

// collect runs the garbage collector until the given number of leaks was reported.
func (l *leakLog) collect(t *testing.T, want int) []memory.Leak {
	t.Helper()
	await.Collected(t, func() bool { return len(l.all()) >= want }, "%d leaks were found", want)
	return l.all()
}

// runCleanups runs the garbage collector until the cleanups that were due have run.
// Cleanups run in no particular order, so it waits for several cleanups of the test.
func runCleanups(t *testing.T) {
	t.Helper()
	for range 3 {
		ran := make(chan struct{})
		func() { runtime.AddCleanup(new([64]byte), func(ran chan struct{}) { close(ran) }, ran) }()
		await.Collected(t, func() bool {
			select {
			case <-ran:
				return true
			default:
				return false
			}
		}, "a cleanup has run")
	}
}

//go:noinline
func drop(t *testing.T, m *memory.Manager, bytes uint64, tag string) {
	mustAllocate(t, m, bytes, tag)
}

// Among many released blocks, exactly the dropped ones are reported, once each, with
// their size and tag and, if tracked, the call stack.
func TestLeaksAreFoundOnce(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for name, tracked := range map[string]bool{"tracked": true, "in rows": false} {
			t.Run(name, func(t *testing.T) {
				var log leakLog
				mgr, err := memory.NewManager(dev, memory.Options{TrackAllocations: tracked, OnLeak: log.add})
				require.NoError(t, err)
				child := mustChild(t, mgr, "child", 0)
				func() {
					for i := range uint64(100) {
						block := mustAllocate(t, mgr, 10, "released")
						if i%20 == 0 {
							drop(t, child, 1000+i, "dropped")
						}
						require.NoError(t, block.Retain())
						require.NoError(t, block.Release())
						require.NoError(t, block.Release())
					}
				}()
				leaks := log.collect(t, 5)
				runCleanups(t)
				require.Len(t, log.all(), 5, "each is reported once, and nothing else is")
				sizes := make(map[uint64]bool)
				for _, leak := range leaks {
					assert.Equal(t, "dropped", leak.Tag)
					sizes[leak.Bytes] = true
					if tracked {
						assert.Contains(t, leak.Site, "memory_test.drop")
						assert.Contains(t, leak.String(), "leak_test.go")
					} else {
						assert.Empty(t, leak.Site)
					}
				}
				assert.Equal(t, map[uint64]bool{1000: true, 1020: true, 1040: true, 1060: true, 1080: true}, sizes)
				for _, m := range []*memory.Manager{mgr, child} {
					s := m.Stats()
					assert.EqualValues(t, 5, s.Leaks)
					requireNothingHeld(t, s)
				}
				require.NoError(t, child.Close())
				require.NoError(t, mgr.Close(), "what the backstop freed is held no more")
			})
		}
	})
}

// The backstop checks a row when all its handles are unreachable: a block in use delays
// the report of leaks in its row.
func TestLeaksInARowThatIsInUse(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		var log leakLog
		mgr, err := memory.NewManager(dev, memory.Options{OnLeak: log.add})
		require.NoError(t, err)
		var held []*memory.Block
		for range 200 {
			held = append(held, mustAllocate(t, mgr, 10, "held"))
			drop(t, mgr, 20, "dropped")
		}
		runCleanups(t)
		for _, leak := range log.all() {
			assert.Equal(t, "dropped", leak.Tag, "what is in use is no leak")
		}
		for _, block := range held {
			require.NoError(t, block.Check())
			require.NoError(t, block.Release())
		}
		clear(held)
		held = nil
		leaks := log.collect(t, 200)
		runCleanups(t)
		assert.Len(t, leaks, 200)
		for _, leak := range leaks {
			assert.Equal(t, "dropped", leak.Tag)
		}
		requireNothingHeld(t, mgr.Stats())
		require.NoError(t, mgr.Close())
	})
}

// States are reused. Collecting the handle of an earlier block does not affect the
// later one.
func TestLeakOfAHandleWhoseStateIsInUse(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for name, tracked := range map[string]bool{"tracked": true, "in rows": false} {
			t.Run(name, func(t *testing.T) {
				var log leakLog
				mgr, err := memory.NewManager(dev, memory.Options{TrackAllocations: tracked, OnLeak: log.add})
				require.NoError(t, err)
				func() {
					for range 300 {
						require.NoError(t, mustAllocate(t, mgr, 10, "released").Release())
					}
				}()
				later := mustAllocate(t, mgr, 10, "later")
				runCleanups(t)
				assert.Empty(t, log.all())
				require.NoError(t, later.Check())
				require.NoError(t, later.Release())
				require.NoError(t, mgr.Close())
			})
		}
	})
}

func TestLeaksWithoutTheBackstop(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for name, tracked := range map[string]bool{"tracked": true, "untracked": false} {
			t.Run(name, func(t *testing.T) {
				var log leakLog
				mgr, err := memory.NewManager(dev, memory.Options{
					NoBackstop: true, TrackAllocations: tracked, OnLeak: log.add, Resource: memory.NewDriverResource(dev),
				})
				require.NoError(t, err)
				block := mustAllocate(t, mgr, 20, "lost")
				pointer := block.Pointer()
				block = nil
				runCleanups(t)
				assert.Empty(t, log.all())
				err = mgr.Close()
				var leak *memory.LeakError
				require.ErrorAs(t, err, &leak)
				assert.EqualValues(t, 20, leak.Bytes)
				if tracked {
					assert.ErrorContains(t, err, "TestLeaksWithoutTheBackstop")
				} else {
					assert.ErrorContains(t, err, "TrackAllocations")
				}
				require.NoError(t, dev.Driver().Free(pointer))
			})
		}
	})
}

// A reported leak wakes a waiting request.
func TestLeakServesWhoWaits(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		var log leakLog
		mgr, err := memory.NewManager(dev, memory.Options{Budget: 100, TrackAllocations: true, OnLeak: log.add})
		require.NoError(t, err)
		func() { drop(t, mgr, 100, "dropped") }()
		results := make(chan result, 1)
		go func() {
			block, err := mgr.AllocateWait(await.Context(t), 100, memory.AllocateOptions{})
			results <- result{block, err}
		}()
		log.collect(t, 1)
		require.NoError(t, mustTake(t, results).Release())
		require.NoError(t, mgr.Close())
	})
}

// Leaked blocks are also reported after their manager was closed.
func TestLeakAfterTheManagerWasClosed(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		var log leakLog
		mgr, err := memory.NewManager(dev, memory.Options{OnLeak: log.add, Resource: memory.NewDriverResource(dev)})
		require.NoError(t, err)
		block := mustAllocate(t, mgr, 30, "late")
		require.ErrorIs(t, mgr.Close(), memory.ErrLeak)
		require.NoError(t, block.Check())
		block = nil
		leaks := log.collect(t, 1)
		assert.Equal(t, "late", leaks[0].Tag)
		requireNothingHeld(t, mgr.Stats())
	})
}

// The handle of a released block has no effect, although its state now belongs to
// another block.
func TestUseAfterReleaseByGeneration(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr, err := memory.NewManager(dev, memory.Options{})
		require.NoError(t, err)
		stream, err := dev.NewStream()
		require.NoError(t, err)
		dead := mustAllocate(t, mgr, 64, "dead")
		was := dead.Identity()
		require.NoError(t, dead.Release())
		live := mustAllocate(t, mgr, 64, "live")

		assert.Zero(t, dead.Pointer())
		assert.Zero(t, dead.Bytes())
		assert.Zero(t, dead.References())
		assert.Zero(t, dead.Kind())
		assert.Equal(t, memory.Owned, dead.Origin())
		assert.Empty(t, dead.Tag())
		assert.False(t, dead.External())
		assert.False(t, dead.ReadOnly())
		assert.False(t, dead.Ordered())
		assert.False(t, dead.Exported())
		assert.Same(t, mgr, dead.Manager())
		assert.Same(t, mgr.Stream(), dead.Stream())
		assert.Same(t, mgr.Stream(), dead.WorkStream())
		assert.Same(t, mgr.Device(), dead.Device())
		assert.Contains(t, dead.String(), "released block")
		_, idle := dead.Idle()
		_, view := memory.View[int8](dead, 0, 1)
		for name, err := range map[string]error{
			"check":       dead.Check(),
			"retain":      dead.Retain(),
			"release":     dead.Release(),
			"record":      dead.RecordUse(stream),
			"order":       dead.OrderBefore(stream),
			"idle":        idle,
			"synchronize": dead.Synchronize(t.Context()),
			"export":      dead.BeginExport(),
			"end export":  dead.EndExport(),
			"view":        view,
		} {
			assert.ErrorIs(t, err, memory.ErrReleased, name)
		}
		assert.NotEqual(t, live.Identity(), dead.Identity())
		assert.NotEqual(t, live.Identity(), was)
		assert.Equal(t, was.Generation, dead.Identity().Generation, "a block keeps its number")
		assert.Equal(t, 1, live.References(), "the other block is as it was")
		assert.Equal(t, "live", live.Tag())
		assert.EqualValues(t, 2, mgr.Stats().DoubleReleases, "the end of an export is a release, too")
		require.NoError(t, live.Release())
		require.NoError(t, stream.Close())
		require.ErrorIs(t, mgr.Close(), memory.ErrLeak)
	})
}

// If several goroutines release a block concurrently, exactly one succeeds.
func TestReleaseRaces(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		const goroutines, rounds = 8, 100
		mgr, err := memory.NewManager(dev, memory.Options{})
		require.NoError(t, err)
		for range rounds {
			block := mustAllocate(t, mgr, 64, "contested")
			for range goroutines/2 - 1 {
				require.NoError(t, block.Retain())
			}
			var group sync.WaitGroup
			failures := make(chan error, goroutines)
			for range goroutines {
				group.Go(func() { failures <- block.Release() })
			}
			group.Wait()
			close(failures)
			refused := 0
			for err := range failures {
				if err != nil {
					require.ErrorIs(t, err, memory.ErrReleased)
					refused++
				}
			}
			require.Equal(t, goroutines/2, refused)
		}
		s := mgr.Stats()
		requireNothingHeld(t, s)
		assert.EqualValues(t, rounds*goroutines/2, s.DoubleReleases)
		require.ErrorIs(t, mgr.Close(), memory.ErrLeak)
	})
}
