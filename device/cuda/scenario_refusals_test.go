//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// scenarioRefusals passes arguments on which the driver may crash, or which it
// misreads, and checks that they do not reach it.
func scenarioRefusals(t *testing.T) {
	d := openFake(t, 0)
	p, err := d.Alloc(64)
	require.NoError(t, err)
	module, err := d.ModuleLoad([]byte(fakeCode))
	require.NoError(t, err)
	function, err := d.ModuleFunction(module, "other")
	require.NoError(t, err)
	content := make([]byte, 64)
	host := unsafe.Pointer(&content[0])

	for name, call := range map[string]func() error{
		"Alloc of nothing":           func() error { _, err := d.Alloc(0); return err },
		"Free of nothing":            func() error { return d.Free(0) },
		"AllocAsync of nothing":      func() error { _, err := d.AllocAsync(0, 0, 0); return err },
		"FreeAsync of nothing":       func() error { return d.FreeAsync(0, 0) },
		"HostAlloc of nothing":       func() error { _, err := d.HostAlloc(0); return err },
		"HostFree of nil":            func() error { return d.HostFree(nil) },
		"HostRegister of nil":        func() error { return d.HostRegister(nil, 64) },
		"HostRegister of nothing":    func() error { return d.HostRegister(host, 0) },
		"HostUnregister of nil":      func() error { return d.HostUnregister(nil) },
		"AddressRange of nothing":    func() error { _, _, err := d.AddressRange(0); return err },
		"PoolDestroy of the default": func() error { return d.PoolDestroy(0) },
		"copy from nil":              func() error { return d.CopyToDevice(p, nil, 64) },
		"copy to nil":                func() error { return d.CopyToHost(nil, p, 64) },
		"copy to zero":               func() error { return d.CopyOnDevice(0, p, 64) },
		"async copy from nil":        func() error { return d.CopyToDeviceAsync(p, nil, 64, 0) },
		"async copy to nil":          func() error { return d.CopyToHostAsync(nil, p, 64, 0) },
		"async copy from zero":       func() error { return d.CopyOnDeviceAsync(p, 0, 64, 0) },
		"fill of width 8":            func() error { return d.Memset(p, 0, 8, 1) },
		"fill of zero":               func() error { return d.Memset(0, 0, 4, 1) },
		"fill out of line":           func() error { return d.MemsetAsync(p+2, 0, 4, 1, 0) },
		"fill that wraps round":      func() error { return d.MemsetAsync(p, 0, 4, 1<<62, 0) },
		"StreamDestroy of default":   func() error { return d.StreamDestroy(0) },
		"no event to wait for":       func() error { return d.StreamWaitEvent(0, 0) },
		"no event to destroy":        func() error { return d.EventDestroy(0) },
		"no event to record":         func() error { return d.EventRecord(0, 0) },
		"no event to query":          func() error { _, err := d.EventQuery(0); return err },
		"no event for all streams":   func() error { return d.EventRecordAll(0) },
		"no event to synchronise":    func() error { return d.EventSynchronize(0) },
		"no events to compare":       func() error { _, err := d.EventElapsed(0, 0); return err },
		"no module to unload":        func() error { return d.ModuleUnload(0) },
		"no module to search":        func() error { _, err := d.ModuleFunction(0, "f"); return err },
		"no text to compile":         func() error { _, err := d.ModuleCompile([]byte("\x7fELF")); return err },
		"capture of default":         func() error { return d.StreamBeginCapture(0) },
		"end of default's capture":   func() error { _, err := d.StreamEndCapture(0); return err },
		"no graph to instantiate":    func() error { _, err := d.GraphInstantiate(0); return err },
		"no graph to destroy":        func() error { return d.GraphDestroy(0) },
		"no graph to launch":         func() error { return d.GraphLaunch(0, 0) },
		"no executable to destroy":   func() error { return d.GraphExecutableDestroy(0) },
		"no function":                func() error { return d.Launch(0, backend.LaunchConfig{}, nil, nil) },
		"too many arguments": func() error {
			return d.Launch(function, backend.LaunchConfig{}, make([]uint64, 1), make([]uint32, 513))
		},
		"argument beyond the slots": func() error {
			return d.Launch(function, backend.LaunchConfig{}, make([]uint64, 2), []uint32{0, 2})
		},
		"occupancy of no threads": func() error { _, err := d.Occupancy(function, 0, 0); return err },
		"attribute of 33 bits": func() error {
			return d.FunctionSetAttribute(function, backend.FunctionMaxDynamicSharedBytes, 1<<32)
		},
		"peer of itself":                  func() error { return d.EnablePeerAccess(0) },
		"pool for itself":                 func() error { return d.PoolAllowPeer(0, 0) },
		"AddressReserve of nothing":       func() error { _, err := d.AddressReserve(0, 0); return err },
		"AddressFree of nothing":          func() error { return d.AddressFree(0, 64) },
		"AddressFree of no bytes":         func() error { return d.AddressFree(p, 0) },
		"PhysicalCreate of nothing":       func() error { _, err := d.PhysicalCreate(0); return err },
		"PhysicalRelease of nothing":      func() error { return d.PhysicalRelease(0) },
		"Map at zero":                     func() error { return d.Map(0, 64, 0, 1) },
		"Map of no bytes":                 func() error { return d.Map(p, 0, 0, 1) },
		"Map of nothing":                  func() error { return d.Map(p, 64, 0, 0) },
		"Unmap of nothing":                func() error { return d.Unmap(0, 64) },
		"Unmap of no bytes":               func() error { return d.Unmap(p, 0) },
		"SetAccess to nothing":            func() error { return d.SetAccess(0, 64) },
		"SetAccess to no bytes":           func() error { return d.SetAccess(p, 0) },
		"PhysicalCreateShared of nothing": func() error { _, err := d.PhysicalCreateShared(0); return err },
		"PhysicalExport of nothing":       func() error { _, err := d.PhysicalExport(0, true); return err },
		"PhysicalImport of nothing":       func() error { _, err := d.PhysicalImport(-1, 64); return err },
		"PhysicalImport of no bytes":      func() error { _, err := d.PhysicalImport(0, 0); return err },
		"SetAccessReadOnly to nothing":    func() error { return d.SetAccessReadOnly(0, 64) },
		"SetAccessReadOnly to no bytes":   func() error { return d.SetAccessReadOnly(p, 0) },
		"AllocManaged of nothing":         func() error { _, err := d.AllocManaged(0); return err },
		"PrefetchAsync of nothing":        func() error { return d.PrefetchAsync(0, 64, false, 0) },
		"PrefetchAsync of no bytes":       func() error { return d.PrefetchAsync(p, 0, true, 0) },
	} {
		calls := logOf(t, func() { assert.ErrorIs(t, call(), backend.ErrInvalidValue, name) })
		assert.Empty(t, calls, name)
	}

	// Copies and fills of zero bytes succeed, even without addresses.
	assert.Empty(t, logOf(t, func() {
		assert.NoError(t, d.CopyToDevice(0, nil, 0))
		assert.NoError(t, d.CopyToHost(nil, 0, 0))
		assert.NoError(t, d.CopyOnDevice(0, 0, 0))
		assert.NoError(t, d.Memset(0, 0, 4, 0))
	}))
	for _, ordinal := range []int{-1, 2} {
		_, err := Driver{}.Open(ordinal)
		assert.ErrorIs(t, err, backend.ErrNoDevice)
	}
}
