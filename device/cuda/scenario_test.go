//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

func openFake(t *testing.T, ordinal int) backend.Device {
	t.Helper()
	d, err := Driver{}.Open(ordinal)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	return d
}

const fakeCode = ".version 7.0 .visible .entry other( .visible .entry add_scalar("

// scenarioCalls checks that every method calls the right function with its arguments in
// their places.
func scenarioCalls(t *testing.T) {
	var infos []backend.Info
	calls := callsOf(t, func() {
		var err error
		infos, err = Driver{}.Devices()
		require.NoError(t, err)
	})
	assert.NotContains(t, calls, "cuDevicePrimaryCtxRetain(0)", "describing devices takes no context")
	require.Len(t, infos, 2)
	assert.Equal(t, backend.Info{
		Kind: backend.CUDA, Ordinal: 1, Name: "Fake GPU 1", TotalMemory: 1 << 30, Multiprocessors: 132, DriverVersion: 13000,
		ComputeCapability: backend.ComputeCapability{Major: 9},
		UUID:              backend.UUID{32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47},
	}, infos[1])

	d := openFake(t, 1)
	assert.Equal(t, infos[1], d.Info())
	p, err := d.Alloc(4096)
	require.NoError(t, err)
	q, err := d.Alloc(4096)
	require.NoError(t, err)
	locked, err := d.HostAlloc(4096)
	require.NoError(t, err)
	s, err := d.StreamCreate()
	require.NoError(t, err)
	e, err := d.EventCreate(true)
	require.NoError(t, err)
	later, err := d.EventCreate(true)
	require.NoError(t, err)
	pool, err := d.PoolCreate(1 << 20)
	require.NoError(t, err)
	module, err := d.ModuleLoad([]byte(fakeCode))
	require.NoError(t, err)
	function, err := d.ModuleFunction(module, "other")
	require.NoError(t, err)
	var graph backend.Graph
	var executable backend.ExecutableGraph
	content := make([]byte, 64)
	pageable := unsafe.Pointer(&content[0])
	const unit = 2 << 20
	addresses, err := d.AddressReserve(4*unit, 0)
	require.NoError(t, err)
	physical, err := d.PhysicalCreate(unit)
	require.NoError(t, err)
	shared, err := d.PhysicalCreateShared(unit)
	require.NoError(t, err)
	descriptor, err := d.PhysicalExport(shared, false)
	require.NoError(t, err)
	defer os.NewFile(uintptr(descriptor), "").Close()
	managed, err := d.AllocManaged(4096)
	require.NoError(t, err)

	for _, test := range []struct {
		want string
		call func() error
	}{
		{"cuMemGetInfo_v2()", func() error { _, _, err := d.MemoryInfo(); return err }},
		{"cuDeviceGetAttribute(16, 1)", func() error { _, err := d.Attribute(backend.MultiprocessorCount); return err }},
		{"cuCtxSynchronize()", d.Synchronize},

		{"cuMemAlloc_v2(100)", func() error { _, err := d.Alloc(100); return err }},
		{fmt.Sprintf("cuPointerGetAttributes(3, %v)", p), func() error { _, err := d.PointerInfo(p); return err }},
		{fmt.Sprintf("cuMemGetAddressRange_v2(%v)", p+8), func() error { _, _, err := d.AddressRange(p + 8); return err }},
		{"cuMemHostAlloc(100, 3)", func() error { _, err := d.HostAlloc(100); return err }},
		{fmt.Sprintf("cuMemHostRegister_v2(%p, 64, 3)", pageable), func() error { return d.HostRegister(pageable, 64) }},
		{fmt.Sprintf("cuMemHostUnregister(%p)", pageable), func() error { return d.HostUnregister(pageable) }},

		{fmt.Sprintf("cuMemAllocFromPoolAsync(100, default, %#x)", s), func() error { _, err := d.AllocAsync(100, 0, s); return err }},
		{fmt.Sprintf("cuMemAllocFromPoolAsync(100, own, %#x)", s), func() error { _, err := d.AllocAsync(100, pool, s); return err }},
		{"cuMemPoolCreate(type 1, handles 0, location 1 1, security (nil), maximum 77, usage 0)",
			func() error { _, err := d.PoolCreate(77); return err }},
		{"cuMemPoolTrimTo(33)", func() error { return d.PoolTrim(pool, 33) }},
		{"cuMemPoolGetAttribute(7)", func() error { _, err := d.PoolAttribute(pool, backend.PoolUsedCurrent); return err }},
		{"cuMemPoolSetAttribute(2, 1)",
			func() error { return d.PoolSetAttribute(pool, backend.PoolReuseAllowOpportunistic, 1) }},
		{"cuMemPoolSetAttribute(4, 8589934592)",
			func() error { return d.PoolSetAttribute(pool, backend.PoolReleaseThreshold, 8<<30) }},

		{"cuMemAddressReserve(4194304, 8388608, 0, 0)", func() error { _, err := d.AddressReserve(2*unit, 4*unit); return err }},
		{"cuMemGetAllocationGranularity(type 1, location 1 1, option 0) cuMemGetAllocationGranularity(type 1, location 1 1, option 1)",
			func() error { _, err := d.PhysicalGranularity(); return err }},
		{"cuMemCreate(4194304, type 1, handles 0, location 1 1, metadata (nil), flags 0)",
			func() error { _, err := d.PhysicalCreate(2 * unit); return err }},
		{fmt.Sprintf("cuMemMap(%v, 2097152, 0, %#x, 0)", addresses+unit, physical),
			func() error { return d.Map(addresses+unit, unit, 0, physical) }},
		{fmt.Sprintf("cuMemSetAccess(%v, 2097152, location 1 1, flags 3, 1)", addresses+unit),
			func() error { return d.SetAccess(addresses+unit, unit) }},
		{fmt.Sprintf("cuMemSetAccess(%v, 2097152, location 1 1, flags 1, 1)", addresses+unit),
			func() error { return d.SetAccessReadOnly(addresses+unit, unit) }},
		{"cuMemCreate(4194304, type 1, handles 1, location 1 1, metadata (nil), flags 0)",
			func() error { _, err := d.PhysicalCreateShared(2 * unit); return err }},
		{fmt.Sprintf("cuMemExportToShareableHandle(%#x, type 1, flags 0)", shared),
			func() error { _, err := d.PhysicalExport(shared, true); return err }},
		{"cuMemImportFromShareableHandle(type 1)", func() error { _, err := d.PhysicalImport(descriptor, unit); return err }},
		{fmt.Sprintf("cuMemUnmap(%v, 2097152)", addresses+unit), func() error { return d.Unmap(addresses+unit, unit) }},
		{fmt.Sprintf("cuMemRelease(%#x)", physical), func() error { return d.PhysicalRelease(physical) }},
		{fmt.Sprintf("cuMemAddressFree(%v, 8388608)", addresses), func() error { return d.AddressFree(addresses, 4*unit) }},

		{"cuMemAllocManaged(100, 1)", func() error { _, err := d.AllocManaged(100); return err }},
		{fmt.Sprintf("cuMemPrefetchAsync(%v, 64, 1, %#x)", managed+32, s),
			func() error { return d.PrefetchAsync(managed+32, 64, false, s) }},
		{fmt.Sprintf("cuMemPrefetchAsync(%v, 4096, -1, (nil))", managed), func() error { return d.PrefetchAsync(managed, 4096, true, 0) }},

		{"cuMemcpyHtoD_v2(64) cuStreamSynchronize((nil))", func() error { return d.CopyToDevice(p, pageable, 64) }},
		{"cuMemcpyDtoH_v2(64)", func() error { return d.CopyToHost(pageable, p, 64) }},
		{"cuMemcpyDtoD_v2(64) cuStreamSynchronize((nil))", func() error { return d.CopyOnDevice(p, q, 64) }},
		{fmt.Sprintf("cuMemcpyHtoDAsync_v2(64, %#x)", s), func() error { return d.CopyToDeviceAsync(p, locked, 64, s) }},
		{fmt.Sprintf("cuMemcpyDtoHAsync_v2(64, %#x)", s), func() error { return d.CopyToHostAsync(locked, p, 64, s) }},
		{fmt.Sprintf("cuMemcpyDtoDAsync_v2(64, %#x)", s), func() error { return d.CopyOnDeviceAsync(p, q, 64, s) }},
		{"cuMemsetD8_v2(0x4, 9) cuStreamSynchronize((nil))", func() error { return d.Memset(p, 0x01020304, 1, 9) }},
		{"cuMemsetD16_v2(0x304, 9) cuStreamSynchronize((nil))", func() error { return d.Memset(p, 0x01020304, 2, 9) }},
		{"cuMemsetD32_v2(0x1020304, 9) cuStreamSynchronize((nil))", func() error { return d.Memset(p, 0x01020304, 4, 9) }},
		{fmt.Sprintf("cuMemsetD8Async(0x4, 9, %#x)", s), func() error { return d.MemsetAsync(p, 0x01020304, 1, 9, s) }},
		{fmt.Sprintf("cuMemsetD16Async(0x304, 9, %#x)", s), func() error { return d.MemsetAsync(p, 0x01020304, 2, 9, s) }},
		{fmt.Sprintf("cuMemsetD32Async(0x1020304, 9, %#x)", s), func() error { return d.MemsetAsync(p, 0x01020304, 4, 9, s) }},

		{"cuStreamCreate(1)", func() error { _, err := d.StreamCreate(); return err }},
		{fmt.Sprintf("cuStreamSynchronize(%#x)", s), func() error { return d.StreamSynchronize(s) }},
		{fmt.Sprintf("cuStreamQuery(%#x)", s), func() error { _, err := d.StreamQuery(s); return err }},
		{fmt.Sprintf("cuStreamWaitEvent(%#x, %#x, 0)", s, e), func() error { return d.StreamWaitEvent(s, e) }},
		{"cuEventCreate(1)", func() error { _, err := d.EventCreate(true); return err }},
		{"cuEventCreate(3)", func() error { _, err := d.EventCreate(false); return err }},
		{fmt.Sprintf("cuEventRecord(%#x, %#x)", e, s), func() error { return d.EventRecord(e, s) }},
		{fmt.Sprintf("cuEventRecord(%#x, (nil))", later), func() error { return d.EventRecord(later, 0) }},
		{fmt.Sprintf("cuCtxRecordEvent(1, %#x)", e), func() error { return d.EventRecordAll(e) }},
		{fmt.Sprintf("cuStreamGetId(%#x)", s), func() error { _, err := d.StreamIdentity(s); return err }},
		{fmt.Sprintf("cuStreamIsCapturing(%#x)", s), func() error { _, err := d.StreamCapturing(s); return err }},
		{fmt.Sprintf("cuEventQuery(%#x)", e), func() error { _, err := d.EventQuery(e); return err }},
		{fmt.Sprintf("cuEventSynchronize(%#x)", e), func() error { return d.EventSynchronize(e) }},
		{fmt.Sprintf("cuEventElapsedTime(%#x, %#x)", e, later), func() error {
			milliseconds, err := d.EventElapsed(e, later)
			assert.Equal(t, float32(0.5), milliseconds)
			return err
		}},

		{"cuModuleLoadDataEx(.version, 5)", func() error { _, err := d.ModuleLoad([]byte(fakeCode)); return err }},
		{fmt.Sprintf("cuModuleGetFunction(%#x, add_scalar)", module),
			func() error { _, err := d.ModuleFunction(module, "add_scalar"); return err }},
		{fmt.Sprintf("cuFuncGetAttribute(4, %#x)", function),
			func() error { _, err := d.FunctionAttribute(function, backend.FunctionRegisters); return err }},
		{fmt.Sprintf("cuFuncSetAttribute(%#x, 8, 4096)", function),
			func() error { return d.FunctionSetAttribute(function, backend.FunctionMaxDynamicSharedBytes, 4096) }},
		{fmt.Sprintf("cuOccupancyMaxActiveBlocksPerMultiprocessor(%#x, 128, 4096)", function),
			func() error { _, err := d.Occupancy(function, 128, 4096); return err }},
		{fmt.Sprintf("cuLaunchKernel(1 2 3, 4 5 6, 7, %#x, no extra) first parameter(0x1122334455667788)", s), func() error {
			config := backend.LaunchConfig{
				Grid: backend.Dim3{X: 1, Y: 2, Z: 3}, Block: backend.Dim3{X: 4, Y: 5, Z: 6}, SharedBytes: 7, Stream: s,
			}
			return d.Launch(function, config, []uint64{1, 0x1122334455667788}, []uint32{1})
		}},
		{"cuLaunchKernel(1 1 1, 1 1 1, 0, (nil), no extra) first parameter(0)",
			func() error { return d.Launch(function, backend.LaunchConfig{}, nil, nil) }},

		{"cuLinkCreate_v2(5) cuLinkAddData_v2(1, .version, " + strconv.Itoa(len(fakeCode)+1) + ", gpuframe, 0, 1) cuLinkComplete() cuLinkDestroy()",
			func() error { _, err := d.ModuleCompile([]byte(fakeCode)); return err }},
		{fmt.Sprintf("cuStreamBeginCapture_v2(%#x, 2)", s), func() error { return d.StreamBeginCapture(s) }},
		{fmt.Sprintf("cuStreamEndCapture(%#x)", s), func() (err error) { graph, err = d.StreamEndCapture(s); return err }},
		{"cuGraphInstantiateWithFlags(GRAPH, 0)", func() (err error) { executable, err = d.GraphInstantiate(graph); return err }},
		{"cuGraphDestroy(GRAPH)", func() error { return d.GraphDestroy(graph) }},
		{fmt.Sprintf("cuGraphLaunch(EXECUTABLE, %#x)", s), func() error { return d.GraphLaunch(executable, s) }},
		{"cuGraphExecDestroy(EXECUTABLE)", func() error { return d.GraphExecutableDestroy(executable) }},

		{fmt.Sprintf("cuModuleUnload(%#x)", module), func() error { return d.ModuleUnload(module) }},
		{fmt.Sprintf("cuEventDestroy_v2(%#x)", e), func() error { return d.EventDestroy(e) }},
		{fmt.Sprintf("cuStreamDestroy_v2(%#x)", s), func() error { return d.StreamDestroy(s) }},
		{fmt.Sprintf("cuMemPoolDestroy(%#x)", pool), func() error { return d.PoolDestroy(pool) }},
		{fmt.Sprintf("cuMemFreeAsync(%v, (nil))", q), func() error { return d.FreeAsync(q, 0) }},
		{fmt.Sprintf("cuMemFree_v2(%v)", p), func() error { return d.Free(p) }},
		{fmt.Sprintf("cuMemFreeHost(%p)", locked), func() error { return d.HostFree(locked) }},
	} {
		calls := callsOf(t, func() { require.NoError(t, test.call(), test.want) })
		want := strings.ReplaceAll(test.want, "GRAPH", fmt.Sprintf("%#x", graph))
		want = strings.ReplaceAll(want, "EXECUTABLE", fmt.Sprintf("%#x", executable))
		assert.Equal(t, want, joined(calls))
	}
}

