//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

// oldestDriver is the first driver that exports every symbol that gpuframe requires.
const oldestDriver = "driver 450 / CUDA 11.0"

// Driver is the CUDA backend. The zero value is ready; its methods are safe for
// concurrent use. The first call loads the driver library, and its result holds until
// the process ends.
type Driver struct{}

var _ backend.Driver = Driver{}

// Devices describes the GPUs that the driver shows this process, which
// CUDA_VISIBLE_DEVICES may limit. It makes no context and takes no device memory. The
// error wraps [backend.ErrNotAvailable] if the driver is missing or too old, or no
// device exists.
func (Driver) Devices() ([]backend.Info, error) {
	count, err := start()
	if err != nil {
		return nil, err
	}
	infos := make([]backend.Info, count)
	for ordinal := range infos {
		if _, infos[ordinal], err = describe(ordinal); err != nil {
			return nil, err
		}
	}
	return infos, nil
}

// Open retains the primary context of a GPU. If nothing in the process has created it
// yet, Open creates it, which takes tenths of a second and some hundred megabytes of
// device memory. The error wraps [backend.ErrNotAvailable] as for Devices, and
// [backend.ErrNoDevice] if no device has that number.
func (Driver) Open(ordinal int) (backend.Device, error) {
	count, err := start()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= count {
		return nil, drivercall.MissingDevice(name, ordinal, count)
	}
	handle, info, err := describe(ordinal)
	if err != nil {
		return nil, err
	}
	raw, result := handle.Retain()
	if result != libcuda.Success {
		return nil, failed(result, "cuDevicePrimaryCtxRetain", drivercall.Device(ordinal))
	}
	d := &device{
		raw:   raw,
		guard: drivercall.Guard{Backend: name, Info: info, Devices: count, LeastHandle: 1, Failed: refused},
		peers: drivercall.NewPeers[libcuda.Device](count),
	}
	d.guard.ReadProperties(d.has)
	d.guard.FindPool(d.has(backend.MemoryPoolsSupported), d.findPool)
	return d, nil
}

func (d *device) findPool() (pool uintptr, result int32) {
	pool, code := d.raw.Handle().DefaultPool()
	return pool, int32(code)
}

// start loads the driver and returns the number of devices, which is at least one if
// the error is nil.
func start() (int, error) {
	if failure := libcuda.Load(); failure != nil {
		return 0, explain(failure)
	}
	count, result := libcuda.DeviceCount()
	return count, drivercall.CheckCount(name, count, check(result, "cuDeviceGetCount"))
}

func explain(failure *libcuda.LoadFailure) error {
	switch {
	case failure.NotOpened != "":
		return unavailable("%s could not be opened (%s): install the NVIDIA driver", failure.Path, failure.NotOpened)
	case failure.MissingSymbol != "":
		return unavailable("%s lacks %s: gpuframe needs %s or newer", failure.Path, failure.MissingSymbol, oldestDriver)
	}
	return unavailable("the driver could not be started: %w", failed(failure.Init, "cuInit", ""))
}

// describe reads all fields of Info. None of them needs a context.
func describe(ordinal int) (libcuda.Handle, backend.Info, error) {
	info := backend.Info{Kind: backend.CUDA, Ordinal: ordinal}
	fail := func(result libcuda.Result, function string) (libcuda.Handle, backend.Info, error) {
		return 0, backend.Info{}, failed(result, function, drivercall.Device(ordinal))
	}
	handle, result := libcuda.DeviceGet(ordinal)
	if result != libcuda.Success {
		return fail(result, "cuDeviceGet")
	}
	if info.Name, result = handle.Name(); result != libcuda.Success {
		return fail(result, "cuDeviceGetName")
	}
	if info.TotalMemory, result = handle.TotalMemory(); result != libcuda.Success {
		return fail(result, "cuDeviceTotalMem")
	}
	uuid, result := handle.UUID()
	if result != libcuda.Success {
		return fail(result, "cuDeviceGetUuid")
	}
	info.UUID = uuid
	if info.DriverVersion, result = libcuda.DriverVersion(); result != libcuda.Success {
		return fail(result, "cuDriverGetVersion")
	}
	for attribute, field := range map[backend.Attribute]*int{
		backend.ComputeCapabilityMajor: &info.ComputeCapability.Major,
		backend.ComputeCapabilityMinor: &info.ComputeCapability.Minor,
		backend.MultiprocessorCount:    &info.Multiprocessors,
	} {
		if *field, result = handle.Attribute(int32(attribute)); result != libcuda.Success {
			return fail(result, "cuDeviceGetAttribute")
		}
	}
	return handle, info, nil
}
