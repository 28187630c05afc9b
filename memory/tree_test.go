package memory_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// checkFigures checks the invariants of a tree. It returns the violations.
func checkFigures(s memory.Stats) error {
	if s.InUse > s.Budget {
		return fmt.Errorf("%s: %d in use of %d", s.Name, s.InUse, s.Budget)
	}
	if s.Peak < s.InUse || s.Peak > s.Budget {
		return fmt.Errorf("%s: peak %d, in use %d of %d", s.Name, s.Peak, s.InUse, s.Budget)
	}
	if s.Remaining > s.Budget-s.InUse {
		return fmt.Errorf("%s: %d remain of %d with %d in use", s.Name, s.Remaining, s.Budget, s.InUse)
	}
	if s.Allocations-s.Frees != s.Blocks {
		return fmt.Errorf("%s: %d allocations, %d frees, %d blocks", s.Name, s.Allocations, s.Frees, s.Blocks)
	}
	var tagged, blocks uint64
	for _, tag := range s.Tags {
		tagged += tag.InUse
		blocks += tag.Blocks
		if tag.Peak < tag.InUse || tag.Allocations < tag.Blocks {
			return fmt.Errorf("%s: tag %+v", s.Name, tag)
		}
	}
	if tagged != s.InUse || blocks != s.Blocks {
		return fmt.Errorf("%s: the tags have %d in %d blocks, the manager %d in %d", s.Name, tagged, blocks, s.InUse, s.Blocks)
	}
	below := s.Own
	for _, child := range s.Children {
		if err := checkFigures(child); err != nil {
			return err
		}
		below += child.InUse
	}
	if s.Own > s.InUse || below != s.InUse {
		return fmt.Errorf("%s: own %d and children are %d, in use %d", s.Name, s.Own, below, s.InUse)
	}
	return nil
}

// Sixty-four goroutines use a tree with little memory: the statistics are consistent
// at every moment and every level.
func TestTreeFiguresAtEveryMoment(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		const workers, rounds = 64, 80
		root := devicetest.Manager(t, dev, memory.Options{Name: "root", Budget: 3000})
		var managers []*memory.Manager
		for i := range 4 {
			child := mustChild(t, root, fmt.Sprintf("child %d", i), 1000)
			managers = append(managers, child, mustChild(t, child, fmt.Sprintf("below %d", i), 600))
		}
		managers = append(managers, root)
		stop := make(chan struct{})
		var working, sampling sync.WaitGroup
		sampling.Go(func() {
			for sample := 0; ; sample++ {
				select {
				case <-stop:
					return
				default:
				}
				s := root.Stats()
				if sample%3 == 0 {
					s = managers[sample%len(managers)].Stats()
				}
				if !assert.NoError(t, checkFigures(s)) {
					return
				}
			}
		})
		ctx := await.Context(t)
		for worker := range workers {
			working.Go(func() {
				random := rand.New(rand.NewPCG(7, uint64(worker)))
				var held []*memory.Block
				release := func() {
					assert.NoError(t, held[0].Release())
					held = held[1:]
				}
				for range rounds {
					m := managers[random.IntN(len(managers))]
					bytes := random.Uint64N(300)
					options := memory.AllocateOptions{Tag: string(rune('a' + random.IntN(6))), Priority: random.IntN(2)}
					switch random.IntN(10) {
					case 0:
						bytes = 700 + random.Uint64N(3000)
					case 1:
						// A waiting goroutine holds nothing; otherwise all might
						// wait for each other.
						for len(held) > 0 {
							release()
						}
						if block, err := m.AllocateWait(ctx, bytes, options); assert.NoError(t, err) {
							held = append(held, block)
						}
						continue
					case 2:
						if job, err := m.Reserve("job", bytes); err == nil {
							block, err := job.Allocate(bytes, options)
							if assert.NoError(t, err, "it is reserved") {
								assert.NoError(t, block.Release())
							}
							assert.NoError(t, job.Close())
						}
						continue
					}
					if block, err := m.Allocate(bytes, options); err == nil {
						held = append(held, block)
					} else {
						assert.ErrorIs(t, err, memory.ErrBudget)
					}
					for len(held) > 2 || len(held) > 0 && random.IntN(2) == 0 {
						release()
					}
				}
				for len(held) > 0 {
					release()
				}
			})
		}
		working.Wait()
		close(stop)
		sampling.Wait()
		s := root.Stats()
		require.NoError(t, checkFigures(s))
		requireNothingHeld(t, s)
		assert.EqualValues(t, 3000, s.Remaining)
		for _, m := range slices.Backward(managers[:len(managers)-1]) {
			assert.Equal(t, m.Stats().Budget, m.Stats().Remaining)
			require.NoError(t, m.Close())
		}
		assert.Equal(t, s.Allocations, root.Stats().Allocations, "what was counted below stays counted")
	})
}

