//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"fmt"

	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/gorgoniacu/internal/shim"
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
		return nil, missingDevice(ordinal, count)
	}
	handle, info, err := describe(ordinal)
	if err != nil {
		return nil, err
	}
	context, err := handle.RetainPrimaryCtx()
	if err != nil {
		return nil, callFailed(err, "cuDevicePrimaryCtxRetain", "device %d", ordinal)
	}
	d := &openDevice{
		handle: handle, context: context, shim: shim.NewDevice(int(handle), word(context)),
		info: info, peers: newPeers(count),
	}
	d.findDefaultPool()
	d.mapsMemory = d.has(backend.VirtualMemoryManagement)
	d.sharesMemory = d.has(backend.SharesByDescriptor)
	d.hasManaged = d.has(backend.ManagedMemory)
	d.prefetches = d.has(backend.ConcurrentManagedAccess)
	return d, nil
}

// count returns the number of devices, which is at least one if the error is nil.
func count() (int, error) {
	count, err := cu.NumDevices()
	if err != nil {
		return 0, fmt.Errorf("gorgonia: the devices could not be counted: %w: %w", callFailed(err, "cuDeviceGetCount", ""), backend.ErrNotAvailable)
	}
	if count == 0 {
		return 0, fmt.Errorf("gorgonia: the driver shows this process no device; CUDA_VISIBLE_DEVICES may hide them: %w", backend.ErrNotAvailable)
	}
	return count, nil
}

func missingDevice(ordinal, count int) error {
	return fmt.Errorf("gorgonia: no device %d: the driver shows this process %d, numbered from 0: %w", ordinal, count, backend.ErrNoDevice)
}

// describe reads all fields of Info. None of them needs a context.
func describe(ordinal int) (cu.Device, backend.Info, error) {
	info := backend.Info{Kind: backend.CUDA, Ordinal: ordinal, DriverVersion: cu.Version()}
	fail := func(err error, function string) (cu.Device, backend.Info, error) {
		return cu.BadDevice, backend.Info{}, callFailed(err, function, "device %d", ordinal)
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
