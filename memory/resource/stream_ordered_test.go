package resource_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

const mebibyte = 1 << 20

var errDriver = errors.New("the driver fails")

// newStreamOrdered creates a pool that is closed at the end of the test. It skips
// the test if the driver does not support such pools.
func newStreamOrdered(t *testing.T, dev *device.Device, options resource.StreamOrderedOptions) *resource.StreamOrdered {
	t.Helper()
	pool, err := resource.NewStreamOrdered(dev, options)
	if errors.Is(err, device.ErrNotSupported) {
		t.Skipf("no such pool here: %v", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	return pool
}

func TestStreamOrderedMaximum(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		pool := newStreamOrdered(t, dev, resource.StreamOrderedOptions{MaximumBytes: 64 * mebibyte})
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: pool})
		block, err := mgr.Allocate(32*mebibyte, memory.AllocateOptions{})
		require.NoError(t, err)
		_, err = mgr.Allocate(256*mebibyte, memory.AllocateOptions{Tag: "beyond"})
		require.ErrorIs(t, err, device.ErrOutOfMemory)
		assert.ErrorContains(t, err, "beyond")
		require.NoError(t, block.Release())
		block, err = mgr.Allocate(48*mebibyte, memory.AllocateOptions{})
		require.NoError(t, err, "what was freed on the stream is there again")
		require.NoError(t, block.Release())
	})
}

func TestStreamOrderedInitialBytes(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		const initial = 64 * mebibyte
		pool := newStreamOrdered(t, dev, resource.StreamOrderedOptions{InitialBytes: initial})
		require.NoError(t, dev.Synchronize(t.Context()))
		reserved, err := pool.Reserved()
		require.NoError(t, err)
		if dev.Kind() == device.Host {
			assert.Zero(t, reserved, "the host's pool keeps nothing")
		} else {
			assert.GreaterOrEqual(t, reserved, uint64(initial), "the pool keeps what it was primed with")
		}
		released, err := pool.Trim(0)
		require.NoError(t, err)
		assert.Equal(t, reserved, released)
		reserved, err = pool.Reserved()
		require.NoError(t, err)
		assert.Zero(t, reserved)
	})
}

func TestStreamOrderedInitialBytesBeyondTheMaximum(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		newStreamOrdered(t, dev, resource.StreamOrderedOptions{MaximumBytes: mebibyte})
		_, err := resource.NewStreamOrdered(dev, resource.StreamOrderedOptions{
			MaximumBytes: 64 * mebibyte, InitialBytes: 256 * mebibyte,
		})
		require.ErrorIs(t, err, device.ErrOutOfMemory)
	})
}

func TestStreamOrderedReleaseThreshold(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		reservedAfterUse := func(options resource.StreamOrderedOptions) uint64 {
			pool := newStreamOrdered(t, dev, options)
			mgr := devicetest.Manager(t, dev, memory.Options{Resource: pool})
			block, err := mgr.Allocate(64*mebibyte, memory.AllocateOptions{})
			require.NoError(t, err)
			reserved, err := pool.Reserved()
			require.NoError(t, err)
			assert.GreaterOrEqual(t, reserved, uint64(64*mebibyte))
			require.NoError(t, block.Release())
			require.NoError(t, mgr.Stream().Synchronize(t.Context()))
			require.NoError(t, dev.Synchronize(t.Context()))
			reserved, err = pool.Reserved()
			require.NoError(t, err)
			return reserved
		}
		assert.Zero(t, reservedAfterUse(resource.StreamOrderedOptions{ReleaseThreshold: resource.KeepNothing}))
		kept := reservedAfterUse(resource.StreamOrderedOptions{})
		if dev.Kind() != device.Host {
			assert.GreaterOrEqual(t, kept, uint64(64*mebibyte), "by default everything is kept")
		}
	})
}

func TestStreamOrderedTrimLeavesWhatIsInUse(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		pool := newStreamOrdered(t, dev, resource.StreamOrderedOptions{})
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: pool})
		slice, err := memory.NewSlice[int32](mgr, mebibyte, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, slice.Fill(nil, 11))
		_, err = pool.Trim(0)
		require.NoError(t, err)
		reserved, err := pool.Reserved()
		require.NoError(t, err)
		assert.GreaterOrEqual(t, reserved, uint64(4*mebibyte))
		values := make([]int32, mebibyte)
		require.NoError(t, slice.Download(t.Context(), nil, values))
		assert.EqualValues(t, 11, values[mebibyte-1])
		require.NoError(t, slice.Release())
	})
}

func TestStreamOrderedReuse(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for _, options := range []resource.StreamOrderedOptions{
			{NoFollowEvents: true},
			{NoOpportunistic: true},
			{NoInternalDependencies: true},
			{NoFollowEvents: true, NoOpportunistic: true, NoInternalDependencies: true},
		} {
			pool := newStreamOrdered(t, dev, options)
			mgr := devicetest.Manager(t, dev, memory.Options{Resource: pool})
			other, err := dev.NewStream()
			require.NoError(t, err)
			for _, stream := range []*device.Stream{nil, other, nil} {
				block, err := mgr.Allocate(mebibyte, memory.AllocateOptions{Stream: stream})
				require.NoError(t, err)
				require.NoError(t, block.Release())
			}
			require.NoError(t, other.Close())
		}
	})
}

