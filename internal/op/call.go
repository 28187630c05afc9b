package op

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Call is one run of an operator.
type Call struct {
	Manager *memory.Manager
	Stream  *device.Stream
	Tag     string
	// Spare makes allocations fail at once if the budget or the device has too little free memory: they do not wait,
	// and call no [memory.Reclaimer].
	Spare bool
	// estimate, if it is not nil, receives the sizes of allocations. The operator then
	// does not run.
	estimate *kernels.Estimate
	// ctx ends the waits of Allocate and NewSlice. A Call does not outlive the function
	// that began it.
	ctx context.Context
}

// Begin checks that the inputs are usable and makes the stream wait for pending work on
// them and on their row counts. Stream and manager are those of the options, or of the
// first input with memory; without memory the manager is that of the first input that
// has one. On the host Begin waits until the stream is idle or the context ends,
// because the operator reads the memory next.
func Begin(ctx context.Context, options kernels.Options, inputs ...*column.Column) (Call, error) {
	call := Call{Manager: options.Manager, Stream: options.Stream, Tag: options.Tag, estimate: options.Estimate, ctx: ctx}
	for i, input := range inputs {
		if err := input.Check(); err != nil {
			return Call{}, fmt.Errorf("input %d: %w", i, err)
		}
		for block := range input.Blocks {
			call.adopt(block)
		}
	}
	for _, input := range inputs {
		if call.Manager == nil {
			call.Manager = input.Manager()
		}
	}
	if call.Manager == nil {
		return Call{}, fmt.Errorf("the inputs were made without memory and without a manager: set Options.Manager: %w", device.ErrInvalidValue)
	}
	if call.Stream == nil {
		call.Stream = call.Manager.Stream()
	}
	if !call.Stream.Device().Same(call.Manager.Device()) {
		return Call{}, fmt.Errorf("the stream is of %s, the manager of %s: %w",
			call.Stream.Device(), call.Manager.Device(), device.ErrInvalidValue)
	}
	if call.estimate != nil {
		return call, nil // nothing will run
	}
	for i, input := range inputs {
		if err := call.order(input); err != nil {
			return Call{}, fmt.Errorf("input %d: %w", i, err)
		}
	}
	if call.OnHost() {
		return call, call.WaitIdle(ctx)
	}
	return call, nil
}

// adopt uses the stream and the manager of a block, unless they are already set.
func (c *Call) adopt(block *memory.Block) {
	if c.Stream == nil {
		c.Stream = block.WorkStream()
	}
	if c.Manager == nil {
		c.Manager = block.Manager()
	}
}

func (c *Call) order(input *column.Column) error {
	var last *memory.Block
	for block := range input.Blocks {
		if block == last {
			continue // the buffers often share a block
		}
		last = block
		if err := c.orderBlock(block); err != nil {
			return err
		}
	}
	if count := input.DeviceRows().Block(); count != nil && count != last {
		return c.orderBlock(count)
	}
	return nil
}

// OrderBehind makes the stream wait for pending work on memory that is not part of an
// input of [Begin], such as the row count of a table. It accepts nil. In a call that is
// only estimated it does nothing.
func (c *Call) OrderBehind(block *memory.Block) error {
	if block == nil || c.estimate != nil {
		return nil
	}
	return c.orderBlock(block)
}

func (c *Call) orderBlock(block *memory.Block) error {
	if !block.Device().Same(c.Stream.Device()) {
		return fmt.Errorf("the memory is on %s, the stream on %s: %w", block.Device(), c.Stream.Device(), device.ErrInvalidValue)
	}
	return block.OrderRead(c.Stream)
}

// WaitIdle waits until the stream is idle or the context ends. Operators on the host call
// it before they read the results of enqueued work.
func (c *Call) WaitIdle(ctx context.Context) error {
	// Synchronize would accept a closed stream, which a launch refuses.
	if err := c.Stream.Enqueue(func(backend.Stream) error { return nil }); err != nil {
		return err
	}
	return c.Stream.Synchronize(ctx)
}

// Context returns the context of the call.
func (c *Call) Context() context.Context { return c.ctx }

// Kernel returns a function from a file of the family's kernels, compiled for the
// device of the call. If another call is compiling it, Kernel waits until the context
// of this call is done.
func (c *Call) Kernel(set *kernelset.Set, file, entry string) (*kernels.Function, error) {
	return set.Kernel(c.ctx, c.Stream.Device(), file, entry)
}

// Instance returns an instance of a template of the family's kernels: see [Call.Kernel].
func (c *Call) Instance(set *kernelset.Set, i *kernelset.Instance) (*kernels.Function, error) {
	return set.Instance(c.ctx, c.Stream.Device(), i)
}

// OnHost reports whether the operator computes on the host device.
func (c *Call) OnHost() bool { return c.Stream.Device().Kind() == device.Host }
