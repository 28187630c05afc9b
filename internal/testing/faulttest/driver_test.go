package faulttest_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/host"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestCallsAreCountedAndFailed(t *testing.T) {
	dev, driver := faulttest.OpenHost(t)
	driver.Arm(func(call faulttest.Call) error {
		if call.Operation == "Alloc" && call.Nth == 2 {
			return faulttest.ErrDriver
		}
		return nil
	})
	pointer, err := dev.Driver().Alloc(64)
	require.NoError(t, err)
	require.NoError(t, dev.Driver().Memset(pointer, 0, 1, 64))
	_, err = dev.Driver().Alloc(64)
	require.ErrorIs(t, err, faulttest.ErrDriver)
	assert.EqualError(t, err, "faulttest: Alloc, call 2: the driver fails")
	var injected *faulttest.Error
	require.ErrorAs(t, err, &injected)
	assert.Equal(t, faulttest.Call{Operation: "Alloc", Nth: 2, Number: 3}, injected.Call)
	assert.Equal(t, map[string]int{"Alloc": 2, "Memset": 1}, driver.Counts())
	assert.Equal(t, map[string]int{"Alloc": 1}, driver.Failed())
	assert.Equal(t, map[string]int{"memory": 1}, driver.Live())

	driver.Arm(func(faulttest.Call) error { return device.ErrDeviceLost })
	require.ErrorIs(t, dev.Driver().Free(pointer), device.ErrDeviceLost)
	assert.Len(t, driver.Live(), 1, "a call that fails does nothing")
	driver.Arm(nil)
	require.NoError(t, dev.Driver().Free(pointer))
	assert.Empty(t, driver.Live())
}

// A failed NewManager leaves nothing behind, and a failed Close returns an error.
func TestManagerDriverCallFailures(t *testing.T) {
	faulttest.EachManagerCall(t, memory.Options{})
}

func Example() {
	below, err := host.Driver{}.Open(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer below.Close()
	driver := faulttest.NewDriver(below)
	driver.Arm(func(call faulttest.Call) error {
		if call.Operation == "StreamCreate" {
			return device.ErrOutOfMemory
		}
		return nil
	})
	_, err = driver.StreamCreate()
	fmt.Println(err, errors.Is(err, device.ErrOutOfMemory))
	// Output: faulttest: StreamCreate, call 1: out of device memory true
}
