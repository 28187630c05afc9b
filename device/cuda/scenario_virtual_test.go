//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// scenarioVirtual checks properties that the conformance suite does not: arguments on
// which a real driver may crash, and the exact amount of free memory.
func scenarioVirtual(t *testing.T) {
	const unit = 2 << 20
	d := openFake(t, 1)
	before, _, err := d.MemoryInfo()
	require.NoError(t, err)
	taken := func() uint64 {
		now, _, err := d.MemoryInfo()
		require.NoError(t, err)
		return before - now
	}
	base, err := d.AddressReserve(8*unit, 0)
	require.NoError(t, err)
	assert.Zero(t, taken(), "addresses take no memory")
	physical, err := d.PhysicalCreate(2 * unit)
	require.NoError(t, err)
	assert.Equal(t, uint64(2*unit), taken())
	require.NoError(t, d.Map(base, 2*unit, 0, physical))
	require.NoError(t, d.Map(base+4*unit, unit, 0, physical), "at another place too")
	require.NoError(t, d.SetAccess(base, 2*unit))
	require.NoError(t, d.SetAccess(base+4*unit, unit))
	require.NoError(t, d.Memset(base, 0x21, 1, 1))
	seen := make([]byte, 1)
	require.NoError(t, d.CopyToHost(unsafe.Pointer(&seen[0]), base+4*unit, 1))
	assert.Equal(t, byte(0x21), seen[0])
	assert.Equal(t, uint64(2*unit), taken(), "mapped twice, made once")

	for name, err := range map[string]error{
		"an offset, which no driver takes": d.Map(base+6*unit, unit, unit, physical),
		"free of what is mapped":           d.AddressFree(base, 8*unit),
		"free of a part":                   d.AddressFree(base+6*unit, 2*unit),
		"free of a mapping":                d.Free(base),
		"map where nothing is reserved":    d.Map(unit, unit, 0, physical),
		"use of what is not mapped":        d.Memset(base+2*unit, 0, 1, 1),
		"use past what is mapped":          d.Memset(base+2*unit-1, 0, 1, 2),
	} {
		assert.ErrorIs(t, err, backend.ErrInvalidValue, name)
	}
	require.NoError(t, d.PhysicalRelease(physical))
	assert.ErrorIs(t, d.PhysicalRelease(physical), backend.ErrInvalidValue)
	assert.ErrorIs(t, d.Map(base+6*unit, unit, 0, physical), backend.ErrInvalidValue)
	require.NoError(t, d.Unmap(base, 2*unit))
	assert.Equal(t, uint64(2*unit), taken(), "one mapping holds all of the memory")
	require.NoError(t, d.Unmap(base+4*unit, unit))
	assert.Zero(t, taken())
	require.NoError(t, d.AddressFree(base, 8*unit))
	assert.ErrorIs(t, d.AddressFree(base, 8*unit), backend.ErrInvalidValue)
	_, err = d.PhysicalCreate(2 << 30)
	assert.ErrorIs(t, err, backend.ErrOutOfMemory)
}

// scenarioGranularity makes the driver recommend a larger unit than it needs, and then
// one that it does not accept.
func scenarioGranularity(t *testing.T) {
	d := openFake(t, 0)
	for recommended, want := range map[string]uint64{"16777216": 16 << 20, "3145728": 2 << 20, "1048576": 2 << 20} {
		t.Setenv("FAKE_UNIT", recommended)
		unit, err := d.PhysicalGranularity()
		require.NoError(t, err)
		assert.Equal(t, want, unit, recommended)
	}
	require.NoError(t, os.Unsetenv("FAKE_UNIT"))
}

// newer returns the operations that older devices and drivers lack.
func newer(d backend.Device) map[string]func() error {
	return map[string]func() error{
		"cuMemAddressReserve":            func() error { _, err := d.AddressReserve(2<<20, 0); return err },
		"cuMemAddressFree":               func() error { return d.AddressFree(2<<20, 2<<20) },
		"cuMemGetAllocationGranularity":  func() error { _, err := d.PhysicalGranularity(); return err },
		"cuMemCreate":                    func() error { _, err := d.PhysicalCreate(2 << 20); return err },
		"cuMemRelease":                   func() error { return d.PhysicalRelease(1) },
		"cuMemMap":                       func() error { return d.Map(2<<20, 2<<20, 0, 1) },
		"cuMemUnmap":                     func() error { return d.Unmap(2<<20, 2<<20) },
		"cuMemSetAccess":                 func() error { return d.SetAccess(2<<20, 2<<20) },
		"cuMemExportToShareableHandle":   func() error { _, err := d.PhysicalExport(1, true); return err },
		"cuMemImportFromShareableHandle": func() error { _, err := d.PhysicalImport(0, 2<<20); return err },
		"cuMemAllocManaged":              func() error { _, err := d.AllocManaged(64); return err },
		"cuMemPrefetchAsync":             func() error { return d.PrefetchAsync(2<<20, 64, false, 0) },
	}
}

// scenarioOldGPU runs on a new driver with a device that lacks the attributes.
func scenarioOldGPU(t *testing.T) {
	d := openFake(t, 0)
	for function, call := range newer(d) {
		calls := logOf(t, func() {
			err := call()
			assert.ErrorIs(t, err, backend.ErrNotSupported, function)
			assert.ErrorIs(t, err, CodeNotSupported, function)
			assert.ErrorContains(t, err, "cuda: "+function+": CUDA_ERROR_NOT_SUPPORTED (801)")
			assert.ErrorContains(t, err, ": the device ")
		})
		assert.Empty(t, calls, function)
	}
}

// scenarioMinimalDriver runs on a driver that exports only the required functions, with
// a device that supports everything.
func scenarioMinimalDriver(t *testing.T) {
	d := openFake(t, 0)
	for function, call := range newer(d) {
		err := call()
		assert.ErrorIs(t, err, backend.ErrNotSupported, function)
		assert.ErrorIs(t, err, CodeNeedsNewerDriver, function)
		assert.ErrorContains(t, err, "cuda: "+function)
		assert.ErrorContains(t, err, "it needs a driver for CUDA ")
	}
}
