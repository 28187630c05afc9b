package kernels

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
)

// Launch enqueues the kernel on the stream and returns. Fields of grid (in blocks) and
// block (in threads) that are zero count as one. Each block gets sharedBytes of dynamic
// shared memory, up to the device's limit. A nil stream means the stream of the first
// memory argument.
//
// The arguments are the kernel's, in order:
//
//   - memory: a memory.Slice, a *memory.Block or another memory.Region, which
//     becomes its address; an empty one becomes the null pointer;
//   - a *column.Column of a fixed width, which becomes the address of its first
//     value; the validity bitmap is a separate argument (Column.Validity);
//   - [Output] of memory or of a column that the kernel writes to;
//   - numbers of a fixed width, bools (1 byte), complex numbers, arrays of these
//     such as [2]uint64 for a decimal, and named types of all of them;
//   - device.Pointer, an address without a block.
//
// Each argument is passed at its width.
//
// # Errors
//
// A refused argument is an [*ArgumentError]. Drivers since CUDA 12.4 report the kernel's
// parameters, and the number and widths of the arguments are checked against them; an
// older driver reads the bytes that it finds. Only memory of an Output is checked for
// writing; for other arguments the caller must respect memory.Block.ReadOnly.
//
// # Order
//
// The kernel runs after pending work on the memory, on all streams, without a wait on the
// host. Slices of memory.Slice.Unordered are exempt; the caller orders them. The use of
// each block is recorded, so that released memory is not reused before the kernel is
// done.
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
	// Only after the launch: the last reference runs other libraries' code, which may
	// need locks that launch has held.
	if err = a.release(err); err != nil {
		return fmt.Errorf("kernels: launch %s: %w", f.name, err)
	}
	return nil
}

// launch enqueues a kernel with packed and held arguments.
func (f *Function) launch(a *arguments, stream *device.Stream, config backend.LaunchConfig) error {
	m := f.module
	if stream == nil {
		if stream = a.stream(); stream == nil {
			return fmt.Errorf("the stream is nil and no memory argument has one: pass a stream: %w", device.ErrInvalidValue)
		}
	}
	if !m.on(stream.Device()) {
		return fmt.Errorf("the stream is on %s, the module on %s: %w", stream.Device(), m.deviceName, device.ErrInvalidValue)
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
	reads := f.readsSettled.Load()
	if err := a.order(stream, reads); err != nil {
		return err
	}
	err := stream.Enqueue(func(handle backend.Stream) error {
		config.Stream = handle
		return m.driver.Launch(f.handle, config, a.slots, a.starts)
	})
	if err != nil {
		return err
	}
	m.counters.launches.Add(1)
	if a.unrecorded > 0 {
		m.unrecorded.Add(a.unrecorded)
	}
	if _, err := streamwork.Hold(stream, heldCode{m}); err != nil {
		return err
	}
	return a.record(stream, reads)
}
