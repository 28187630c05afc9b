package selection

import (
	"context"
	"errors"
	"math"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// selector selects the rows that are kept.
type selector interface {
	// few keeps the rows of a small table, with one launch per smallColumns buffers.
	// fits is called before few, and reports whether few is possible.
	few(c *compaction) error
	fits(call *op.Call) (bool, error)
	// many finds the kept rows of a large table and their positions in the result. It
	// may also move the rows of the buffers that prepare has marked as fused.
	many(c *compaction) (found, error)
	// prepare marks buffers as fused. It returns the number of zeroed scratch bytes,
	// and the sizes of other scratch memory, that many needs.
	prepare(c *compaction) (zeroed uint64, scratch []uint64)
}

// found describes the kept rows and the position of each segment's rows in the result.
type found struct {
	mask          maskArguments
	bases, within memory.Slice[uint8]
	shift         uint64
}

// maskArguments are the fields of struct Mask in compact.cuh.
type maskArguments struct {
	bits, valid bits
	rows        memory.Slice[int64]
	capacity    int
}

// compaction is one filter on a GPU.
type compaction struct {
	call *op.Call
	plan *plan
	// rows is the input's row count, or empty. kept is the result's row count.
	rows, kept memory.Slice[int64]
	// capacity is that of the input, room the number of rows of the result that there is memory for.
	capacity, room int
	// numbers are the numbers of the kept rows, if columns have to be gathered.
	numbers     planBuffer
	numberOrder order
	// zeroed and scratch are the memory that the selector has requested.
	zeroed  memory.Slice[uint8]
	scratch []memory.Slice[uint8]
}

// compact keeps the rows of a table that a selector selects. The call has begun.
func compact(ctx context.Context, call *op.Call, table *buffer.Buffer, columns []*column.Column, s selector) (*buffer.Buffer, error) {
	return compactCounted(ctx, call, table, columns, s, unknown)
}

// unknown is the number of the rows that are kept until the device has counted them.
const unknown = -1

// compactCounted is compact if the number of the rows that are kept may be known.
func compactCounted(ctx context.Context, call *op.Call, table *buffer.Buffer, columns []*column.Column, s selector, kept int64) (compacted *buffer.Buffer, err error) {
	capacity, rows, err := table.Extent(ctx)
	if err != nil {
		return nil, err
	}
	room := capacity
	if kept != unknown {
		room = kept
	}
	p, err := newPlan(call.Manager, columns, int(room))
	defer func() { compacted, err = release.OnError(compacted, err, p.release()) }()
	if err != nil {
		return nil, err
	}
	c := &compaction{call: call, plan: p, rows: rows, capacity: int(capacity), room: int(room)}
	if call.Estimating() {
		return nil, c.estimate(ctx, s)
	}
	block, err := c.allocate()
	if err != nil {
		return nil, err
	}
	// The columns hold references to the block.
	defer func() { compacted, err = release.OnError(compacted, err, block.Release()) }()
	// The count has a separate block, so that a holder of the count keeps only the
	// count.
	if c.kept, err = op.NewSlice[int64](call, 1); err != nil {
		return nil, err
	}
	defer func() { compacted, err = release.OnError(compacted, err, c.kept.Release()) }()
	gathered, err := c.run(ctx, s)
	if err != nil {
		return nil, err
	}
	results, err := p.columns(gathered)
	if err = errors.Join(err, release.All(gathered)); err != nil {
		return nil, errors.Join(err, release.All(results))
	}
	count := buffer.Rows{Count: room, Manager: call.Manager}
	if kept == unknown {
		count.Device = c.kept
	}
	return tableOf(table, results, count)
}

// resultSizes returns the sizes of the result's buffers. The bitmaps come first and are
// adjacent, so that one operation zeroes them.
func (c *compaction) resultSizes() ([]uint64, error) {
	buffers := c.plan.buffers
	sizes := make([]uint64, 0, len(buffers)+1)
	for _, isBits := range []bool{true, false} {
		for i := range buffers {
			if (buffers[i].unit == 0) != isBits {
				continue
			}
			bytes, err := buffers[i].outBytes(c.room)
			if err != nil {
				return nil, err
			}
			sizes = append(sizes, bytes)
		}
	}
	return sizes, nil
}

// allocate allocates the memory of the result.
func (c *compaction) allocate() (*memory.Block, error) {
	buffers := c.plan.buffers
	sizes, err := c.resultSizes()
	if err != nil {
		return nil, err
	}
	block, slices, err := c.call.Allocate(sizes...)
	if err != nil {
		return nil, err
	}
	at := 0
	for _, isBits := range []bool{true, false} {
		for i := range buffers {
			if (buffers[i].unit == 0) == isBits {
				buffers[i].out = slices[at]
				at++
			}
		}
	}
	return block, nil
}

// run enqueues all work, and returns the columns that were gathered by row number.
func (c *compaction) run(ctx context.Context, s selector) (gathered []*column.Column, err error) {
	small := c.capacity <= smallRows && uint64(c.capacity)*c.plan.rowBytes() <= smallBytes
	if small {
		if small, err = s.fits(c.call); err != nil {
			return nil, err
		}
	}
	var zeroed uint64
	var sizes []uint64
	if !small {
		zeroed, sizes = s.prepare(c)
	}
	block, err := c.allocateScratch(zeroed, sizes)
	if err != nil {
		return nil, err
	}
	defer func() {
		if failure := block.Release(); failure != nil {
			err = errors.Join(err, failure, release.All(gathered))
			gathered = nil
		}
	}()
	if small {
		err = s.few(c)
	} else {
		err = c.large(s)
	}
	if err != nil || len(c.plan.gathered) == 0 {
		return nil, err
	}
	return gather(ctx, c.call, c.plan.gathered, c.numbered())
}

// numbered is the source of the gathered columns.
func (c *compaction) numbered() *source {
	return &source{
		order: c.numberOrder, indices: c.numbers.out, limit: uint64(c.capacity), capacity: c.room, rows: c.kept, once: true,
	}
}

// allocateScratch allocates memory for intermediate results.
func (c *compaction) allocateScratch(zeroed uint64, sizes []uint64) (*memory.Block, error) {
	if zeroed == 0 && len(sizes) == 0 && len(c.plan.gathered) == 0 {
		return nil, nil
	}
	sizes = c.scratchSizes(zeroed, sizes)
	block, slices, err := c.call.Scratch(sizes...)
	if err != nil {
		return nil, err
	}
	c.zeroed, c.scratch = slices[0], slices[1:]
	if len(c.plan.gathered) > 0 {
		c.numbers.out = c.scratch[len(c.scratch)-1]
	}
	if c.zeroed.Len() > 0 {
		if err := c.zeroed.Fill(c.call.Stream, 0); err != nil {
			return nil, errors.Join(err, block.Release())
		}
	}
	return block, nil
}

// scratchSizes returns the sizes of the zeroed memory, of others, and of the numbers of
// the kept rows.
func (c *compaction) scratchSizes(zeroed uint64, sizes []uint64) []uint64 {
	sizes = append([]uint64{zeroed}, sizes...)
	if len(c.plan.gathered) > 0 {
		c.numbers, c.numberOrder = planBuffer{unit: 4, units: 1, input: absent}, listed32
		if c.capacity > math.MaxInt32 {
			c.numbers.unit, c.numberOrder = 8, listed64
		}
		sizes = append(sizes, uint64(c.room)*uint64(c.numbers.unit))
	}
	return sizes
}

// estimate collects the sizes of the filter. Small tables may take less scratch memory:
// the kernels that are not compiled yet decide.
func (c *compaction) estimate(ctx context.Context, s selector) error {
	result, err := c.resultSizes()
	if err != nil {
		return err
	}
	scratch := c.scratchSizes(s.prepare(c))
	g := newGatherer(ctx, c.call)
	if _, err := g.columns(c.plan.gathered, c.numbered()); err != nil {
		return err
	}
	g.sizes.result = append(append(g.sizes.result, result...), countBytes)
	g.sizes.scratch = append(g.sizes.scratch, scratch...)
	return g.sizes.estimate(c.call)
}

// large keeps the rows of a table of any size.
func (c *compaction) large(s selector) error {
	if err := c.zeroBitmaps(); err != nil {
		return err
	}
	f, err := s.many(c)
	if err != nil {
		return err
	}
	for _, unit := range []int{1, 2, 4, 8, 16} {
		if err := c.values(f, unit); err != nil {
			return err
		}
	}
	return c.bitmaps(f)
}

// zeroBitmaps clears the bitmaps, because several warps set bits of one word.
func (c *compaction) zeroBitmaps() error {
	var first, last column.Bytes
	for i := range c.plan.buffers {
		if b := &c.plan.buffers[i]; b.unit == 0 {
			if first.Len() == 0 {
				first = b.out
			}
			last = b.out
		}
	}
	if first.Len() == 0 {
		return nil
	}
	end := last.Offset() + last.Bytes()
	words, err := memory.View[uint32](first.Block(), first.Offset(), int(end-first.Offset())/4)
	if err != nil {
		return err
	}
	return words.Fill(c.call.Stream, 0)
}

// further reports whether any buffer that is not fused, or any column that is gathered,
// has to be kept.
func (c *compaction) further() bool {
	if len(c.plan.gathered) > 0 {
		return true
	}
	for i := range c.plan.buffers {
		if !c.plan.buffers[i].fused {
			return true
		}
	}
	return false
}
