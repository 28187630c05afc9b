package memory_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestPrintedManager(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Name: "all", Budget: 1000})
		tenant := mustChild(t, mgr, "tenant", 500)
		job := mustReserve(t, tenant, "job", 100)
		unnamed := mustChild(t, mgr, "", 0)
		own, below := mustAllocate(t, mgr, 200, "prices"), mustAllocate(t, job, 100, "scratch")

		line := fmt.Sprintf(`memory manager "all" on %s: in use 300 B of 1000 B (30.0 %%), peak 300 B, 2 allocations, 0 frees`, dev)
		for _, format := range []string{"%v", "%s", "%#v", "%d"} {
			assert.Equal(t, line, fmt.Sprintf(format, mgr), format)
		}
		assert.Equal(t, line, mgr.String())
		assert.Equal(t, line, mgr.GoString())
		assert.Equal(t, line+`
	tag prices 200 B in 1 blocks
	tag scratch 100 B in 1 blocks
	child tenant: in use 100 B of 500 B (20.0 %), peak 100 B, 1 allocations, 0 frees
		tag scratch 100 B in 1 blocks
		child job: in use 100 B of 100 B (100.0 %), peak 100 B, 1 allocations, 0 frees
			tag scratch 100 B in 1 blocks
	child in use 0 B of 1000 B (0.0 %), peak 0 B, 0 allocations, 0 frees`, fmt.Sprintf("%+v", mgr))
		assert.Contains(t, fmt.Sprint(unnamed), "memory manager on ")
		var none *memory.Manager
		assert.Equal(t, "nil memory manager", fmt.Sprint(none))
		assert.Equal(t, "nil memory manager", fmt.Sprintf("%+v", none))

		require.NoError(t, own.Release())
		require.NoError(t, below.Release())
		for _, m := range []*memory.Manager{unnamed, job, tenant} {
			require.NoError(t, m.Close())
		}
	})
}

// The longest piece of cached memory may be the block that was freed last.
func TestLargestFreeCountsWhatWasFreedLast(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		resource, err := memory.NewCachingResource(dev, memory.CachingOptions{})
		require.NoError(t, err)
		mgr, err := memory.NewManager(dev, memory.Options{Budget: 1 << 30, Resource: resource})
		require.NoError(t, err)
		block := mustAllocate(t, mgr, 64*mebibyte, "")
		require.NoError(t, block.Release())
		s := resource.Stats()
		assert.EqualValues(t, 64*mebibyte, s.LargestFree)
		assert.EqualValues(t, 64*mebibyte, s.Cached)
		_, err = resource.Trim(0)
		require.NoError(t, err)
		assert.Zero(t, resource.Stats().LargestFree)
		require.NoError(t, mgr.Close())
		require.NoError(t, resource.Close())
	})
}

// A request that the resource refuses is in no peak, even if other requests set new
// peaks during the call.
func TestPeakWithoutWhatWasNeverDelivered(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for name, delivers := range map[string]bool{"refused": false, "delivered": true} {
			t.Run(name, func(t *testing.T) {
				resource := &during{Resource: memory.NewDriverResource(dev)}
				mgr := devicetest.Manager(t, dev, memory.Options{Budget: 1000, Resource: resource})
				child := mustChild(t, mgr, "child", 0)
				require.NoError(t, mustAllocate(t, child, 100, "a").Release(), "credit to draw from")
				var other *memory.Block
				resource.allocate = func() error {
					resource.allocate = nil
					other = mustAllocate(t, mgr, 70, "b")
					s := mgr.Stats()
					assert.EqualValues(t, 70, s.InUse, "the other one is not delivered yet")
					assert.EqualValues(t, 1, s.Blocks)
					assert.EqualValues(t, 830, s.Remaining, "but it is reserved")
					if delivers {
						return nil
					}
					return device.ErrOutOfMemory
				}
				block, err := child.Allocate(100, memory.AllocateOptions{Tag: "a"})
				s := mgr.Stats()
				require.NoError(t, other.Release())
				if delivers {
					require.NoError(t, err)
					assert.EqualValues(t, 170, s.Peak)
					assert.EqualValues(t, 170, s.InUse)
					assert.EqualValues(t, 3, s.Allocations)
					require.NoError(t, block.Release())
				} else {
					require.ErrorIs(t, err, device.ErrOutOfMemory)
					assert.EqualValues(t, 100, s.Peak)
					assert.EqualValues(t, 70, s.InUse)
					assert.EqualValues(t, 930, s.Remaining)
					assert.EqualValues(t, 2, s.Allocations)
				}
				requireNothingHeld(t, mgr.Stats())
				assert.EqualValues(t, 1000, mgr.Stats().Remaining)
				require.NoError(t, child.Close())
			})
		}
	})
}
