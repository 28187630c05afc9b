package memory_test

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

func TestBudget(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 1000})
		block, err := mgr.Allocate(600, memory.AllocateOptions{Tag: "table"})
		require.NoError(t, err)
		require.NoError(t, mgr.Check(400))
		require.ErrorIs(t, mgr.Check(401), memory.ErrBudget)

		_, err = mgr.Allocate(500, memory.AllocateOptions{Tag: "scratch"})
		var budget *memory.BudgetError
		require.ErrorAs(t, err, &budget)
		assert.EqualValues(t, 500, budget.Asked)
		assert.EqualValues(t, 600, budget.InUse)
		assert.EqualValues(t, 1000, budget.Budget)
		require.Len(t, budget.Largest, 1)
		assert.Equal(t, "table", budget.Largest[0].Tag)
		for _, part := range []string{"500 B", "scratch", "600 B of 1000 B", "table", "Options.Budget"} {
			assert.Contains(t, err.Error(), part)
		}

		stats := mgr.Stats()
		assert.EqualValues(t, 600, stats.InUse)
		assert.EqualValues(t, 600, stats.Peak)
		assert.EqualValues(t, 400, stats.Remaining)
		assert.EqualValues(t, 1, stats.Allocations)
		assert.EqualValues(t, 1, stats.Failures)
		assert.EqualValues(t, 1, stats.Blocks)
		require.NoError(t, block.Release())

		whole, err := mgr.Allocate(1000, memory.AllocateOptions{})
		require.NoError(t, err, "the budget is all there again")
		require.NoError(t, whole.Release())
	})
}

func TestBudgetOfZeroIsTheDevice(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		assert.Equal(t, dev.Info().TotalMemory, mgr.Stats().Budget)
	})
}

func TestAbsurdSizes(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: math.MaxUint64})
		_, err := mgr.Allocate(math.MaxUint64-4096, memory.AllocateOptions{})
		require.ErrorIs(t, err, device.ErrOutOfMemory)
		_, err = mgr.Allocate(1<<50, memory.AllocateOptions{Tag: "petabyte"})
		require.ErrorIs(t, err, device.ErrOutOfMemory)
		assert.Contains(t, err.Error(), "petabyte")
		_, err = memory.NewSlice[float64](mgr, -1, memory.AllocateOptions{})
		require.ErrorIs(t, err, memory.ErrRange)
		_, err = memory.NewSlice[float64](mgr, math.MaxInt, memory.AllocateOptions{})
		require.ErrorIs(t, err, memory.ErrOverflow)
		assert.Zero(t, mgr.Stats().InUse)
		assert.Zero(t, mgr.Stats().Peak, "what was never in use is in no peak")
		assert.Equal(t, uint64(math.MaxUint64), mgr.Stats().Remaining)
	})
}

func TestZeroLength(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 1})
		empty, err := memory.NewSlice[int64](mgr, 0, memory.AllocateOptions{})
		require.NoError(t, err)
		assert.Zero(t, empty.Pointer())
		require.NoError(t, empty.Upload(t.Context(), nil, nil))
		require.NoError(t, empty.Fill(nil, 7))
		require.NoError(t, empty.Download(t.Context(), nil, nil))
		require.NoError(t, empty.Release())
		assert.EqualValues(t, 1, mgr.Stats().Frees)
	})
}

func TestTagsPeaksAndCounts(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 1 << 20})
		first, err := mgr.Allocate(3000, memory.AllocateOptions{Tag: "a"})
		require.NoError(t, err)
		second, err := mgr.Allocate(5000, memory.AllocateOptions{Tag: "b"})
		require.NoError(t, err)
		third, err := mgr.Allocate(100, memory.AllocateOptions{})
		require.NoError(t, err)

		tags := mgr.Stats().Tags
		require.Len(t, tags, 3)
		assert.Equal(t, memory.TagStats{Tag: "b", InUse: 5000, Peak: 5000, Blocks: 1, Allocations: 1}, tags[0])
		assert.Equal(t, "a", tags[1].Tag)
		assert.Equal(t, "", tags[2].Tag)

		require.NoError(t, second.Release())
		assert.EqualValues(t, 8100, mgr.Stats().Peak)
		mgr.ResetPeak()
		mgr.ResetCounts()
		stats := mgr.Stats()
		assert.EqualValues(t, 3100, stats.Peak)
		assert.Zero(t, stats.Allocations)
		assert.Zero(t, stats.Frees)
		assert.EqualValues(t, 2, stats.Blocks, "resetting counts forgets no block")
		assert.Contains(t, stats.String(), "in use 3.0 KiB of 1.0 MiB (0.3 %), peak 3.0 KiB")
		require.NoError(t, first.Release())
		require.NoError(t, third.Release())
	})
}

