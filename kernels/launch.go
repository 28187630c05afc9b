package kernels

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/streamwork"
)

// Launch enqueues the kernel on the stream and returns. Fields of grid (in
// blocks) and block (in threads) that are zero count as one. Each block gets
// sharedBytes of dynamic shared memory; what a kernel may have beyond 48 KiB is
// asked of the driver. A nil stream is that of the first argument that is memory.
//
// The arguments are the kernel's, in order:
//
//   - memory: a memory.Slice, a *memory.Block or any other memory.Region, which
//     becomes its address; one of no bytes becomes the null pointer;
//   - a *column.Column of a fixed width, which becomes the address of its first
//     value; the validity bitmap is an argument of its own (Column.Validity);
//   - [Output] of memory or of a column: the same, for what the kernel writes to;
//   - numbers of a fixed width, bools (1 byte), complex numbers, arrays of these
//     such as [2]uint64 for a decimal, and named types of all of them;
//   - device.Pointer, an address that gpuframe knows nothing of.
//
// Each is passed at its own width. Where the driver can tell (CUDA 12.4 and
// newer) their number and widths are checked against the kernel's parameters; an
// older driver reads what it is given. A refused argument is an [*ArgumentError].
//
// The kernel runs after the work that is pending on the memory, on whatever streams,
// without the host waiting. Slices of memory.Slice.Unordered are left out of this, for
// callers who have seen to the order. The use of each block is recorded, so that its
// memory, once released, is not given to anyone before the kernel is done. Whether the
// kernel may write to a block is checked for an Output only; for all others it is for
// the caller to heed memory.Block.ReadOnly.
func (f *Function) Launch(stream *device.Stream, grid, block device.Dim3, sharedBytes uint32, args ...any) error {
	a := takeArguments()
	defer a.giveBack()
	err := a.pack(args, f.parameters, f.module.strict)
	if err == nil {
		err = a.hold()
	}
	if err == nil {
		err = f.launch(a, stream, backend.LaunchConfig{Grid: grid, Block: block, SharedBytes: sharedBytes})
	}
	// Only now: with the last reference goes code of others, which may want the
	// locks that launch has held.
	if err = a.release(err); err != nil {
		return fmt.Errorf("kernels: launch %s: %w", f.name, err)
	}
	return nil
}

// launch enqueues a kernel whose arguments are packed and held.
func (f *Function) launch(a *arguments, stream *device.Stream, config backend.LaunchConfig) error {
	m := f.module
	if stream == nil {
		if stream = a.stream(); stream == nil {
			return fmt.Errorf("the stream is nil and no argument is memory that has one: %w", device.ErrInvalidValue)
		}
	}
	if !m.on(stream.Device()) {
		return fmt.Errorf("the stream is of %s, the module of %s: %w", stream.Device(), m.deviceName, device.ErrInvalidValue)
	}
	if err := a.checkRegions(stream, m.strict); err != nil {
		return err
	}
	if err := f.checkBlock(config.Block); err != nil {
		return err
	}
	if err := m.enter(); err != nil {
		return err
	}
	defer m.leave()
	if err := f.allowShared(config.SharedBytes); err != nil {
		return err
	}
	if err := a.order(stream); err != nil {
		return err
	}
	err := stream.Enqueue(func(handle backend.Stream) error {
		config.Stream = handle
		return m.driver.Launch(f.handle, config, a.slots, a.starts)
	})
	if err != nil {
		return err
	}
	if a.unrecorded > 0 {
		m.unrecorded.Add(a.unrecorded)
	}
	if _, err := streamwork.Hold(stream, heldCode{m}); err != nil {
		return err
	}
	return a.record(stream)
}
