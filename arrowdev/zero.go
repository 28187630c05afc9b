package arrowdev

import (
	"log/slog"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/pinned"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/memory"
)

// Arrays of strings and lists have one offset more than elements. Consumers read it
// for arrays without elements too: Arrow C++ refuses NULL. A column may lack it, so
// the export supplies a zero in the array's kind of memory.

// makeZero makes the zero. In host memory it is a part of the structs.
func (e *exporter) makeZero() error {
	if e.location.deviceType == cabi.DeviceCPU {
		return nil
	}
	for _, block := range e.owner.blocks {
		if m := block.Manager(); locationOfManager(m) == e.location {
			return e.zeroBlock(m, block.WorkStream())
		}
	}
	if m := e.home; m != nil && m.Device().Same(e.device) && locationOfManager(m) == e.location {
		return e.zeroBlock(m, m.Stream())
	}
	return e.zeroAllocation()
}

// zeroBlock makes a block of the zero, in a manager that makes memory of the array's
// kind.
func (e *exporter) zeroBlock(m *memory.Manager, stream *device.Stream) error {
	zero, err := memory.NewSlice[uint8](m, zeroBytes, memory.AllocateOptions{Stream: stream, Tag: tag})
	if err != nil {
		return err
	}
	e.owner.zero = zero.Block()
	if err := zero.Fill(nil, 0); err != nil {
		return err
	}
	e.owner.note(zero.Block())
	e.zero = uintptr(zero.Pointer())
	return nil
}

// zeroAllocation allocates the zero from the driver: imported memory may be of a kind
// that no manager of this process makes.
func (e *exporter) zeroAllocation() error {
	dev := e.device
	driver := dev.Driver()
	var at device.Pointer
	var err error
	var free func() error
	switch e.location.deviceType {
	case cabi.DeviceCUDAHost:
		pool, failure := pinned.Of(dev)
		if failure != nil {
			return failure
		}
		var buffer pinned.Buffer
		buffer, err = pool.Take(zeroBytes)
		at = device.Pointer(uintptr(buffer.Pointer()))
		free = func() error { pool.Put(buffer); return nil }
	case cabi.DeviceCUDAManaged:
		at, err = driver.AllocManaged(zeroBytes)
		free = func() error { return driver.Free(at) }
	default:
		at, err = driver.Alloc(zeroBytes)
		free = func() error { return driver.Free(at) }
	}
	if err != nil {
		return err
	}
	// A consumer's release must not call the driver.
	e.owner.freeZero = func() {
		streamwork.Later(dev, func() {
			if err := free(); err != nil {
				slog.Error("gpuframe: the offset of an empty Arrow array could not be freed", "error", err)
			}
		})
	}
	e.zero = uintptr(at)
	return driver.Memset(at, 0, 1, zeroBytes)
}
