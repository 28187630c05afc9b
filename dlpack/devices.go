package dlpack

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/memory"
)

// deviceOf says where a block is in DLPack's terms.
func deviceOf(block *memory.Block) cabi.Device { return deviceOfKind(block.Device(), block.Kind()) }

// device says where the tensor is. One without memory is at its column's home; a
// column that has none, because it was made without a manager, is the CPU's.
func (s *contents) device() cabi.Device {
	switch block := s.region.Block(); {
	case block != nil:
		return deviceOf(block)
	case s.home != nil:
		return deviceOfKind(s.home.Device(), s.home.Resource().Kind())
	}
	return cabi.Device{Type: cabi.DeviceCPU}
}

// deviceOfKind says where memory of a kind is. Memory of the host device is the
// CPU's whatever its kind: most consumers take nothing else.
func deviceOfKind(dev *device.Device, kind device.MemoryKind) cabi.Device {
	if dev.Kind() == device.Host {
		return cabi.Device{Type: cabi.DeviceCPU}
	}
	switch kind {
	case device.MemoryPinned:
		return cabi.Device{Type: cabi.DeviceCUDAHost}
	case device.MemoryManaged:
		return cabi.Device{Type: cabi.DeviceCUDAManaged}
	}
	return cabi.Device{Type: cabi.DeviceCUDA, ID: int32(dev.Info().Ordinal)}
}

// kindOf returns the kind of memory that a tensor claims to be, if the device
// can use it. Only for memory of a GPU does the number of the device count.
func kindOf(dev *device.Device, claimed cabi.Device) (device.MemoryKind, error) {
	onHost := dev.Kind() == device.Host
	switch claimed.Type {
	case cabi.DeviceCPU:
		if onHost {
			return device.MemoryHost, nil
		}
	case cabi.DeviceCUDA:
		if dev.Kind() == device.CUDA && int(claimed.ID) == dev.Info().Ordinal {
			return device.MemoryDevice, nil
		}
	case cabi.DeviceCUDAHost:
		return device.MemoryPinned, nil
	case cabi.DeviceCUDAManaged:
		return device.MemoryManaged, nil
	}
	if claimed.Type == cabi.DeviceROCm || claimed.Type == cabi.DeviceROCmHost {
		return 0, faulty("device", "the tensor is %s, which gpuframe cannot use: copy it to the host first: %w", deviceName(claimed), ErrDevice)
	}
	return 0, faulty("device", "the tensor is on %s, the manager on %s: %w", deviceName(claimed), dev, ErrDevice)
}

func deviceName(d cabi.Device) string {
	switch d.Type {
	case cabi.DeviceCPU:
		return "cpu"
	case cabi.DeviceCUDA:
		return fmt.Sprintf("cuda:%d", d.ID)
	case cabi.DeviceCUDAHost:
		return "pinned host memory"
	case cabi.DeviceCUDAManaged:
		return "managed memory"
	case cabi.DeviceROCm:
		return fmt.Sprintf("memory of AMD's GPU %d (ROCm)", d.ID)
	case cabi.DeviceROCmHost:
		return "host memory that was pinned for AMD's GPUs (ROCm)"
	}
	return fmt.Sprintf("device %d of type %d", d.ID, d.Type)
}