func joined(calls []string) string {
	text := ""
	for i, call := range calls {
		if i > 0 {
			text += " "
		}
		text += call
	}
	return text
}

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

// scenarioContext checks that a call runs in its device's context and restores the
// thread's.
func scenarioContext(t *testing.T) {
	first, second := openFake(t, 0), openFake(t, 1)
	contexts := func(d backend.Device) string {
		return joined(logOf(t, func() { require.NoError(t, d.Synchronize()) }))
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked, so the thread ends here
		assert.Equal(t, "cuCtxSetCurrent(1) cuCtxSynchronize() cuCtxSetCurrent(-1)", contexts(second), "on a thread without one")
		assert.Equal(t, "cuCtxSetCurrent(0) cuCtxSynchronize()", contexts(first), "device 0's is left on a thread without one")
		assert.Equal(t, "cuCtxSetCurrent(0) cuCtxSynchronize()", contexts(first), "where it is current already")
		assert.Equal(t, "cuCtxSetCurrent(1) cuCtxSynchronize() cuCtxSetCurrent(0)", contexts(second), "where another is current")

		t.Setenv("FAKE_FAIL", "cuCtxSynchronize=700")
		calls := logOf(t, func() { assert.ErrorIs(t, second.Synchronize(), backend.ErrDeviceLost) })
		assert.Equal(t, "cuCtxSetCurrent(1) cuCtxSynchronize() cuCtxSetCurrent(0)", joined(calls), "after a failure")
		t.Setenv("FAKE_FAIL", "cuCtxSetCurrent=201")
		calls = logOf(t, func() { assert.ErrorIs(t, second.Synchronize(), CodeInvalidContext) })
		assert.Equal(t, "cuCtxSetCurrent(1)", joined(calls), "nothing runs in the wrong context")
	}()
	<-done
}

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

