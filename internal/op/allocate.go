package op

import (
	"errors"
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/memory"
)

// alignment is where each buffer of a result begins, and padding what its length
// is rounded up to, as package column has it.
const alignment = 256

// most is what a block can have, before the last buffer is rounded up.
const most = math.MaxInt64 - alignment

// Allocate allocates one block that holds buffers of the given bytes and returns
// them. The caller releases the block when it has made columns of the buffers,
// which hold references of their own. Buffers of no bytes are empty slices. If no
// buffer has any bytes the block is nil. The contents are undefined.
//
// # Waiting
//
// If other requests wait for memory of the manager, Allocate waits for its turn until
// the context of the call is done. On the host it also waits for what the resource has
// enqueued on the memory, a fill for example, since the operator writes to it at once.
func (c *Call) Allocate(bytes ...uint64) (*memory.Block, []memory.Slice[uint8], error) {
	return c.allocate(c.Tag, bytes)
}

// ScratchTag is the tag of memory that operators hold only while they run.
const ScratchTag = "operator scratch"

// Scratch allocates memory that the operator needs on the way, as [Call.Allocate]
// does, under [ScratchTag]. The caller releases the block when the last kernel that uses
// it is enqueued. A nil block can be released, too.
func (c *Call) Scratch(bytes ...uint64) (*memory.Block, []memory.Slice[uint8], error) {
	return c.allocate(ScratchTag, bytes)
}

// Bytes returns what [Call.Allocate] allocates for buffers of the given bytes.
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
	block, err := c.Manager.AllocateContext(c.ctx, total, memory.AllocateOptions{Stream: c.Stream, Tag: tag})
	if err != nil {
		return nil, nil, err
	}
	if err := c.settleNew(); err != nil {
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

// NewSlice allocates a slice of n elements in a block of its own, which the caller
// releases. It waits as [Call.Allocate] does.
func NewSlice[T memory.Element](c *Call, n int) (memory.Slice[T], error) {
	if c.estimate != nil {
		return memory.Slice[T]{}, errNoEstimate
	}
	slice, err := memory.NewSliceContext[T](c.ctx, c.Manager, n, memory.AllocateOptions{Stream: c.Stream, Tag: c.Tag})
	if err != nil {
		return slice, err
	}
	if err := c.settleNew(); err != nil {
		return memory.Slice[T]{}, errors.Join(err, slice.Release())
	}
	return slice, nil
}

// settleNew waits on the host until new memory can be written to.
func (c *Call) settleNew() error {
	if !c.OnHost() {
		return nil
	}
	return c.Settle(c.ctx)
}
