package memory_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// depth creates a chain of managers, the root first.
func depth(t testing.TB, root *memory.Manager, levels int) []*memory.Manager {
	t.Helper()
	chain := []*memory.Manager{root}
	for range levels - 1 {
		chain = append(chain, mustChild(t, chain[len(chain)-1], "below", 0))
	}
	t.Cleanup(func() {
		for i := len(chain) - 1; i > 0; i-- {
			require.NoError(t, chain[i].Close())
		}
	})
	return chain
}

// Hopeless requests never make requests fail that always fit: neither through the
// bytes that they briefly take from lower budgets, nor through the credit that they
// search for under the same tag.
func TestTagCacheBesideHopelessRequests(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for name, levels := range map[string]int{"depth 1": 1, "depth 3": 3} {
			for sameName, hopelessTag := range map[string]string{"same tag": "work", "another tag": "hopeless"} {
				t.Run(name+"/"+sameName, func(t *testing.T) {
					const workers, each, rounds = 4, 100, 1500
					root := devicetest.Manager(t, dev, memory.Options{Budget: workers * each})
					chain := depth(t, root, levels)
					leaf := chain[levels-1]
					done := make(chan struct{})
					var working, hopeless sync.WaitGroup
					for range workers {
						working.Go(func() {
							for range rounds {
								block, err := leaf.Allocate(each, memory.AllocateOptions{Tag: "work"})
								if !assert.NoError(t, err, "it always fits") {
									return
								}
								assert.NoError(t, block.Release())
							}
						})
						hopeless.Go(func() {
							for {
								select {
								case <-done:
									return
								default:
								}
								_, err := leaf.Allocate(workers*each+1, memory.AllocateOptions{Tag: hopelessTag})
								if !assert.ErrorIs(t, err, memory.ErrBudget) {
									return
								}
							}
						})
					}
					working.Wait()
					close(done)
					hopeless.Wait()
					for _, m := range chain {
						s := m.Stats()
						requireNothingHeld(t, s)
						assert.Equal(t, s.Budget, s.Remaining)
						assert.LessOrEqual(t, s.Peak, uint64(workers*each))
						assert.EqualValues(t, workers*rounds, s.Allocations)
					}
				})
			}
		}
	})
}

// The peak counts memory that was in use at the same time. Released memory that is
// kept as credit is in no peak, even with concurrent allocations.
func TestTagCacheIsInNoPeak(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		const workers, each, rounds = 8, 100, 2000
		root := devicetest.Manager(t, dev, memory.Options{Budget: 1 << 20})
		chain := depth(t, root, 2)
		tags := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}
		var group sync.WaitGroup
		for worker := range workers {
			group.Go(func() {
				for round := range rounds {
					tag := tags[(worker+round)%len(tags)]
					block, err := chain[round%2].Allocate(each, memory.AllocateOptions{Tag: tag})
					if !assert.NoError(t, err) {
						return
					}
					assert.NoError(t, block.Release())
				}
			})
		}
		group.Wait()
		s := root.Stats()
		assert.LessOrEqual(t, s.Peak, uint64(workers*each), "nobody ever held two blocks")
		for _, tag := range s.Tags {
			assert.LessOrEqual(t, tag.Peak, uint64(2*workers*each), tag.Tag)
		}
		requireNothingHeld(t, s)
	})
}

// Credit is found again for any number of tags, and the statistics are exact
// whenever they are read.
func TestTagCacheKeepsFiguresExact(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 1000})
		child := mustChild(t, mgr, "child", 600)
		var names []string
		for i := range 40 {
			names = append(names, string(rune('A'+i)))
		}
		for round, name := range append(names, names...) {
			m := []*memory.Manager{mgr, child}[round%2]
			block := mustAllocate(t, m, 600, name)
			s := mgr.Stats()
			assert.EqualValues(t, 600, s.InUse)
			assert.EqualValues(t, 600, s.Peak)
			assert.EqualValues(t, 400, s.Remaining)
			assert.EqualValues(t, round+1, s.Allocations)
			assert.EqualValues(t, round, s.Frees)
			require.NoError(t, block.Release())
			require.NoError(t, mgr.Check(1000))
			require.NoError(t, child.Check(600))
		}
		whole := mustAllocate(t, mgr, 1000, "whole")
		assert.EqualValues(t, 1000, mgr.Stats().Peak)
		require.NoError(t, whole.Release())
		mgr.ResetPeak()
		assert.Zero(t, mgr.Stats().Peak)
		require.NoError(t, mustAllocate(t, mgr, 10, "A").Release())
		assert.EqualValues(t, 10, mgr.Stats().Peak, "a peak that was reset is exact again")
		require.NoError(t, child.Close())
	})
}