func scenarioModules(t *testing.T) {
	d := openFake(t, 0)
	_, err := d.ModuleLoad([]byte(".version 7.0\nno_such_instruction;"))
	var failure *CompileError
	require.ErrorAs(t, err, &failure)
	assert.ErrorIs(t, err, backend.ErrInvalidCode)
	assert.ErrorIs(t, err, CodeInvalidPTX)
	assert.Equal(t, "ptxas fake, line 10; error : Not a name of any known instruction: 'no_such_instruction'\n"+
		"ptxas info : nothing compiled", failure.Log)
	assert.Contains(t, err.Error(), failure.Log)

	assert.Empty(t, logOf(t, func() {
		for _, image := range []string{"", "\x7fELF", "\x7fELF but not a cubin", "\x50\xed\x55\xba"} {
			_, err := d.ModuleLoad([]byte(image))
			assert.ErrorIs(t, err, backend.ErrInvalidCode, "%q", image)
		}
	}), "what is cut short never reaches the driver")

	_, err = d.ModuleCompile([]byte(".version 7.0\nno_such_instruction;"))
	failure = nil
	require.ErrorAs(t, err, &failure)
	assert.ErrorIs(t, err, backend.ErrInvalidCode)
	assert.Contains(t, failure.Log, "no_such_instruction")
	for _, function := range []string{"cuLinkCreate_v2", "cuLinkAddData_v2", "cuLinkComplete"} {
		t.Setenv("FAKE_FAIL", function+"=2")
		_, err = d.ModuleCompile([]byte(fakeCode))
		assert.ErrorIs(t, err, backend.ErrOutOfMemory)
	}

	t.Setenv("FAKE_FAIL", "cuModuleLoadDataEx=2")
	_, err = d.ModuleLoad([]byte(fakeCode))
	assert.ErrorIs(t, err, backend.ErrOutOfMemory)
	assert.NotErrorAs(t, err, &failure, "a lack of memory is not the code's fault")
	t.Setenv("FAKE_FAIL", "")

	module, err := d.ModuleLoad([]byte(fakeCode))
	require.NoError(t, err)
	for _, name := range []string{"missing", "", "other\x00and more"} {
		_, err := d.ModuleFunction(module, name)
		assert.ErrorIs(t, err, backend.ErrNotFound, "%q", name)
	}
	function, err := d.ModuleFunction(module, "other")
	require.NoError(t, err)
	parameters, err := d.FunctionParameters(function)
	require.NoError(t, err)
	assert.Empty(t, parameters)
	t.Setenv("FAKE_FAIL", "cuFuncGetParamInfo=400")
	_, err = d.FunctionParameters(function)
	assert.ErrorIs(t, err, CodeInvalidHandle)
}

