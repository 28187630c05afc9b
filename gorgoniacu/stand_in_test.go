//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// The tests here need the stand-in for the driver, which can lack functions or fail.

// onStandIn skips a test on a real driver.
func onStandIn(t *testing.T, dev *device.Device) {
	t.Helper()
	if !strings.HasPrefix(dev.Info().Name, "Fake") {
		t.Skipf("this takes the stand-in for the driver, and there is %s", dev.Info().Name)
	}
}

// TestConformanceOfLess runs the conformance suite in separate processes on devices
// that lack optional operations.
func TestConformanceOfLess(t *testing.T) {
	onStandIn(t, devicetest.Open(t, "gorgonia:0"))
	for _, test := range []struct {
		settings []string
		skipped  []string
	}{
		{[]string{"FAKE_NO_MAPS=1", "FAKE_OLD_GPU=1", "FAKE_NO_POOLS=1"}, []string{"Shared", "VirtualMoves", "Prefetch", "PoolUse"}},
		{[]string{"FAKE_OLD_GPU=2"}, []string{"Managed", "Prefetch"}},
		{[]string{"FAKE_NO_SHARING=1"}, []string{"Shared", "SharedMisuse"}},
		{[]string{"FAKE_UNIT=3145728"}, nil},
	} {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^TestConformance$", "-test.timeout=1h")
		child.Env = append(os.Environ(), test.settings...)
		output, err := child.CombinedOutput()
		require.NoError(t, err, "%v\n%s", test.settings, output)
		require.Contains(t, string(output), "--- PASS: TestConformance")
		for _, name := range test.skipped {
			assert.Contains(t, string(output), "--- SKIP: TestConformance/"+name+" ", "%v", test.settings)
		}
		if test.skipped == nil {
			assert.NotContains(t, string(output), "--- SKIP", "%v", test.settings)
		}
	}
}

