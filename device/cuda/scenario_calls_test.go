//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

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
