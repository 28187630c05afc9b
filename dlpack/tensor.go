package dlpack

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/memory"
)

// Tensor holds an exported tensor: a DLManagedTensorVersioned, or a DLManagedTensor,
// in C memory. The C struct keeps the device memory alive until its deleter has run.
// A Tensor is safe for concurrent use.
type Tensor struct {
	export    export
	pointer   unsafe.Pointer
	legacy    bool
	copied    bool
	bitOffset int
	detached  atomic.Bool

	// String uses these fields.
	device   cabi.Device
	dataType cabi.DataType
	rows     int
	inner    []int64
}

// Pointer returns the C struct, or nil after the tensor has ended.
//
// # Ownership
//
// The Tensor keeps the struct. Read it, or pass it to a function that takes the
// tensor over before it returns, such as [Import].
func (t *Tensor) Pointer() unsafe.Pointer {
	if t == nil || t.export.ended.Load() {
		return nil
	}
	return t.pointer
}

// Detach returns the C struct for a consumer, which must call its deleter once, on
// any thread. After Detach, Release does nothing. Detach returns nil if the tensor
// has been detached or has ended before.
func (t *Tensor) Detach() unsafe.Pointer {
	if t.Pointer() == nil || t.detached.Swap(true) {
		return nil
	}
	return t.pointer
}

// Release ends the tensor, unless a consumer has taken it over with Detach or has run
// its deleter. Further calls do nothing, so that a deferred call suits every path.
// The column may be released before or after.
func (t *Tensor) Release() error {
	if t == nil || t.detached.Swap(true) {
		return nil
	}
	owner, ok := cabi.Take(t.export.handle)
	if !ok {
		return nil
	}
	return during("release", owner.(*export).end(nil))
}

// Legacy reports whether the C struct is a DLManagedTensor, which is older than
// DLPack 1.0.
func (t *Tensor) Legacy() bool { return t.legacy }

// Copied reports whether the tensor's memory was made for it, so that writes to it do
// not change the columns. It is true for booleans and for tensors that [ExportMatrix]
// gathered.
func (t *Tensor) Copied() bool { return t.copied }

// BitOffset returns, for a tensor of [ExportValidity], the bit of the first byte that
// belongs to the first element, counted from the least significant. It returns zero
// for every other tensor.
func (t *Tensor) BitOffset() int { return t.bitOffset }

// export is the owner of an exported tensor. It keeps the tensor's memory alive.
type export struct {
	handle cabi.Handle
	// block is nil for a tensor without memory.
	block *memory.Block
	// The memory is reused only after the work on consumer. It may be nil.
	consumer *device.Stream
	ended    atomic.Bool
}

// Ended implements [cabi.Owner].
func (e *export) Ended() { e.finish(nil) }

// finish ends the export if no caller can receive an error.
func (e *export) finish(done *device.Stream) {
	if err := e.end(done); err != nil {
		slog.Error("gpuframe: memory of a DLPack tensor could not be released", "error", err)
	}
}

// end orders the consumer's work before all later use of the memory, and releases it.
// The work on the stream done has been ordered already.
func (e *export) end(done *device.Stream) error {
	e.ended.Store(true)
	if e.block == nil {
		return nil
	}
	var err error
	if e.consumer != nil && !e.consumer.Equal(done) {
		err = orderAfter(e.block, e.consumer)
	}
	return errors.Join(err, e.block.EndExport())
}
