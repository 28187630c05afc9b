//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"errors"
	"fmt"

	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// DevicePtr returns where a block lies, as the binding has it. The address is
// good while the caller holds a reference to the block. Work that is enqueued by
// the binding is in nobody's books: it goes on the block's own stream, or
// memory.Block.OrderBefore comes before it and memory.Block.RecordUse after it.
func DevicePtr(block *memory.Block) cu.DevicePtr { return cu.DevicePtr(block.Pointer()) }

// Owner says what is to be known of memory that gpuframe does not own. The zero
// value is memory whose contents are there and that nobody wants back.
type Owner struct {
	// Stream is where the contents are being written: gpuframe's work waits for
	// what is enqueued there now. Nil means that the contents are there.
	Stream *device.Stream
	// ReadOnly forbids writing through gpuframe.
	ReadOnly bool
	// Release gives the memory back. It is called exactly once, when the last
	// reference is gone and the work recorded on the block is done. On which
	// goroutine is undefined, so it calls cu.MemFree by way of [Do]. It may be nil.
	Release func() error
}

// FromDevicePtr makes a block of memory that was allocated with the binding, in
// the primary context of the manager's device: of cu.MemAlloc or cu.MemAllocManaged,
// or a part of it. The driver is asked whether it is that, and as long as claimed.
// Nothing is copied, and the memory is in no budget. The owner keeps it until the
// block is released.
//
// On an error nothing is adopted and Release is not called.
func FromDevicePtr(m *memory.Manager, pointer cu.DevicePtr, bytes uint64, owner Owner) (*memory.Block, error) {
	block, err := fromDevicePtr(m, pointer, bytes, owner)
	if err != nil {
		return nil, fmt.Errorf("gorgonia: a block of %v: %w", pointer, err)
	}
	return block, nil
}

func fromDevicePtr(m *memory.Manager, pointer cu.DevicePtr, bytes uint64, owner Owner) (block *memory.Block, err error) {
	if err := onGPU(m.Device()); err != nil {
		return nil, err
	}
	foreign := memory.ForeignMemory{
		Pointer: device.Pointer(pointer), Bytes: bytes, Kind: device.MemoryDevice,
		ReadOnly: owner.ReadOnly, Ordered: owner.Stream == nil, Release: owner.Release,
	}
	if bytes > 0 {
		info, err := m.Device().Driver().PointerInfo(foreign.Pointer)
		if err != nil {
			return nil, err
		}
		foreign.Kind = info.Kind
	}
	if owner.Stream != nil {
		if foreign.Ready, err = owner.Stream.Record(); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, foreign.Ready.Close()) }()
	}
	return m.Adopt(foreign)
}