func TestReleasedAndNilBlocks(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr, err := memory.NewManager(dev, memory.Options{})
		require.NoError(t, err)
		slice, err := memory.NewSlice[int32](mgr, 10, memory.AllocateOptions{})
		require.NoError(t, err)
		block := slice.Block()
		require.NoError(t, block.Retain())
		assert.Equal(t, 2, block.References())
		require.NoError(t, block.Release())
		require.NoError(t, block.Release())

		var none *memory.Block
		require.NoError(t, none.Release(), "as free(NULL) is")
		assert.Zero(t, block.Pointer())
		assert.Zero(t, slice.Pointer())
		values := make([]int32, 10)
		for name, err := range map[string]error{
			"retain":      block.Retain(),
			"retain nil":  none.Retain(),
			"release":     block.Release(),
			"upload":      slice.Upload(t.Context(), nil, values),
			"download":    slice.Download(t.Context(), nil, values),
			"fill":        slice.Fill(nil, 1),
			"copy":        slice.CopyFrom(nil, slice),
			"record":      block.RecordUse(nil),
			"order":       block.OrderBefore(dev.DefaultStream()),
			"synchronize": block.Synchronize(t.Context()),
			"export":      block.BeginExport(),
			"check nil":   none.Check(),
		} {
			assert.ErrorIs(t, err, memory.ErrReleased, name)
		}
		_, err = memory.View[int8](block, 0, 1)
		require.ErrorIs(t, err, memory.ErrReleased)

		// The state of the released block now serves another one: the old handle must
		// not affect it.
		next, err := mgr.Allocate(40, memory.AllocateOptions{})
		require.NoError(t, err)
		require.ErrorIs(t, block.Release(), memory.ErrReleased)
		assert.Equal(t, 1, next.References())
		assert.NotEqual(t, block.Identity(), next.Identity())
		require.NoError(t, next.Release())

		var leak *memory.LeakError
		require.ErrorAs(t, mgr.Close(), &leak)
		assert.EqualValues(t, 2, leak.DoubleReleases)
		assert.Zero(t, leak.Blocks)
	})
}

func TestCloseNamesWhatIsHeld(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr, err := memory.NewManager(dev, memory.Options{TrackAllocations: true})
		require.NoError(t, err)
		block, err := mgr.Allocate(1234, memory.AllocateOptions{Tag: "forgotten"})
		require.NoError(t, err)

		err = mgr.Close()
		var leak *memory.LeakError
		require.ErrorAs(t, err, &leak)
		require.ErrorIs(t, err, memory.ErrLeak)
		assert.EqualValues(t, 1, leak.Blocks)
		assert.EqualValues(t, 1234, leak.Bytes)
		assert.Contains(t, err.Error(), "forgotten")
		assert.Contains(t, err.Error(), "TestCloseNamesWhatIsHeld")

		require.ErrorIs(t, mgr.Close(), memory.ErrClosed)
		_, err = mgr.Allocate(1, memory.AllocateOptions{})
		require.ErrorIs(t, err, memory.ErrClosed)
		require.NoError(t, block.Release(), "held memory outlives its manager")
	})
}

func TestBackstop(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		leaks := make(chan memory.Leak, 1)
		mgr, err := memory.NewManager(dev, memory.Options{
			TrackAllocations: true, OnLeak: func(leak memory.Leak) { leaks <- leak },
		})
		require.NoError(t, err)
		func() {
			_, err := mgr.Allocate(4096, memory.AllocateOptions{Tag: "dropped"})
			require.NoError(t, err)
		}()
		var leak memory.Leak
		await.Collected(t, func() bool {
			select {
			case leak = <-leaks:
				return true
			default:
				return false
			}
		}, "the leak was reported")
		assert.EqualValues(t, 4096, leak.Bytes)
		assert.Equal(t, "dropped", leak.Tag)
		assert.Contains(t, leak.String(), "TestBackstop")
		stats := mgr.Stats()
		assert.EqualValues(t, 1, stats.Leaks)
		assert.Zero(t, stats.InUse)
		require.NoError(t, mgr.Close())
	})
}

func TestOptionsThatDoNotFit(t *testing.T) {
	dev := devicetest.Open(t, "host")
	_, err := memory.NewManager(nil, memory.Options{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	_, err = memory.NewManager(dev, memory.Options{Staging: memory.StagingOptions{Workers: -1}})
	require.ErrorIs(t, err, device.ErrInvalidValue)
}

// An oversize request fails alone while small ones succeed, and the statistics are
// exact in any interleaving.
func TestOversizeRequestFailsAlone(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		const workers, rounds, size, budget = 8, 300, 1000, 8 * 1000
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: budget})
		var group sync.WaitGroup
		failures := make(chan error, workers*rounds)
		for range workers {
			group.Go(func() {
				for range rounds {
					block, err := mgr.Allocate(size, memory.AllocateOptions{Tag: "small"})
					if err != nil {
						failures <- err
						continue
					}
					if err := block.Release(); err != nil {
						failures <- err
					}
				}
			})
			group.Go(func() {
				for range rounds {
					if _, err := mgr.Allocate(budget+1, memory.AllocateOptions{}); !errors.Is(err, memory.ErrBudget) {
						failures <- err
					}
				}
			})
		}
		group.Wait()
		close(failures)
		for err := range failures {
			t.Error(err)
		}
		stats := mgr.Stats()
		assert.Zero(t, stats.InUse)
		assert.EqualValues(t, budget, stats.Remaining)
		assert.LessOrEqual(t, stats.Peak, uint64(budget))
		assert.EqualValues(t, workers*rounds, stats.Failures)
	})
}

// failing is a resource with a limited number of allocations; later ones fail.
type failing struct {
	memory.Resource
	left int
}

func (f *failing) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	if f.left == 0 {
		return resource.Allocation{}, device.ErrOutOfMemory
	}
	f.left--
	return f.Resource.Allocate(bytes, stream)
}

func TestFailureGivesTheReservationBack(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{
			Budget: 100, Resource: &failing{Resource: memory.NewDriverResource(dev), left: 1},
		})
		first, err := mgr.Allocate(10, memory.AllocateOptions{})
		require.NoError(t, err)
		_, err = mgr.Allocate(90, memory.AllocateOptions{Tag: "second"})
		require.ErrorIs(t, err, device.ErrOutOfMemory)
		assert.True(t, strings.Contains(err.Error(), "second") && strings.Contains(err.Error(), dev.Name()))
		assert.EqualValues(t, 90, mgr.Stats().Remaining)
		assert.EqualValues(t, 10, mgr.Stats().Peak)
		require.NoError(t, first.Release())
	})
}
