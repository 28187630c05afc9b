package device_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host"
)

func TestOpenByName(t *testing.T) {
	for _, name := range []string{"host", "host:0"} {
		dev, err := device.Open(name)
		require.NoError(t, err)
		assert.Equal(t, "host", dev.Name())
		assert.Equal(t, "host", dev.String())
		assert.Equal(t, device.Host, dev.Kind())
		assert.Positive(t, dev.Info().TotalMemory)
		require.NoError(t, dev.Close())
	}
}

func TestOpenTheFirstGPU(t *testing.T) {
	want := "cuda:0"
	dev, err := device.Open("cuda")
	if errors.Is(err, device.ErrNotAvailable) {
		want = "host"
		require.ErrorContains(t, err, `"cuda"`)
	} else {
		require.NoError(t, err)
		assert.Equal(t, want, dev.Name())
		assert.Equal(t, device.CUDA, dev.Kind())
		require.NoError(t, dev.Close())
	}
	dev, err = device.Open("")
	require.NoError(t, err)
	assert.Equal(t, want, dev.Name(), "the host only where there is no GPU")
	require.NoError(t, dev.Close())
}

func TestOpenRefuses(t *testing.T) {
	for _, name := range []string{
		"cuda:x", "cuda:-1", "cuda:", "cuda:+1", "cuda:1 ", "cuda:0:0", "cuda:65536", "host:1", "host:0x0", ":", ":0", " ", "tpu", "tpu:0", "HOST",
	} {
		dev, err := device.Open(name)
		require.ErrorIs(t, err, device.ErrNoDevice, "%q", name)
		require.ErrorContains(t, err, "device: open")
		assert.Nil(t, dev)
	}
	_, err := device.Open("tpu")
	require.ErrorContains(t, err, "cuda, ", "the message says what there is")
	require.ErrorContains(t, err, "host")
	_, err = device.Open("cuda:999")
	require.True(t, errors.Is(err, device.ErrNoDevice) || errors.Is(err, device.ErrNotAvailable), "%v", err)
}

func TestRegisterRefuses(t *testing.T) {
	for name, driver := range map[string]backend.Driver{
		"":      host.Driver{},
		"a:b":   host.Driver{},
		":":     host.Driver{},
		"host":  host.Driver{},
		"cuda":  host.Driver{},
		"other": nil,
	} {
		require.ErrorIs(t, device.Register(name, driver), device.ErrInvalidValue, "%q", name)
	}
	assert.NotContains(t, device.Backends(), "other")
	driver := register(t)
	require.ErrorContains(t, device.Register(driver.name, driver), "taken")
}

func TestRegisteredBackend(t *testing.T) {
	driver := register(t,
		backend.Info{Kind: backend.Host, Name: "first"},
		backend.Info{Kind: backend.Host, Ordinal: 1, Name: "second"})
	names := device.Backends()
	assert.Contains(t, names, driver.name)
	assert.True(t, slices.IsSorted(names))

	first, err := device.Open(driver.name)
	require.NoError(t, err)
	second, err := device.Open(driver.name + ":1")
	require.NoError(t, err)
	assert.Equal(t, "first", first.Info().Name)
	assert.Equal(t, "second", second.Info().Name)
	for _, dev := range []*device.Device{first, second} {
		again, err := device.Open(dev.Name())
		require.NoError(t, err)
		assert.True(t, dev.Same(again), "a name opens the device that bears it")
		require.NoError(t, again.Close())
		require.NoError(t, dev.Close())
	}
	assert.False(t, first.Same(second))
	_, err = device.Open(driver.name + ":2")
	require.ErrorIs(t, err, device.ErrNoDevice)
}

func TestList(t *testing.T) {
	unavailable, without := register(t), register(t)
	unavailable.failure = backend.ErrNotAvailable
	without.failure = backend.ErrNoDevice
	listings, err := device.List()
	require.NoError(t, err)
	at := slices.IndexFunc(listings, func(l device.Listing) bool { return l.Name == "host" })
	require.GreaterOrEqual(t, at, 0)
	assert.Equal(t, device.Host, listings[at].Info.Kind)
	assert.Positive(t, listings[at].Info.TotalMemory)
	assert.Positive(t, listings[at].FreeMemory)
	for _, listing := range listings {
		assert.LessOrEqual(t, listing.FreeMemory, listing.Info.TotalMemory)
		dev, err := device.Open(listing.Name)
		require.NoError(t, err)
		assert.Equal(t, listing.Info, dev.Info())
		require.NoError(t, dev.Close())
	}
}

// openFails is a driver with a second device that cannot be opened.
type openFails struct{ *fakeDriver }

func (d openFails) Open(ordinal int) (backend.Device, error) {
	if ordinal == 1 && !d.retired.Load() {
		return nil, errInjected
	}
	return d.fakeDriver.Open(ordinal)
}

func TestListNamesFailedDevices(t *testing.T) {
	broken := register(t)
	broken.failure = errInjected
	inner := &fakeDriver{name: broken.name + "-devices", infos: []backend.Info{
		{Kind: backend.CUDA, Ordinal: 0, TotalMemory: 1 << 30}, {Kind: backend.CUDA, Ordinal: 1}, {Kind: backend.CUDA, Ordinal: 2},
	}}
	require.NoError(t, device.Register(inner.name, openFails{inner}))
	t.Cleanup(func() { inner.retired.Store(true) })

	listings, err := device.List()
	require.ErrorIs(t, err, errInjected)
	require.ErrorContains(t, err, "list "+broken.name+":")
	require.ErrorContains(t, err, inner.name+":1")
	var names []string
	for _, listing := range listings {
		names = append(names, listing.Name)
		if listing.Name == inner.name+":0" {
			assert.EqualValues(t, 1<<20, listing.FreeMemory)
			assert.EqualValues(t, 1<<30, listing.Info.TotalMemory)
		}
	}
	assert.Contains(t, names, "host", "the others are listed all the same")
	assert.Contains(t, names, inner.name+":0")
	assert.Contains(t, names, inner.name+":2")
	assert.NotContains(t, names, inner.name+":1")
	_, err = device.Open(inner.name + ":1")
	require.ErrorIs(t, err, errInjected)
}
