package device_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

func TestSame(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		again := devicetest.Open(t, dev.Name())
		assert.NotSame(t, dev, again)
		assert.True(t, dev.Same(dev))
		assert.True(t, dev.Same(again))
		assert.False(t, dev.Same(nil))
		var none *device.Device
		assert.False(t, none.Same(dev))
		assert.True(t, none.Same(nil))
	})
	host, cuda := devicetest.Open(t, "host"), devicetest.Open(t, "cuda:0")
	assert.False(t, host.Same(cuda))
	assert.False(t, cuda.Same(host))
}

func TestProperties(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		processors, err := dev.Attribute(backend.MultiprocessorCount)
		require.NoError(t, err)
		assert.Equal(t, dev.Info().Multiprocessors, processors)
		free, total, err := dev.MemoryInfo()
		require.NoError(t, err)
		assert.Positive(t, total)
		assert.LessOrEqual(t, free, total)
		assert.Equal(t, dev.Info(), dev.Driver().Info())
	})
	_, err := devicetest.Open(t, "host").Attribute(backend.WarpSize)
	require.ErrorIs(t, err, device.ErrNotSupported)
}

func TestAttributesArePassedOn(t *testing.T) {
	dev, fake := openFake(t)
	value, err := dev.Attribute(12345)
	assert.Equal(t, 42, value)
	require.ErrorIs(t, err, errInjected)
	assert.EqualValues(t, 12345, fake.attribute)
	require.NoError(t, dev.Close())
}

func TestClosedDevice(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		dev, err := device.Open(dev.Name())
		require.NoError(t, err)
		event := newEvent(t, dev)
		require.NoError(t, event.Close())
		require.NoError(t, dev.Close())
		require.ErrorIs(t, dev.Close(), device.ErrClosed)
		_, err = dev.NewStream()
		require.ErrorIs(t, err, device.ErrClosed)
		require.ErrorContains(t, err, dev.Name())
		_, err = dev.NewEvent()
		require.ErrorIs(t, err, device.ErrClosed, "the cache is empty")
		_, err = dev.NewTimingEvent()
		require.ErrorIs(t, err, device.ErrClosed)
		require.ErrorIs(t, dev.Synchronize(t.Context()), device.ErrClosed)
		_, _, err = dev.MemoryInfo()
		require.ErrorIs(t, err, device.ErrClosed)
	})
}

func TestSynchronizeDevice(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		require.NoError(t, dev.Synchronize(context.Background()))
		require.NoError(t, dev.Synchronize(t.Context()))
	})
}

func TestSynchronizingADeviceCanBeGivenUp(t *testing.T) {
	dev, fake := openFake(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errInjected)
	err := dev.Synchronize(ctx)
	require.ErrorIs(t, err, errInjected)
	require.ErrorContains(t, err, dev.Name())
	close(fake.gate)
	require.NoError(t, dev.Synchronize(t.Context()))
	require.NoError(t, dev.Close())
}

func TestFailuresNameTheDevice(t *testing.T) {
	dev, fake := openFake(t)
	fake.failCreate.Store(true)
	_, err := dev.NewStream()
	require.ErrorIs(t, err, errInjected)
	require.ErrorContains(t, err, dev.Name())
	for _, make := range []func() (*device.Event, error){dev.NewEvent, dev.NewTimingEvent, dev.DefaultStream().Record} {
		_, err = make()
		require.ErrorIs(t, err, errInjected)
		require.ErrorContains(t, err, dev.Name())
	}
	require.NoError(t, dev.Close())
}