// TestFailures makes each of the driver's functions fail and checks the error.
func TestFailures(t *testing.T) {
	dev := devicetest.Open(t, "gorgonia:0")
	onStandIn(t, dev)
	d := dev.Driver()
	pointer, err := d.Alloc(256)
	require.NoError(t, err)
	event, err := d.EventCreate(true)
	require.NoError(t, err)
	module, err := d.ModuleLoad([]byte(addScalar))
	require.NoError(t, err)
	function, err := d.ModuleFunction(module, "add_scalar")
	require.NoError(t, err)
	host := make([]byte, 256)
	start := unsafe.Pointer(&host[0])

	for symbol, call := range map[string]func() error{
		"cuMemGetInfo_v2":                             func() error { _, _, err := d.MemoryInfo(); return err },
		"cuDeviceGetAttribute":                        func() error { _, err := d.Attribute(backend.MultiprocessorCount); return err },
		"cuCtxSynchronize":                            d.Synchronize,
		"cuMemAlloc_v2":                               func() error { _, err := d.Alloc(256); return err },
		"cuMemFree_v2":                                func() error { return d.Free(pointer) },
		"cuMemAllocFromPoolAsync":                     func() error { _, err := d.AllocAsync(256, 0, 0); return err },
		"cuMemFreeAsync":                              func() error { return d.FreeAsync(pointer, 0) },
		"cuMemPoolCreate":                             func() error { _, err := d.PoolCreate(0); return err },
		"cuMemPoolTrimTo":                             func() error { return d.PoolTrim(0, 0) },
		"cuMemPoolGetAttribute":                       func() error { _, err := d.PoolAttribute(0, backend.PoolUsedCurrent); return err },
		"cuMemPoolSetAttribute":                       func() error { return d.PoolSetAttribute(0, backend.PoolReleaseThreshold, 0) },
		"cuMemHostAlloc":                              func() error { _, err := d.HostAlloc(256); return err },
		"cuMemHostRegister_v2":                        func() error { return d.HostRegister(start, 256) },
		"cuPointerGetAttributes":                      func() error { _, err := d.PointerInfo(pointer); return err },
		"cuMemGetAddressRange_v2":                     func() error { _, _, err := d.AddressRange(pointer); return err },
		"cuMemcpyHtoD_v2":                             func() error { return d.CopyToDevice(pointer, start, 256) },
		"cuMemcpyDtoH_v2":                             func() error { return d.CopyToHost(start, pointer, 256) },
		"cuMemcpyDtoD_v2":                             func() error { return d.CopyOnDevice(pointer, pointer, 256) },
		"cuMemcpyHtoDAsync_v2":                        func() error { return d.CopyToDeviceAsync(pointer, start, 256, 0) },
		"cuMemcpyDtoHAsync_v2":                        func() error { return d.CopyToHostAsync(start, pointer, 256, 0) },
		"cuMemcpyDtoDAsync_v2":                        func() error { return d.CopyOnDeviceAsync(pointer, pointer, 256, 0) },
		"cuMemsetD8_v2":                               func() error { return d.Memset(pointer, 0, 1, 256) },
		"cuMemsetD16_v2":                              func() error { return d.Memset(pointer, 0, 2, 128) },
		"cuMemsetD32_v2":                              func() error { return d.Memset(pointer, 0, 4, 64) },
		"cuMemsetD32Async":                            func() error { return d.MemsetAsync(pointer, 0, 4, 64, 0) },
		"cuMemAllocManaged":                           func() error { _, err := d.AllocManaged(256); return err },
		"cuMemPrefetchAsync":                          func() error { return d.PrefetchAsync(pointer, 256, false, 0) },
		"cuMemAddressReserve":                         func() error { _, err := d.AddressReserve(2<<20, 0); return err },
		"cuMemCreate":                                 func() error { _, err := d.PhysicalCreate(2 << 20); return err },
		"cuMemMap":                                    func() error { return d.Map(pointer, 2<<20, 0, 1) },
		"cuMemUnmap":                                  func() error { return d.Unmap(pointer, 2<<20) },
		"cuMemSetAccess":                              func() error { return d.SetAccess(pointer, 2<<20) },
		"cuMemExportToShareableHandle":                func() error { _, err := d.PhysicalExport(1, false); return err },
		"cuStreamCreate":                              func() error { _, err := d.StreamCreate(); return err },
		"cuStreamIsCapturing":                         func() error { _, err := d.StreamCapturing(0); return err },
		"cuStreamSynchronize":                         func() error { return d.StreamSynchronize(0) },
		"cuStreamQuery":                               func() error { _, err := d.StreamQuery(0); return err },
		"cuStreamWaitEvent":                           func() error { return d.StreamWaitEvent(0, event) },
		"cuEventCreate":                               func() error { _, err := d.EventCreate(false); return err },
		"cuEventRecord":                               func() error { return d.EventRecord(event, 0) },
		"cuEventQuery":                                func() error { _, err := d.EventQuery(event); return err },
		"cuEventSynchronize":                          func() error { return d.EventSynchronize(event) },
		"cuEventElapsedTime":                          func() error { _, err := d.EventElapsed(event, event); return err },
		"cuModuleLoadDataEx":                          func() error { _, err := d.ModuleLoad([]byte(addScalar)); return err },
		"cuModuleGetFunction":                         func() error { _, err := d.ModuleFunction(module, "add_scalar"); return err },
		"cuFuncGetAttribute":                          func() error { _, err := d.FunctionAttribute(function, backend.FunctionRegisters); return err },
		"cuFuncSetAttribute":                          func() error { return d.FunctionSetAttribute(function, backend.FunctionMaxDynamicSharedBytes, 1) },
		"cuFuncGetParamInfo":                          func() error { _, err := d.FunctionParameters(function); return err },
		"cuOccupancyMaxActiveBlocksPerMultiprocessor": func() error { _, err := d.Occupancy(function, 32, 0); return err },
		"cuLaunchKernel":                              func() error { return d.Launch(function, backend.LaunchConfig{}, []uint64{0, 0, 0}, []uint32{0, 1, 2}) },
		"cuDeviceCanAccessPeer":                       func() error { _, err := d.CanAccessPeer(1); return err },
		"cuCtxEnablePeerAccess":                       func() error { return d.EnablePeerAccess(1) },
		"cuMemcpyPeerAsync":                           func() error { return d.CopyFromPeerAsync(pointer, pointer, 1, 256, 0) },
		"cuMemPoolSetAccess":                          func() error { return d.PoolAllowPeer(0, 1) },
	} {
		t.Setenv("FAKE_FAIL", symbol+"=719")
		err := call()
		require.ErrorIs(t, err, cuda.CodeLaunchFailed, symbol)
		require.ErrorIs(t, err, device.ErrDeviceLost, symbol)
		var failure *cuda.Error
		require.ErrorAs(t, err, &failure, symbol)
		operation, _, _ := strings.Cut(failure.Operation, "(")
		require.True(t, strings.HasPrefix(symbol, strings.TrimSuffix(operation, "Async")), "%s: %v", symbol, err)
	}
	t.Setenv("FAKE_FAIL", "")
	require.NoError(t, d.ModuleUnload(module))
	require.NoError(t, d.EventDestroy(event))
	require.NoError(t, d.Free(pointer))
}

// TestOpenFails makes opening a device fail at each step.
func TestOpenFails(t *testing.T) {
	onStandIn(t, devicetest.Open(t, "gorgonia:0"))
	for _, symbol := range []string{
		"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceTotalMem_v2", "cuDeviceGetUuid_v2",
		"cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain",
	} {
		t.Setenv("FAKE_FAIL", symbol+"=999")
		dev, err := device.Open("gorgonia:0")
		require.ErrorIs(t, err, cuda.CodeUnknown, symbol)
		require.Nil(t, dev, symbol)
	}
}
