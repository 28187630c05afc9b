package backendtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// testOpenTwice opens two Devices on the same memory; one outlives the other.
func testOpenTwice(t *testing.T, d backend.Device, open func(testing.TB) backend.Device) {
	const size = 1 << 20
	other := open(t)
	require.Equal(t, d.Info(), other.Info())
	content := pattern(size, 6)
	p, err := other.Alloc(size)
	require.NoError(t, err)
	require.NoError(t, other.CopyToDevice(p, start(content), size))
	requireBytes(t, content, download(t, d, p, size), "read through the other Device")
	require.NoError(t, other.Close())

	requireBytes(t, content, download(t, d, p, size), "after the other Device was closed")
	require.NoError(t, d.Free(p))
}

// testClose closes d.
func testClose(t *testing.T, d backend.Device) {
	// Close waits for pending work.
	s, err := d.StreamCreate()
	require.NoError(t, err)
	p, free, err := allocateOrdered(d, large, s)
	require.NoError(t, err)
	require.NoError(t, d.MemsetAsync(p, 1, 1, large, s))
	require.NoError(t, free())
	require.NoError(t, d.StreamDestroy(s))
	require.NoError(t, d.Close())
	require.ErrorIs(t, d.Close(), backend.ErrClosed)

	content := make([]byte, 16)
	host := start(content)
	device := backend.Pointer(uintptr(host))
	for name, call := range map[string]func() error{
		"MemoryInfo":             func() error { _, _, err := d.MemoryInfo(); return err },
		"Attribute":              func() error { _, err := d.Attribute(backend.MultiprocessorCount); return err },
		"Synchronize":            func() error { return d.Synchronize() },
		"Alloc":                  func() error { _, err := d.Alloc(16); return err },
		"Free":                   func() error { return d.Free(device) },
		"AllocAsync":             func() error { _, err := d.AllocAsync(16, 0, 0); return err },
		"FreeAsync":              func() error { return d.FreeAsync(device, 0) },
		"PoolCreate":             func() error { _, err := d.PoolCreate(0); return err },
		"PoolDestroy":            func() error { return d.PoolDestroy(0) },
		"PoolTrim":               func() error { return d.PoolTrim(0, 0) },
		"PoolAttribute":          func() error { _, err := d.PoolAttribute(0, backend.PoolUsedCurrent); return err },
		"PoolSetAttribute":       func() error { return d.PoolSetAttribute(0, backend.PoolReleaseThreshold, 0) },
		"AddressReserve":         func() error { _, err := d.AddressReserve(1<<21, 0); return err },
		"AddressFree":            func() error { return d.AddressFree(device, 1<<21) },
		"PhysicalGranularity":    func() error { _, err := d.PhysicalGranularity(); return err },
		"PhysicalCreate":         func() error { _, err := d.PhysicalCreate(1 << 21); return err },
		"PhysicalRelease":        func() error { return d.PhysicalRelease(1) },
		"Map":                    func() error { return d.Map(device, 1<<21, 0, 1) },
		"Unmap":                  func() error { return d.Unmap(device, 1<<21) },
		"SetAccess":              func() error { return d.SetAccess(device, 1<<21) },
		"PhysicalCreateShared":   func() error { _, err := d.PhysicalCreateShared(1 << 21); return err },
		"PhysicalExport":         func() error { _, err := d.PhysicalExport(1, true); return err },
		"PhysicalImport":         func() error { _, err := d.PhysicalImport(1, 1<<21); return err },
		"SetAccessReadOnly":      func() error { return d.SetAccessReadOnly(device, 1<<21) },
		"AllocManaged":           func() error { _, err := d.AllocManaged(16); return err },
		"PrefetchAsync":          func() error { return d.PrefetchAsync(device, 16, false, 0) },
		"PoolAllowPeer":          func() error { return d.PoolAllowPeer(0, 0) },
		"HostAlloc":              func() error { _, err := d.HostAlloc(16); return err },
		"HostFree":               func() error { return d.HostFree(host) },
		"HostRegister":           func() error { return d.HostRegister(host, 16) },
		"HostUnregister":         func() error { return d.HostUnregister(host) },
		"PointerInfo":            func() error { _, err := d.PointerInfo(device); return err },
		"AddressRange":           func() error { _, _, err := d.AddressRange(device); return err },
		"CopyToDevice":           func() error { return d.CopyToDevice(device, host, 16) },
		"CopyToHost":             func() error { return d.CopyToHost(host, device, 16) },
		"CopyOnDevice":           func() error { return d.CopyOnDevice(device, device, 16) },
		"CopyToDeviceAsync":      func() error { return d.CopyToDeviceAsync(device, host, 16, 0) },
		"CopyToHostAsync":        func() error { return d.CopyToHostAsync(host, device, 16, 0) },
		"CopyOnDeviceAsync":      func() error { return d.CopyOnDeviceAsync(device, device, 16, 0) },
		"Memset":                 func() error { return d.Memset(device, 0, 1, 16) },
		"MemsetAsync":            func() error { return d.MemsetAsync(device, 0, 1, 16, 0) },
		"StreamCreate":           func() error { _, err := d.StreamCreate(); return err },
		"StreamDestroy":          func() error { return d.StreamDestroy(0) },
		"StreamSynchronize":      func() error { return d.StreamSynchronize(0) },
		"StreamQuery":            func() error { _, err := d.StreamQuery(0); return err },
		"StreamWaitEvent":        func() error { return d.StreamWaitEvent(0, 0) },
		"EventCreate":            func() error { _, err := d.EventCreate(false); return err },
		"EventDestroy":           func() error { return d.EventDestroy(0) },
		"EventRecord":            func() error { return d.EventRecord(0, 0) },
		"EventRecordAll":         func() error { return d.EventRecordAll(0) },
		"StreamIdentity":         func() error { _, err := d.StreamIdentity(0); return err },
		"StreamCapturing":        func() error { _, err := d.StreamCapturing(0); return err },
		"EventQuery":             func() error { _, err := d.EventQuery(0); return err },
		"EventSynchronize":       func() error { return d.EventSynchronize(0) },
		"EventElapsed":           func() error { _, err := d.EventElapsed(0, 0); return err },
		"ModuleLoad":             func() error { _, err := d.ModuleLoad([]byte(addScalar)); return err },
		"ModuleCompile":          func() error { _, err := d.ModuleCompile([]byte(addScalar)); return err },
		"StreamBeginCapture":     func() error { return d.StreamBeginCapture(0) },
		"StreamEndCapture":       func() error { _, err := d.StreamEndCapture(0); return err },
		"GraphDestroy":           func() error { return d.GraphDestroy(0) },
		"GraphInstantiate":       func() error { _, err := d.GraphInstantiate(0); return err },
		"GraphLaunch":            func() error { return d.GraphLaunch(0, 0) },
		"GraphExecutableDestroy": func() error { return d.GraphExecutableDestroy(0) },
		"ModuleUnload":           func() error { return d.ModuleUnload(0) },
		"ModuleFunction":         func() error { _, err := d.ModuleFunction(0, "add_scalar"); return err },
		"FunctionAttribute":      func() error { _, err := d.FunctionAttribute(0, backend.FunctionRegisters); return err },
		"FunctionSetAttribute": func() error {
			return d.FunctionSetAttribute(0, backend.FunctionMaxDynamicSharedBytes, 0)
		},
		"FunctionParameters": func() error { _, err := d.FunctionParameters(0); return err },
		"Occupancy":          func() error { _, err := d.Occupancy(0, 128, 0); return err },
		"Launch":             func() error { return d.Launch(0, backend.LaunchConfig{}, nil, nil) },
		"CanAccessPeer":      func() error { _, err := d.CanAccessPeer(0); return err },
		"EnablePeerAccess":   func() error { return d.EnablePeerAccess(0) },
		"DisablePeerAccess":  func() error { return d.DisablePeerAccess(0) },
		"CopyFromPeerAsync":  func() error { return d.CopyFromPeerAsync(device, device, 0, 16, 0) },
	} {
		assert.ErrorIs(t, call(), backend.ErrClosed, name)
	}
	assert.NotEmpty(t, d.Info().Name, "what is known of the device stays known")
}
