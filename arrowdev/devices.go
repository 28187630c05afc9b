package arrowdev

import (
	"fmt"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// location is where an array lies, in Arrow's terms.
type location struct {
	deviceType int32
	id         int64
}

var cpu = location{cabi.DeviceCPU, cabi.NoDeviceID}

// locationOf returns the location of memory of a kind on a device. On the host device
// memory of every kind is CPU memory, because most consumers accept that. Memory on
// no device has the CPU's location too.
func locationOf(dev *device.Device, kind device.MemoryKind) location {
	if dev == nil || dev.Kind() == device.Host {
		return cpu
	}
	switch kind {
	case device.MemoryPinned:
		return location{cabi.DeviceCUDAHost, cabi.NoDeviceID}
	case device.MemoryManaged:
		return location{cabi.DeviceCUDAManaged, cabi.NoDeviceID}
	}
	return location{cabi.DeviceCUDA, int64(dev.Info().Ordinal)}
}

func locationOfBlock(block *memory.Block) location { return locationOf(block.Device(), block.Kind()) }

// String names the location for messages.
func (l location) String() string {
	switch l.deviceType {
	case cabi.DeviceCPU:
		return "cpu"
	case cabi.DeviceCUDA:
		return fmt.Sprintf("cuda:%d", l.id)
	case cabi.DeviceCUDAHost:
		return "cuda host memory"
	case cabi.DeviceCUDAManaged:
		return "cuda managed memory"
	}
	return fmt.Sprintf("device %d of type %d", l.id, l.deviceType)
}

// kindOf returns the kind of memory that an array claims, if the device can use it.
// It compares the device number only for GPU memory: producers disagree about its
// meaning for other memory.
func kindOf(dev *device.Device, claimed location) (device.MemoryKind, error) {
	switch claimed.deviceType {
	case cabi.DeviceCPU:
		if dev.Kind() == device.Host {
			return device.MemoryHost, nil
		}
	case cabi.DeviceCUDA:
		if dev.Kind() != device.CUDA {
			break
		}
		if claimed.id != int64(dev.Info().Ordinal) {
			return 0, faulty("ArrowDeviceArray.device_id", "the array is on %v, the manager on %s: %w", claimed, dev, ErrDevice)
		}
		return device.MemoryDevice, nil
	case cabi.DeviceCUDAHost:
		return device.MemoryPinned, nil
	case cabi.DeviceCUDAManaged:
		return device.MemoryManaged, nil
	}
	return 0, faulty("ArrowDeviceArray.device_type", "the array is on %v, the manager on %s: %w", claimed, dev, ErrDevice)
}

// hasEvents reports whether sync_event has a meaning on the device.
func (l location) hasEvents() bool {
	switch l.deviceType {
	case cabi.DeviceCUDA, cabi.DeviceCUDAHost, cabi.DeviceCUDAManaged:
		return true
	}
	return false
}
