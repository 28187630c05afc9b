//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #cgo linux LDFLAGS: -ldl
// #include "native.h"
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/share"
)

// gpuframePythonDevice answers with the device of an object in DLPack's terms. The answer
// is the same as for the tensors of package dlpack.
//
//export gpuframePythonDevice
func gpuframePythonDevice(h C.uint64_t, deviceType, id *C.int32_t) {
	*deviceType, *id = typeHost, 0
	switch object := objects.get(handle(h)).(type) {
	case *series:
		if block := object.Block(); block != nil {
			placeOf(block, deviceType, id)
			return
		}
		for block := range object.Blocks {
			placeOf(block, deviceType, id)
			return
		}
		placeOn(object.Device(), deviceType, id)
	case *buffer.Buffer:
		deviceOf(object, deviceType, id)
	case *share.Table: // its columns are not mapped yet
		if name, err := object.Device().Name(); err == nil && object.Device().Kind == device.CUDA {
			if _, err := fmt.Sscanf(name, "cuda:%d", id); err == nil {
				*deviceType = typeCUDA
			}
		}
	}
}

// deviceOf answers with the device of a table.
func deviceOf(b *buffer.Buffer, deviceType, id *C.int32_t) {
	*deviceType, *id = typeHost, 0
	for block := range blocksOf(b) {
		placeOf(block, deviceType, id)
		return
	}
	placeOn(b.Device(), deviceType, id)
}

// placeOn answers with the device of an object without memory.
func placeOn(dev *device.Device, deviceType, id *C.int32_t) {
	if dev != nil && dev.Kind() == device.CUDA {
		*deviceType, *id = typeCUDA, C.int32_t(dev.Info().Ordinal)
	}
}

func placeOf(block *memory.Block, deviceType, id *C.int32_t) {
	if block.Device().Kind() == device.Host {
		return
	}
	switch block.Kind() {
	case device.MemoryPinned:
		*deviceType = typePinned
	case device.MemoryManaged:
		*deviceType = typeManaged
	default:
		*deviceType, *id = typeCUDA, C.int32_t(block.Device().Info().Ordinal)
	}
}

// gpuframe_pointer_device looks up the device of a pointer in a GPU's driver and answers
// in DLPack's terms. A pointer that the driver does not know is an error: the GPU array
// interfaces promise memory that a GPU reaches, and reading any other address may crash
// the process.
//
//export gpuframe_pointer_device
func gpuframe_pointer_device(h, pointer C.uint64_t, deviceType, id *C.int32_t) *C.char {
	return guarded(func() error {
		m, err := the[*memory.Manager](handle(h))
		if err != nil {
			return err
		}
		info, err := m.Device().Driver().PointerInfo(device.Pointer(pointer))
		if err != nil {
			return err
		}
		*id = 0
		switch info.Kind {
		case device.MemoryDevice:
			*deviceType, *id = typeCUDA, C.int32_t(info.Ordinal)
		case device.MemoryPinned:
			*deviceType = typePinned
		case device.MemoryManaged:
			*deviceType = typeManaged
		default:
			return fmt.Errorf("the data pointer %#x is unknown to the driver of %v: its memory was freed, or is ordinary memory of the host: %w",
				uint64(pointer), m.Device(), dlpack.ErrInvalid)
		}
		return nil
	})
}

// DLPack's codes for memory that a GPU shares with the host.
const (
	typePinned  = 3
	typeManaged = 13
)

// managerOf returns the manager for a device in DLPack's terms.
func managerOf(deviceType, id int32) (*memory.Manager, error) {
	switch deviceType {
	case typeHost:
		return manager("host")
	case typeCUDA:
		return manager(fmt.Sprintf("cuda:%d", id))
	case typePinned, typeManaged:
		return manager("cuda:0")
	}
	return nil, fmt.Errorf("device type %d: %w", deviceType, dlpack.ErrDevice)
}

// gpuframePythonImport makes a column of a versioned tensor for the exchange table. It
// orders work by the legacy default stream.
//
//export gpuframePythonImport
func gpuframePythonImport(tensor unsafe.Pointer, deviceType, id C.int32_t, out *C.uint64_t) *C.char {
	return guarded(func() error {
		m, err := managerOf(int32(deviceType), int32(id))
		if err != nil {
			_, _ = dlpack.Import(nil, tensor) // runs the deleter
			return err
		}
		c, err := dlpack.Import(m, tensor)
		if err != nil {
			return err
		}
		*out = C.uint64_t(objects.add(newSeries(c, arrow.Field{})))
		return nil
	})
}

// gpuframePythonAllocate allocates a tensor of bytes for the exchange table.
//
//export gpuframePythonAllocate
func gpuframePythonAllocate(deviceType, id C.int32_t, bytes C.int64_t, tensor *unsafe.Pointer) *C.char {
	return guarded(func() error {
		m, err := managerOf(int32(deviceType), int32(id))
		if err != nil {
			return err
		}
		block, err := memory.NewSlice[uint8](m, int(bytes), memory.AllocateOptions{Tag: "dlpack"})
		if err != nil {
			return err
		}
		defer block.Release()
		c, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Uint8, Length: int(bytes), Buffers: []column.Bytes{{}, block}})
		if err != nil {
			return err
		}
		defer c.Release()
		exported, err := dlpack.Export(c)
		if err != nil {
			return err
		}
		*tensor = exported.Detach()
		return nil
	})
}
