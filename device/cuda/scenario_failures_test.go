//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// scenarioFailures makes the driver fail and checks the errors.
func scenarioFailures(t *testing.T) {
	d := openFake(t, 0)
	p, err := d.Alloc(64)
	require.NoError(t, err)
	s, err := d.StreamCreate()
	require.NoError(t, err)
	content := make([]byte, 64)
	for _, test := range []struct {
		fail string
		is   error
		text string
		call func() error
	}{
		{"cuMemAlloc_v2=2", backend.ErrOutOfMemory, "cuda: cuMemAlloc(1.0 GiB): CUDA_ERROR_OUT_OF_MEMORY (2): ",
			func() error { _, err := d.Alloc(1 << 30); return err }},
		{"cuMemAllocFromPoolAsync=2", backend.ErrOutOfMemory, "cuMemAllocFromPoolAsync(1.0 MiB)",
			func() error { _, err := d.AllocAsync(1<<20, 0, s); return err }},
		{"cuMemFree_v2=1", backend.ErrInvalidValue, "cuMemFree(0x", func() error { return d.Free(p) }},
		{"cuCtxSynchronize=700", backend.ErrDeviceLost, "CUDA_ERROR_ILLEGAL_ADDRESS (700)", d.Synchronize},
		{"cuStreamSynchronize=719", backend.ErrDeviceLost, "cuMemcpyHtoD(64 B)",
			func() error { return d.CopyToDevice(p, unsafe.Pointer(&content[0]), 64) }},
		{"cuStreamQuery=214", backend.ErrDeviceLost, "cuStreamQuery", func() error { _, err := d.StreamQuery(s); return err }},
		{"cuMemHostRegister_v2=801", backend.ErrNotSupported, "cuMemHostRegister(64 B)",
			func() error { return d.HostRegister(unsafe.Pointer(&content[0]), 64) }},
		{"cuDeviceGetAttribute=1", backend.ErrInvalidValue, "cuDeviceGetAttribute(77)",
			func() error { _, err := d.Attribute(77); return err }},
		{"cuDevicePrimaryCtxRetain=46", backend.ErrNotAvailable, "cuDevicePrimaryCtxRetain(device 1)",
			func() error { _, err := Driver{}.Open(1); return err }},
		{"cuDevicePrimaryCtxRetain=2", backend.ErrOutOfMemory, "cuDevicePrimaryCtxRetain(device 1)",
			func() error { return d.EnablePeerAccess(1) }},
		{"cuDeviceGetName=999", CodeUnknown, "cuDeviceGetName(device 0)",
			func() error { _, err := Driver{}.Devices(); return err }},
		{"cuMemAddressReserve=2", backend.ErrOutOfMemory, "cuMemAddressReserve(4.0 MiB, alignment 8)",
			func() error { _, err := d.AddressReserve(4<<20, 8); return err }},
		{"cuMemGetAllocationGranularity=801", backend.ErrNotSupported, "cuMemGetAllocationGranularity",
			func() error { _, err := d.PhysicalGranularity(); return err }},
		{"cuMemCreate=2", backend.ErrOutOfMemory, "cuMemCreate(4.0 MiB)",
			func() error { _, err := d.PhysicalCreate(4 << 20); return err }},
		{"cuMemRelease=1", backend.ErrInvalidValue, "cuMemRelease", func() error { return d.PhysicalRelease(1) }},
		{"cuMemMap=208", backend.ErrInvalidValue, "cuMemMap(2.0 MiB at 0x200000): CUDA_ERROR_ALREADY_MAPPED (208)",
			func() error { return d.Map(2<<20, 2<<20, 0, 1) }},
		{"cuMemUnmap=211", backend.ErrInvalidValue, "cuMemUnmap(2.0 MiB at 0x200000): CUDA_ERROR_NOT_MAPPED (211)",
			func() error { return d.Unmap(2<<20, 2<<20) }},
		{"cuMemSetAccess=700", backend.ErrDeviceLost, "cuMemSetAccess(2.0 MiB at 0x200000)",
			func() error { return d.SetAccess(2<<20, 2<<20) }},
		{"cuMemSetAccess=1", backend.ErrInvalidValue, "cuMemSetAccess(2.0 MiB at 0x200000, for reading)",
			func() error { return d.SetAccessReadOnly(2<<20, 2<<20) }},
		{"cuMemCreate=800", CodeNotPermitted, "cuMemCreate(4.0 MiB to share)",
			func() error { _, err := d.PhysicalCreateShared(4 << 20); return err }},
		{"cuMemExportToShareableHandle=801", backend.ErrNotSupported, "cuMemExportToShareableHandle",
			func() error { _, err := d.PhysicalExport(1, true); return err }},
		{"cuMemImportFromShareableHandle=1", backend.ErrInvalidValue, "cuMemImportFromShareableHandle(descriptor 0)",
			func() error { _, err := d.PhysicalImport(0, 2<<20); return err }},
		{"cuMemAddressFree=1", backend.ErrInvalidValue, "cuMemAddressFree(2.0 MiB at 0x200000)",
			func() error { return d.AddressFree(2<<20, 2<<20) }},
		{"cuMemAllocManaged=2", backend.ErrOutOfMemory, "cuMemAllocManaged(4.0 MiB)",
			func() error { _, err := d.AllocManaged(4 << 20); return err }},
		{"cuMemPrefetchAsync=801", backend.ErrNotSupported, "cuMemPrefetchAsync(64 B at 0x200000)",
			func() error { return d.PrefetchAsync(2<<20, 64, false, s) }},
		{"cuMemPoolSetAccess=1", backend.ErrInvalidValue, "cuMemPoolSetAccess(pool of device 0, peer 1)",
			func() error { return d.PoolAllowPeer(0, 1) }},
		{"cuDeviceGet=101", backend.ErrNoDevice, "cuDeviceGet(device 1)", func() error { return d.PoolAllowPeer(0, 1) }},
		{"cuMemPoolGetAttribute=36", backend.ErrNotSupported, "it needs a driver for CUDA 11.2 or newer",
			func() error { _, err := d.PoolAttribute(0, backend.PoolUsedHigh); return err }},
	} {
		t.Setenv("FAKE_FAIL", test.fail)
		err := test.call()
		require.ErrorIs(t, err, test.is, test.fail)
		assert.ErrorContains(t, err, test.text)
		var found *Error
		assert.ErrorAs(t, err, &found)
	}

	// A query that finds pending work is a result, not an error.
	e, err := d.EventCreate(false)
	require.NoError(t, err)
	t.Setenv("FAKE_FAIL", "cuStreamQuery=600")
	done, err := d.StreamQuery(s)
	assert.NoError(t, err)
	assert.False(t, done)
	t.Setenv("FAKE_FAIL", "cuEventQuery=600")
	done, err = d.EventQuery(e)
	assert.NoError(t, err)
	assert.False(t, done)

	t.Setenv("FAKE_FAIL", "")
	_, _, err = d.AddressRange(backend.Pointer(uintptr(unsafe.Pointer(&content[0]))))
	assert.ErrorIs(t, err, backend.ErrInvalidValue)
	assert.NotErrorIs(t, err, backend.ErrNotFound)
	t.Setenv("FAKE_MANAGED", "1")
	info, err := d.PointerInfo(p)
	require.NoError(t, err)
	assert.Equal(t, backend.PointerInfo{Kind: backend.MemoryManaged, Ordinal: 0}, info)
}