// A block of a closed stream is freed on another stream.
func TestStreamOrderedFreeAfterItsStream(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		pool := newStreamOrdered(t, dev, resource.StreamOrderedOptions{ReleaseThreshold: resource.KeepNothing})
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: pool})
		own, err := dev.NewStream()
		require.NoError(t, err)
		further, err := dev.NewStream()
		require.NoError(t, err)
		block, err := mgr.Allocate(mebibyte, memory.AllocateOptions{Stream: own})
		require.NoError(t, err)
		require.NoError(t, block.RecordUse(further))
		require.NoError(t, further.Close())
		require.NoError(t, own.Close())
		require.NoError(t, block.Release())
		require.NoError(t, dev.Synchronize(t.Context()))
		reserved, err := pool.Reserved()
		require.NoError(t, err)
		assert.Zero(t, reserved)
	})
}

// pools records the calls of a driver's pool functions and can make them fail.
type pools struct {
	backend.Device
	maximum    uint64
	attributes map[backend.PoolAttribute]uint64
	destroyed  int

	create, set, destroy, trim, read error
}

func (p *pools) PoolCreate(maximum uint64) (backend.Pool, error) {
	if p.create != nil {
		return 0, p.create
	}
	p.maximum, p.attributes = maximum, make(map[backend.PoolAttribute]uint64)
	return p.Device.PoolCreate(maximum)
}

func (p *pools) PoolSetAttribute(pool backend.Pool, attribute backend.PoolAttribute, value uint64) error {
	if p.set != nil {
		return p.set
	}
	p.attributes[attribute] = value
	return p.Device.PoolSetAttribute(pool, attribute, value)
}

func (p *pools) PoolAttribute(pool backend.Pool, attribute backend.PoolAttribute) (uint64, error) {
	if p.read != nil {
		return 0, p.read
	}
	return p.Device.PoolAttribute(pool, attribute)
}

func (p *pools) PoolTrim(pool backend.Pool, keep uint64) error {
	if p.trim != nil {
		return p.trim
	}
	return p.Device.PoolTrim(pool, keep)
}

func (p *pools) PoolDestroy(pool backend.Pool) error {
	p.destroyed++
	return errors.Join(p.Device.PoolDestroy(pool), p.destroy)
}

func openPools(t *testing.T) (*device.Device, *pools) {
	t.Helper()
	return launchtest.OpenWrapped(t, func(below backend.Device) *pools { return &pools{Device: below} })
}

func TestStreamOrderedAsksTheDriver(t *testing.T) {
	dev, driver := openPools(t)
	for name, want := range map[string]struct {
		options    resource.StreamOrderedOptions
		maximum    uint64
		attributes map[backend.PoolAttribute]uint64
	}{
		"zero": {
			attributes: map[backend.PoolAttribute]uint64{backend.PoolReleaseThreshold: ^uint64(0)},
		},
		"threshold and maximum": {
			options: resource.StreamOrderedOptions{MaximumBytes: 1 << 30, ReleaseThreshold: 1 << 20}, maximum: 1 << 30,
			attributes: map[backend.PoolAttribute]uint64{backend.PoolReleaseThreshold: 1 << 20},
		},
		"no reuse": {
			options: resource.StreamOrderedOptions{
				ReleaseThreshold: resource.KeepNothing,
				NoFollowEvents:   true, NoOpportunistic: true, NoInternalDependencies: true,
			},
			attributes: map[backend.PoolAttribute]uint64{
				backend.PoolReleaseThreshold:               resource.KeepNothing,
				backend.PoolReuseFollowEventDependencies:   0,
				backend.PoolReuseAllowOpportunistic:        0,
				backend.PoolReuseAllowInternalDependencies: 0,
			},
		},
	} {
		pool, err := resource.NewStreamOrdered(dev, want.options)
		require.NoError(t, err, name)
		assert.Equal(t, want.maximum, driver.maximum, name)
		assert.Equal(t, want.attributes, driver.attributes, name)
		require.NoError(t, pool.Close(), name)
	}
	assert.Equal(t, 3, driver.destroyed)
}

func TestStreamOrderedErrors(t *testing.T) {
	dev, driver := openPools(t)
	driver.create = backend.ErrNotSupported
	_, err := resource.NewStreamOrdered(dev, resource.StreamOrderedOptions{})
	require.ErrorIs(t, err, device.ErrNotSupported)
	driver.create = nil

	driver.set = errDriver
	_, err = resource.NewStreamOrdered(dev, resource.StreamOrderedOptions{InitialBytes: 100})
	require.ErrorIs(t, err, errDriver)
	assert.Equal(t, 1, driver.destroyed, "a pool that cannot be configured is destroyed")
	driver.set = nil

	pool, err := resource.NewStreamOrdered(dev, resource.StreamOrderedOptions{})
	require.NoError(t, err)
	driver.trim = errDriver
	_, err = pool.Trim(0)
	require.ErrorIs(t, err, errDriver)
	driver.read = errDriver
	_, err = pool.Reserved()
	require.ErrorIs(t, err, errDriver)
	driver.destroy = errDriver
	require.ErrorIs(t, pool.Close(), errDriver, "destroying a pool may fail, and that is told")
}