// scenarioAllocations checks that the hot operations allocate nothing.
func scenarioAllocations(t *testing.T) {
	d := openFake(t, 0)
	p, err := d.Alloc(4096)
	require.NoError(t, err)
	locked, err := d.HostAlloc(4096)
	require.NoError(t, err)
	s, err := d.StreamCreate()
	require.NoError(t, err)
	e, err := d.EventCreate(false)
	require.NoError(t, err)
	module, err := d.ModuleLoad([]byte(fakeCode))
	require.NoError(t, err)
	function, err := d.ModuleFunction(module, "other")
	require.NoError(t, err)
	slots, starts := []uint64{1, 2, 3}, []uint32{0, 1, 2}
	config := backend.LaunchConfig{Grid: backend.Dim3{X: 8}, Block: backend.Dim3{X: 128}, Stream: s}

	for name, call := range map[string]func() error{
		"Launch":            func() error { return d.Launch(function, config, slots, starts) },
		"EventRecord":       func() error { return d.EventRecord(e, s) },
		"EventQuery":        func() error { _, err := d.EventQuery(e); return err },
		"StreamWaitEvent":   func() error { return d.StreamWaitEvent(s, e) },
		"StreamQuery":       func() error { _, err := d.StreamQuery(s); return err },
		"StreamSynchronize": func() error { return d.StreamSynchronize(s) },
		"CopyToDevice":      func() error { return d.CopyToDevice(p, locked, 64) },
		"CopyToHost":        func() error { return d.CopyToHost(locked, p, 64) },
		"CopyOnDevice":      func() error { return d.CopyOnDevice(p, p+64, 64) },
		"CopyToDeviceAsync": func() error { return d.CopyToDeviceAsync(p, locked, 64, s) },
		"CopyToHostAsync":   func() error { return d.CopyToHostAsync(locked, p, 64, s) },
		"CopyOnDeviceAsync": func() error { return d.CopyOnDeviceAsync(p, p+64, 64, s) },
		"MemsetAsync":       func() error { return d.MemsetAsync(p, 0, 4, 16, s) },
		"CopyFromPeerAsync": func() error { return d.CopyFromPeerAsync(p, p+64, 1, 64, s) },
		"PointerInfo":       func() error { _, err := d.PointerInfo(p); return err },
		"AddressRange":      func() error { _, _, err := d.AddressRange(p); return err },
		"AllocAsync and FreeAsync": func() error {
			p, err := d.AllocAsync(64, 0, s)
			if err != nil {
				return err
			}
			return d.FreeAsync(p, s)
		},
	} {
		require.NoError(t, call(), name)
		assert.Zero(t, testing.AllocsPerRun(100, func() { err = call() }), name)
		require.NoError(t, err, name)
	}
}

