//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/gorgoniacu/internal/shim"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

// Driver is the backend. The zero value is ready; its methods are safe for concurrent
// use.
type Driver struct{}

var _ backend.Driver = Driver{}

// Devices describes the GPUs that the driver shows this process, which
// CUDA_VISIBLE_DEVICES may limit. It makes no context and takes no device memory.
func (Driver) Devices() ([]backend.Info, error) {
	count, err := count()
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
// device memory. The error wraps [backend.ErrNoDevice] if no device has that number.
func (Driver) Open(ordinal int) (backend.Device, error) {
	count, err := count()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= count {
		return nil, drivercall.MissingDevice(Name, ordinal, count)
	}
	handle, info, err := describe(ordinal)
	if err != nil {
		return nil, err
	}
	context, err := handle.RetainPrimaryCtx()
	if err != nil {
		return nil, callFailed(err, "cuDevicePrimaryCtxRetain", drivercall.Device(ordinal))
	}
	d := &openDevice{
		handle: handle, context: context, shim: shim.NewDevice(int(handle), word(context)),
		guard: drivercall.Guard{Backend: Name, Info: info, Devices: count, LeastHandle: leastPointer, Failed: refused},
		peers: drivercall.NewPeers[peer](count),
	}
	d.guard.ReadProperties(d.has)
	d.guard.FindPool(d.has(backend.MemoryPoolsSupported), d.findPool)
	return d, nil
}

func (d *openDevice) findPool() (pool uintptr, result int32) {
	pool, code := shim.DefaultPool(int(d.handle))
	return pool, int32(code)
}

// count returns the number of devices, which is at least one if the error is nil.
func count() (int, error) {
	count, err := cu.NumDevices()
	return count, drivercall.CheckCount(Name, count, check(err, "cuDeviceGetCount"))
}

// describe reads all fields of Info. None of them needs a context.
func describe(ordinal int) (cu.Device, backend.Info, error) {
	info := backend.Info{Kind: backend.CUDA, Ordinal: ordinal, DriverVersion: cu.Version()}
	fail := func(err error, function string) (cu.Device, backend.Info, error) {
		return cu.BadDevice, backend.Info{}, callFailed(err, function, drivercall.Device(ordinal))
	}
	handle, err := cu.GetDevice(ordinal)
	if err != nil {
		return fail(err, "cuDeviceGet")
	}
	if info.Name, err = handle.Name(); err != nil {
		return fail(err, "cuDeviceGetName")
	}
	total, err := handle.TotalMem()
	if err != nil {
		return fail(err, "cuDeviceTotalMem")
	}
	info.TotalMemory = uint64(total)
	if info.UUID, err = uuid(handle, info.DriverVersion); err != nil {
		return fail(err, "cuDeviceGetUuid")
	}
	for attribute, field := range map[backend.Attribute]*int{
		backend.ComputeCapabilityMajor: &info.ComputeCapability.Major,
		backend.ComputeCapabilityMinor: &info.ComputeCapability.Minor,
		backend.MultiprocessorCount:    &info.Multiprocessors,
	} {
		if *field, err = handle.Attribute(cu.DeviceAttribute(attribute)); err != nil {
			return fail(err, "cuDeviceGetAttribute")
		}
	}
	return handle, info, nil
}

// uuid distinguishes the instances of a partitioned GPU if the driver can.
func uuid(handle cu.Device, driverVersion int) (backend.UUID, error) {
	const instancesSince = 11040
	if driverVersion < instancesSince {
		identity, err := handle.UUID()
		return backend.UUID(identity), err
	}
	identity, result := shim.UUID(int(handle))
	if result != shim.Success {
		return backend.UUID{}, cuda.Code(result)
	}
	return identity, nil
}