func TestChildOptions(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Name: "root", Budget: 1000})
		assert.Nil(t, mgr.Parent())
		child := mustChild(t, mgr, "child", 0)
		assert.Equal(t, "child", child.Name())
		assert.Same(t, mgr, child.Parent())
		assert.Same(t, mgr.Device(), child.Device())
		assert.Same(t, mgr.Stream(), child.Stream())
		assert.Equal(t, mgr.Resource(), child.Resource())
		assert.EqualValues(t, 1000, child.Stats().Budget, "zero is the parent's")
		wide := mustChild(t, mgr, "wide", 5000)
		_, err := wide.Allocate(1001, memory.AllocateOptions{})
		var budget *memory.BudgetError
		require.ErrorAs(t, err, &budget)
		assert.Equal(t, "root", budget.Manager, "no child has more than its parent")
		require.NoError(t, mgr.SetBudget(6000))
		require.NoError(t, mustAllocate(t, wide, 5000, "now").Release())
		slice, err := memory.NewSlice[int32](child, 100, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, slice.Upload(t.Context(), nil, make([]int32, 100)), "staging is shared")
		assert.Same(t, child, slice.Block().Manager())
		require.NoError(t, slice.Release())
		require.NoError(t, wide.Close())
		require.NoError(t, child.Close())
		require.ErrorIs(t, child.Close(), memory.ErrClosed)
	})
}

// Memory of a closed child counts in its parent until it is released.
func TestChildClosedEarly(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Name: "root", Budget: 1000})
		child := mustChild(t, mgr, "child", 500)
		below := mustChild(t, child, "below", 500)
		block := mustAllocate(t, below, 300, "held")
		require.NoError(t, mustAllocate(t, below, 200, "gone").Release())
		err := child.Close()
		var leak *memory.LeakError
		require.ErrorAs(t, err, &leak)
		assert.Equal(t, "child", leak.Manager)
		assert.EqualValues(t, 300, leak.Bytes)
		assert.ErrorContains(t, err, "TestChildClosedEarly", "it names where the child's children allocated it")

		for _, m := range []*memory.Manager{child, below} {
			_, err = m.Allocate(1, memory.AllocateOptions{})
			require.ErrorIs(t, err, memory.ErrClosed, "%s: closing a parent closes its children", m.Name())
			_, err = m.AllocateWait(t.Context(), 1, memory.AllocateOptions{})
			require.ErrorIs(t, err, memory.ErrClosed)
			_, err = m.Child("further", 0)
			require.ErrorIs(t, err, memory.ErrClosed)
			_, err = m.Reserve("further", 0)
			require.ErrorIs(t, err, memory.ErrClosed)
		}
		s := mgr.Stats()
		assert.EqualValues(t, 300, s.InUse)
		assert.Zero(t, s.Own)
		require.NoError(t, checkFigures(s))
		require.NoError(t, block.Retain())
		require.NoError(t, block.Release())
		require.NoError(t, block.Release())
		require.NoError(t, below.Close())
		require.NoError(t, mustChild(t, mgr, "next", 0).Close())
		s = mgr.Stats()
		assert.Empty(t, s.Children)
		assert.EqualValues(t, 2, s.Allocations)
		assert.EqualValues(t, 2, s.Frees)
		requireNothingHeld(t, s)
	})
}

// Closing a child ends the reservations below it.
func TestChildClosedAboveAReservation(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 1000})
		for _, make := range []func(string, uint64) (*memory.Manager, error){mgr.Child, mgr.Reserve} {
			child, err := make("child", 600)
			require.NoError(t, err)
			job := mustReserve(t, child, "job", 500)
			block := mustAllocate(t, job, 100, "held")
			require.ErrorIs(t, child.Close(), memory.ErrLeak)
			assert.EqualValues(t, 900, mgr.Stats().Remaining)
			require.ErrorIs(t, job.Close(), memory.ErrLeak)
			assert.EqualValues(t, 900, mgr.Stats().Remaining)
			require.NoError(t, block.Release())
			assert.EqualValues(t, 1000, mgr.Stats().Remaining)
		}
	})
}

// Children may be created, used and closed concurrently.
func TestChildrenComeAndGo(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		const workers, rounds = 16, 40
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: workers * 100})
		var group sync.WaitGroup
		for worker := range workers {
			group.Go(func() {
				for round := range rounds {
					child, err := mgr.Child("child", 100)
					if !assert.NoError(t, err) {
						return
					}
					block, err := child.Allocate(100, memory.AllocateOptions{Tag: string(rune('a' + worker%3))})
					if !assert.NoError(t, err) {
						return
					}
					if round%2 == 0 {
						assert.ErrorIs(t, child.Close(), memory.ErrLeak)
						assert.NoError(t, block.Release())
					} else {
						assert.NoError(t, block.Release())
						assert.NoError(t, child.Close())
					}
					assert.NoError(t, checkFigures(mgr.Stats()))
				}
			})
		}
		group.Wait()
		require.NoError(t, mustChild(t, mgr, "last", 0).Close())
		s := mgr.Stats()
		assert.Empty(t, s.Children)
		assert.EqualValues(t, workers*rounds, s.Allocations)
		requireNothingHeld(t, s)
		assert.EqualValues(t, workers*100, s.Remaining)
	})
}