// scenarioLifetime checks that Close releases everything that Open retained.
func scenarioLifetime(t *testing.T) {
	calls := callsOf(t, func() {
		d, err := Driver{}.Open(1)
		require.NoError(t, err)
		content, err := d.Alloc(64)
		require.NoError(t, err)
		require.NoError(t, d.CopyFromPeerAsync(content, content, 0, 64, 0))
		require.NoError(t, d.CopyFromPeerAsync(content, content, 0, 64, 0))
		require.NoError(t, d.Free(content))
		require.NoError(t, d.Close())
		assert.ErrorIs(t, d.Close(), backend.ErrClosed)
		_, err = d.Alloc(64)
		assert.ErrorIs(t, err, backend.ErrClosed)
		assert.EqualError(t, err, "cuda: cuMemAlloc: device 1: already closed")
	})
	balance := map[string]int{}
	for _, call := range calls {
		balance[call]++
	}
	for _, device := range []string{"0", "1"} {
		assert.Equal(t, 1, balance["cuDevicePrimaryCtxRetain("+device+")"])
		assert.Equal(t, 1, balance["cuDevicePrimaryCtxRelease_v2("+device+")"])
	}

	d, err := Driver{}.Open(0)
	require.NoError(t, err)
	t.Setenv("FAKE_FAIL", "cuDevicePrimaryCtxRelease_v2=719")
	assert.ErrorIs(t, d.Close(), backend.ErrDeviceLost)
	assert.ErrorIs(t, d.Close(), backend.ErrClosed, "a device whose release failed is closed all the same")
}

