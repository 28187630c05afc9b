package memory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// A request that waits for the device is notified when another manager of the same
// resource releases memory.
func TestWaitForMemoryOfAnotherManager(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		resource := newSmall(dev, 100)
		waiting := devicetest.Manager(t, dev, memory.Options{Resource: over{resource}, Budget: 1000})
		other := devicetest.Manager(t, dev, memory.Options{Resource: over{over{resource}}, Budget: 1000})
		first, second := mustAllocate(t, other, 40, "held"), mustAllocate(t, other, 40, "held")
		waits := allocateLater(t, await.Context(t), waiting, 90, memory.AllocateOptions{})
		asked := resource.requests()
		require.NoError(t, first.Release())
		await.Until(t, func() bool { return resource.requests() > asked }, "the device was asked again")
		requireWaiting(t, waiting, 1)
		require.NoError(t, second.Release())
		require.NoError(t, mustTake(t, waits).Release())
	})
}

// Memory of a manager with another resource does not count: waiting for it cannot
// help.
func TestWaitForMemoryOfAnotherResource(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: newSmall(dev, 100), Budget: 1000})
		other := devicetest.Manager(t, dev, memory.Options{Resource: newSmall(dev, 100), Budget: 1000})
		held := mustAllocate(t, other, 40, "held")
		_, err := mgr.AllocateWait(await.Context(t), 101, memory.AllocateOptions{})
		require.ErrorIs(t, err, device.ErrOutOfMemory)
		require.NoError(t, held.Release())
	})
}

// uncomparable is a resource that is not comparable.
type uncomparable struct {
	memory.Resource
	_ []int
}

func TestWaitOnAResourceThatCannotBeCompared(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: uncomparable{Resource: newSmall(dev, 100)}, Budget: 1000})
		other := devicetest.Manager(t, dev, memory.Options{Resource: uncomparable{Resource: newSmall(dev, 100)}, Budget: 1000})
		held := mustAllocate(t, mgr, 60, "held")
		waits := allocateLater(t, await.Context(t), mgr, 90, memory.AllocateOptions{})
		require.NoError(t, mustAllocate(t, other, 10, "").Release())
		require.NoError(t, held.Release())
		block, err := take(t, waits)
		require.NoError(t, err)
		assert.EqualValues(t, 90, block.Bytes())
		require.NoError(t, block.Release())
	})
}
