package op

import (
	"errors"
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/memory"
)

// alignment is the alignment of each buffer of a result; its length is padded to a
// multiple of it, as in package column.
const alignment = 256

// most is the largest size of a block before the last buffer is rounded up.
const most = math.MaxInt64 - alignment

// Allocate allocates one block with buffers of the given sizes and returns them. The
// caller releases the block after it has made columns of the buffers, because the
// columns hold references. Buffers of zero bytes are empty slices. If all buffers are
// empty the block is nil. The contents are undefined.
//
// # Waiting
//
// If other requests wait for memory of the manager, Allocate waits for its turn until
// the context of the call is done. On the host it also waits for work that the resource
// has enqueued on the memory, a fill for example, because the operator writes to the
// memory immediately.
func (c *Call) Allocate(bytes ...uint64) (*memory.Block, []memory.Slice[uint8], error) {
	return c.allocate(c.Tag, bytes)
}

// ScratchTag is the tag of memory that operators hold only while they run.
const ScratchTag = "operator scratch"

// Scratch allocates memory for intermediate results, like [Call.Allocate], under
// [ScratchTag]. The caller releases the block when the last kernel that uses it is
// enqueued. Release also accepts a nil block.
func (c *Call) Scratch(bytes ...uint64) (*memory.Block, []memory.Slice[uint8], error) {
	return c.allocate(ScratchTag, bytes)
}

// Bytes returns the size that [Call.Allocate] allocates for buffers of the given sizes.
func Bytes(bytes ...uint64) (uint64, error) {
	total := uint64(0)
	for _, b := range bytes {
		if b > most || total > most-b {
			return 0, fmt.Errorf("%d bytes beside %d: %w", b, total, memory.ErrOverflow)
		}
		total += (b + alignment - 1) &^ (alignment - 1)
	}
	return total, nil
}

func (c *Call) allocate(tag string, bytes []uint64) (*memory.Block, []memory.Slice[uint8], error) {
	if c.estimate != nil {
		return nil, nil, errNoEstimate
	}
	total, err := Bytes(bytes...)
	if err != nil {
		return nil, nil, err
	}
	slices := make([]memory.Slice[uint8], len(bytes))
	if total == 0 {
		return nil, slices, nil
	}
	options := memory.AllocateOptions{Stream: c.Stream, Tag: tag}
	allocate := func() (*memory.Block, error) { return c.Manager.AllocateContext(c.ctx, total, options) }
	if options.Spare = c.Spare; c.Spare {
		allocate = func() (*memory.Block, error) { return c.Manager.Allocate(total, options) }
	}
	block, err := allocate()
	if err != nil {
		return nil, nil, err
	}
	if err := c.waitWritable(); err != nil {
		return nil, nil, errors.Join(err, block.Release())
	}
	offset := uint64(0)
	for i, b := range bytes {
		if b == 0 {
			continue
		}
		if slices[i], err = memory.View[uint8](block, offset, int(b)); err != nil {
			return nil, nil, errors.Join(err, block.Release())
		}
		offset += (b + alignment - 1) &^ (alignment - 1)
	}
	return block, slices, nil
}

// NewSlice allocates a slice of n elements in a separate block, which the caller
// releases. It waits like [Call.Allocate].
func NewSlice[T memory.Element](c *Call, n int) (memory.Slice[T], error) {
	if c.estimate != nil {
		return memory.Slice[T]{}, errNoEstimate
	}
	slice, err := memory.NewSliceContext[T](c.ctx, c.Manager, n, memory.AllocateOptions{Stream: c.Stream, Tag: c.Tag})
	if err != nil {
		return slice, err
	}
	if err := c.waitWritable(); err != nil {
		return memory.Slice[T]{}, errors.Join(err, slice.Release())
	}
	return slice, nil
}

// waitWritable waits on the host until new memory can be written to.
func (c *Call) waitWritable() error {
	if !c.OnHost() {
		return nil
	}
	return c.WaitIdle(c.ctx)
}
