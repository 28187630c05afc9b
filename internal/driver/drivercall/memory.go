package drivercall

import (
	"math/bits"
	"unsafe"

	"github.com/gpuframe/gpuframe/device/backend"
)

// Bytes checks the size of an allocation.
func (g *Guard) Bytes(function string, bytes uint64) error {
	if err := g.Open(function); err != nil {
		return err
	}
	return g.notZero(function, bytes)
}

func (g *Guard) notZero(function string, bytes uint64) error {
	if bytes == 0 {
		return g.Refuse(function, "the bytes are zero")
	}
	return nil
}

// Pointer checks the address of an allocation.
func (g *Guard) Pointer(function string, pointer backend.Pointer) error {
	if err := g.Open(function); err != nil {
		return err
	}
	if pointer == 0 {
		return g.Refuse(function, "the pointer is zero")
	}
	return nil
}

// HostPointer checks the address of page-locked memory.
func (g *Guard) HostPointer(function string, pointer unsafe.Pointer) error {
	if err := g.Open(function); err != nil {
		return err
	}
	if pointer == nil {
		return g.Refuse(function, "the pointer is nil")
	}
	return nil
}

// HostRange checks memory that is to be page-locked.
func (g *Guard) HostRange(function string, pointer unsafe.Pointer, bytes uint64) error {
	if err := g.Open(function); err != nil {
		return err
	}
	if pointer == nil || bytes == 0 {
		return g.Refuse(function, "the pointer is nil or the bytes are zero")
	}
	return nil
}

// Copy checks the addresses of a copy and reports whether the copy has any bytes. A
// copy of zero bytes succeeds without a driver call, with any addresses; all others
// need addresses that are not zero.
func (g *Guard) Copy(function string, destination, source uintptr, bytes uint64) (bool, error) {
	if err := g.Open(function); err != nil {
		return false, err
	}
	if bytes == 0 {
		return false, nil
	}
	if destination == 0 || source == 0 {
		return false, g.Refuse(function, "the destination or the source is nil")
	}
	return true, nil
}

// Fill checks a fill of count values of width bytes and reports whether the fill has
// any bytes. A fill of zero bytes succeeds without a driver call.
func (g *Guard) Fill(function string, destination backend.Pointer, width int, count uint64) (bool, error) {
	if err := g.Open(function); err != nil {
		return false, err
	}
	if width != 1 && width != 2 && width != 4 {
		return false, g.Refuse(function, "the width is %d bytes, not 1, 2 or 4", width)
	}
	if count == 0 {
		return false, nil
	}
	if destination == 0 {
		return false, g.Refuse(function, "the destination is zero")
	}
	if uint64(destination)%uint64(width) != 0 {
		return false, g.Refuse(function, "the destination %v is not aligned to the width of %d bytes", destination, width)
	}
	if high, _ := bits.Mul64(count, uint64(width)); high != 0 {
		return false, g.Refuse(function, "%d values of %d bytes exceed the address space", count, width)
	}
	return true, nil
}

// Managed checks an allocation of managed memory.
func (g *Guard) Managed(function string, bytes uint64) error {
	if err := g.Open(function); err != nil {
		return err
	}
	if !g.manages {
		return g.lacks(function, "the device has no managed memory: use Alloc")
	}
	return g.notZero(function, bytes)
}

// Prefetch checks a prefetch of managed memory.
func (g *Guard) Prefetch(function string, pointer backend.Pointer, bytes uint64) error {
	if err := g.Open(function); err != nil {
		return err
	}
	if !g.prefetches {
		return g.lacks(function, "the device cannot share managed memory with the processor while it has work")
	}
	if pointer == 0 || bytes == 0 {
		return g.Refuse(function, "the pointer or the bytes are zero")
	}
	return nil
}
