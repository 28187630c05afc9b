package perdevice

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
)

func open(t *testing.T) *device.Device {
	t.Helper()
	dev, err := device.Open("host")
	require.NoError(t, err)
	return dev
}

func TestGetMakesOnce(t *testing.T) {
	var cache Cache[int]
	dev := open(t)
	defer dev.Close()
	made := 0 // without a lock: the race detector would see a second maker
	var callers sync.WaitGroup
	for range 16 {
		callers.Go(func() {
			value, err := cache.Get(dev, func(got *device.Device) (int, error) {
				assert.Same(t, dev, got)
				made++
				return 7, nil
			})
			assert.NoError(t, err)
			assert.Equal(t, 7, value)
		})
	}
	callers.Wait()
	assert.Equal(t, 1, made)
}

func TestGetTriesAgainAfterAnError(t *testing.T) {
	var cache Cache[int]
	dev := open(t)
	defer dev.Close()
	refused := errors.New("refused")
	_, err := cache.Get(dev, func(*device.Device) (int, error) { return 0, refused })
	require.ErrorIs(t, err, refused)
	value, err := cache.Get(dev, func(*device.Device) (int, error) { return 3, nil })
	require.NoError(t, err)
	assert.Equal(t, 3, value)
}

func TestReopenedDeviceGetsItsOwn(t *testing.T) {
	var cache Cache[string]
	get := func(dev *device.Device, value string) string {
		got, err := cache.Get(dev, func(*device.Device) (string, error) { return value, nil })
		require.NoError(t, err)
		return got
	}
	first := open(t)
	assert.Equal(t, "first", get(first, "first"))
	require.NoError(t, first.Close())
	second := open(t)
	defer second.Close()
	assert.Equal(t, "second", get(second, "second"))
	assert.Equal(t, "second", get(second, "third"))
}

func TestNilDevice(t *testing.T) {
	var cache Cache[int]
	_, err := cache.Get(nil, nil)
	require.ErrorIs(t, err, device.ErrInvalidValue)
}

// TestClosedDevicesForget checks that the collector frees the value of a closed device
// although the program still references the device.
func TestClosedDevicesForget(t *testing.T) {
	var cache Cache[*[64]byte]
	dev := open(t)
	collected := make(chan struct{})
	func() {
		value, err := cache.Get(dev, func(*device.Device) (*[64]byte, error) { return new([64]byte), nil })
		require.NoError(t, err)
		runtime.AddCleanup(value, func(done chan struct{}) { close(done) }, collected)
	}()
	require.NoError(t, dev.Close())
	await.Collected(t, func() bool {
		select {
		case <-collected:
			return true
		default:
			return false
		}
	}, "the value is collected")
	runtime.KeepAlive(dev)
}

// TestCachesOfOneTypeAreSeparate checks that two caches keep separate values for one
// device.
func TestCachesOfOneTypeAreSeparate(t *testing.T) {
	var caches [2]Cache[int]
	dev := open(t)
	defer dev.Close()
	for i := range caches {
		value, err := caches[i].Get(dev, func(*device.Device) (int, error) { return i, nil })
		require.NoError(t, err)
		require.Equal(t, i, value)
	}
}

func BenchmarkGet(b *testing.B) {
	var cache Cache[*int]
	dev, err := device.Open("host")
	require.NoError(b, err)
	defer dev.Close()
	load := func(*device.Device) (*int, error) { return new(int), nil }
	for b.Loop() {
		if _, err := cache.Get(dev, load); err != nil {
			b.Fatal(err)
		}
	}
}

func Example() {
	dev, err := device.Open("host")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	var names Cache[string]
	for range 2 {
		name, err := names.Get(dev, func(dev *device.Device) (string, error) {
			fmt.Println("made once")
			return dev.Name(), nil
		})
		fmt.Println(name, err)
	}
	// Output:
	// made once
	// host <nil>
	// host <nil>
}
