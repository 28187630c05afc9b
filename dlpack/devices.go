package dlpack

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/memory"
)

// deviceOf returns the device of a block in DLPack's terms.
func deviceOf(block *memory.Block) cabi.Device { return deviceOfKind(block.Device(), block.Kind()) }

// device returns the device of the tensor. A tensor without memory is on the device
// of its column's manager, or on the CPU if the column has no manager.
func (s *contents) device() cabi.Device {
	switch block := s.region.Block(); {
	case block != nil:
		return deviceOf(block)
	case s.home != nil:
		return deviceOfKind(s.home.Device(), s.home.Resource().Kind())
	}
	return cabi.Device{Type: cabi.DeviceCPU}
}

// deviceOfKind returns the DLPack device of memory of a kind. On the host device
// memory of every kind is CPU memory, because most consumers accept nothing else.
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

// kindOf returns the kind of memory that a tensor claims, if the device can use it.
// It compares the device number only for GPU memory.
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
