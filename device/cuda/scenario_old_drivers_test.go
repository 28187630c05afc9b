//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// scenarioOldDriver runs on a driver of CUDA 11.0.
func scenarioOldDriver(t *testing.T) {
	infos, err := Driver{}.Devices()
	require.NoError(t, err)
	assert.Equal(t, backend.UUID{16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}, infos[1].UUID)

	d := openFake(t, 0)
	p, err := d.Alloc(64)
	require.NoError(t, err)
	module, err := d.ModuleLoad([]byte(fakeCode))
	require.NoError(t, err)
	function, err := d.ModuleFunction(module, "other")
	require.NoError(t, err)
	for _, test := range []struct {
		text string
		call func() error
	}{
		{"cuMemAllocFromPoolAsync: CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER (36): the installed driver is too old for this call: " +
			"it needs a driver for CUDA 11.2 or newer", func() error { _, err := d.AllocAsync(64, 0, 0); return err }},
		{"cuMemFreeAsync", func() error { return d.FreeAsync(p, 0) }},
		{"cuMemPoolCreate", func() error { _, err := d.PoolCreate(0); return err }},
		{"cuMemPoolDestroy", func() error { return d.PoolDestroy(0) }},
		{"cuMemPoolTrimTo", func() error { return d.PoolTrim(0, 0) }},
		{"cuMemPoolGetAttribute", func() error { _, err := d.PoolAttribute(0, backend.PoolUsedCurrent); return err }},
		{"cuMemPoolSetAttribute", func() error { return d.PoolSetAttribute(0, backend.PoolReleaseThreshold, 0) }},
		{"cuMemPoolSetAccess", func() error { return d.PoolAllowPeer(0, 1) }},
		{"CUDA 11.4", func() error { return d.StreamBeginCapture(16) }},
		{"CUDA 11.4", func() error { _, err := d.GraphInstantiate(16); return err }},
		{"CUDA 12.4", func() error { _, err := d.FunctionParameters(function); return err }},
	} {
		err := test.call()
		assert.ErrorIs(t, err, backend.ErrNotSupported, test.text)
		assert.ErrorContains(t, err, test.text)
	}
	assert.NoError(t, d.EnablePeerAccess(1), "without pools there is none to open to the peer")
}

// scenarioNoPools runs on a new driver with a device that has no pools.
func scenarioNoPools(t *testing.T) {
	d := openFake(t, 0)
	_, err := d.AllocAsync(64, 0, 0)
	assert.ErrorIs(t, err, backend.ErrNotSupported)
	assert.ErrorIs(t, err, CodeNotSupported)
	assert.ErrorContains(t, err, "use Alloc and Free")
}

// scenarioNotAvailable runs with a driver that cannot be used.
func scenarioNotAvailable(t *testing.T) {
	for range 2 {
		infos, err := Driver{}.Devices()
		require.ErrorIs(t, err, backend.ErrNotAvailable)
		assert.ErrorContains(t, err, os.Getenv("WANT"))
		assert.Nil(t, infos)
		d, err := Driver{}.Open(0)
		require.ErrorIs(t, err, backend.ErrNotAvailable)
		assert.Nil(t, d)
	}
}