func scenarioPeers(t *testing.T) {
	d, other := openFake(t, 0), openFake(t, 1)
	can, err := d.CanAccessPeer(1)
	require.NoError(t, err)
	assert.True(t, can)
	can, err = d.CanAccessPeer(0)
	require.NoError(t, err)
	assert.False(t, can)
	assert.Equal(t, "cuDeviceGet(1) cuDeviceCanAccessPeer(0, 1)", joined(callsOf(t, func() { _, _ = d.CanAccessPeer(1) })))

	require.NoError(t, d.EnablePeerAccess(1))
	assert.Equal(t,
		"cuCtxEnablePeerAccess(1, 0) cuDeviceGetDefaultMemPool(1) cuMemPoolSetAccess(pool of 1, location 1 0, flags 3, 1)",
		joined(callsOf(t, func() { require.NoError(t, d.EnablePeerAccess(1), "twice is no error") })))
	assert.Equal(t, "cuCtxDisablePeerAccess(1)", joined(callsOf(t, func() { require.NoError(t, d.DisablePeerAccess(1)) })))
	assert.ErrorIs(t, d.DisablePeerAccess(1), backend.ErrInvalidValue)

	t.Setenv("FAKE_FAIL", "cuMemPoolSetAccess=1")
	assert.ErrorIs(t, d.EnablePeerAccess(1), backend.ErrInvalidValue)
	t.Setenv("FAKE_FAIL", "")
	assert.ErrorIs(t, d.DisablePeerAccess(1), CodePeerNotEnabled, "a failed EnablePeerAccess changes nothing")
	require.NoError(t, d.EnablePeerAccess(1))
	t.Setenv("FAKE_FAIL", "cuMemPoolSetAccess=1")
	assert.ErrorIs(t, d.EnablePeerAccess(1), backend.ErrInvalidValue)
	t.Setenv("FAKE_FAIL", "")
	assert.NoError(t, d.DisablePeerAccess(1), "nor takes away access that was there")

	own, err := other.PoolCreate(0)
	require.NoError(t, err)
	for _, pool := range []backend.Pool{0, own} {
		assert.Equal(t, "cuDeviceGet(0) cuMemPoolSetAccess(pool of 1, location 1 0, flags 3, 1)",
			joined(callsOf(t, func() { require.NoError(t, other.PoolAllowPeer(pool, 0)) })))
	}
	assert.ErrorIs(t, d.PoolAllowPeer(0, 2), backend.ErrNoDevice)
	assert.ErrorIs(t, d.PoolAllowPeer(0, -1), backend.ErrNoDevice)
	require.NoError(t, other.PoolDestroy(own))

	p, err := d.Alloc(64)
	require.NoError(t, err)
	q, err := other.Alloc(64)
	require.NoError(t, err)
	require.NoError(t, other.Memset(q, 0x5a, 1, 64))
	assert.Equal(t, "cuMemcpyPeerAsync(0, 1, 64, (nil))",
		joined(callsOf(t, func() { require.NoError(t, d.CopyFromPeerAsync(p, q, 1, 64, 0)) })))
	content := make([]byte, 64)
	require.NoError(t, d.CopyToHost(unsafe.Pointer(&content[0]), p, 64))
	assert.Equal(t, byte(0x5a), content[63])
	require.NoError(t, d.CopyFromPeerAsync(p, p, 0, 64, 0), "a device copies from itself")
}

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
