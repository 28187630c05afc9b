//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"errors"
	"fmt"

	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// DevicePtr returns the address of a block as the binding's type. The address is valid
// while the caller holds a reference to the block. gpuframe does not know of work that
// the binding enqueues: enqueue it on the block's stream, or call
// memory.Block.OrderBefore before it and memory.Block.RecordUse after it.
func DevicePtr(block *memory.Block) cu.DevicePtr { return cu.DevicePtr(block.Pointer()) }

// Owner describes memory that gpuframe does not own. The zero value describes memory
// that is written on the default stream, without a release function.
type Owner struct {
	// Stream is the stream that writes the contents: gpuframe's work waits for the work
	// enqueued there now. Nil means the default stream, on which cu.MemcpyHtoD copies.
	Stream *device.Stream
	// ReadOnly forbids writing through gpuframe.
	ReadOnly bool
	// Release frees the memory. It is called exactly once, when the last reference is
	// released and the work recorded on the block is done, on any goroutine; call
	// cu.MemFree through [Do]. It may be nil.
	Release func() error
}

// FromDevicePtr makes a block of memory that was allocated with the binding in the
// primary context of the manager's device: memory of cu.MemAlloc or cu.MemAllocManaged,
// or a part of it. It checks with the driver that the memory is of that kind and has
// the given size. It copies nothing, and the memory belongs to no budget.
//
// # Ownership
//
// The owner keeps the memory until the block is released. On an error FromDevicePtr
// takes nothing and does not call Release.
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
