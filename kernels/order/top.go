package order

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/keys/numbers"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// TopOptions configure [TopKColumn]. The zero value puts the largest values first.
type TopOptions struct {
	kernels.Options
	// Smallest puts the smallest values first.
	Smallest bool
}

// Top holds the first values of a column in order, and the rows they are in. The
// caller releases it.
type Top struct {
	// Values has the type of the column. Rows holds the row of each value as an int64,
	// counted from 0.
	Values, Rows *column.Column
}

// Release releases both columns. Releasing a nil Top does nothing.
func (t *Top) Release() error {
	if t == nil {
		return nil
	}
	return errors.Join(t.Values.Release(), t.Rows.Release())
}

// MaxTop is the largest number of values that [TopKColumn] selects without a sort.
const MaxTop = 2048

// TopKColumn returns the k largest or smallest values of a column in order, and the rows
// that they are in. Of equal values the one in the lower row comes first. NaN comes after
// all numbers, also after the smallest; −0 and 0 are equal. Nulls are skipped. Both
// columns of the result have min(k, rows of c) rows; if the column has fewer values than
// that, the remaining rows are null in both. [TopK] returns whole rows of a table.
//
// # Waiting
//
// On a GPU TopKColumn does not wait for numbers and temporal values if k is at most
// [MaxTop]; otherwise it waits when [TopK] does. If only the device knows the number of
// rows of c, only the device knows that of the result. On the host device TopKColumn
// waits for pending work on c, until ctx is done.
//
// # Errors
//
// The error wraps device.ErrNotSupported for values without an order, device.ErrInvalidValue
// if k is negative, and [ErrTooLong] for more than [MaxRows] rows.
func TopKColumn(ctx context.Context, c *column.Column, k int, options ...TopOptions) (*Top, error) {
	o, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("order: top %d: %w", k, err)
	}
	top, err := topColumn(ctx, c, k, o)
	if err != nil {
		return nil, fmt.Errorf("order: top %d: %w", k, err)
	}
	return top, nil
}

func topColumn(ctx context.Context, c *column.Column, k int, options TopOptions) (*Top, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := checkCount(int64(k)); err != nil {
		return nil, err
	}
	if err := rowkey.Check(c.Type(), 0); err != nil {
		return nil, err
	}
	if number, ok := numbers.TypeOf(c.Type()); ok && gathered(c, k, number) {
		return topSelected(ctx, c, k, number, false, options)
	}
	return topSorted(ctx, c, k, options)
}

// gathered reports whether topSelected finds the first k values of a column. Otherwise all rows
// are sorted or, on the host, other candidates are.
func gathered(c *column.Column, k int, number numbers.Type) bool {
	s := topSelection{number: number, k: k, in: op.View{Rows: c.Len()}}
	return k <= MaxTop || c.Manager() != nil && c.Manager().Device().Kind() != device.Host && s.gathers()
}

// topSelected selects values of a number format. NaN comes last, or first if nanFirst is
// set, which kernels alone know.
func topSelected(ctx context.Context, c *column.Column, k int, number numbers.Type, nanFirst bool, options TopOptions) (*Top, error) {
	if k = min(k, c.Len()); k == 0 {
		return newTop(c, 0, topBuffers{})
	}
	call, err := op.Begin(ctx, options.Options, c)
	if err != nil {
		return nil, err
	}
	in, err := call.View(c)
	if err != nil {
		return nil, err
	}
	if call.OnHost() {
		if !call.Estimating() { // an estimate does not wait, and is of the capacity
			if in.Rows, err = c.NumRows(ctx); err != nil {
				return nil, err
			}
		}
		in.Counted = memory.Slice[int64]{}
	}
	// If the host knows the rows by now, they may be fewer than the column has elements.
	if k = min(k, in.Rows); k == 0 {
		return newTop(c, 0, topBuffers{})
	}
	s := topSelection{number: number, k: k, in: in, smallest: options.Smallest, nanFirst: nanFirst}
	if call.Estimating() {
		sizes := s.resultBytes()
		return nil, call.Estimate(sizes[:], s.scratchBytes(call.OnHost()))
	}
	if err := s.allocate(&call); err != nil {
		return nil, err
	}
	if call.OnHost() {
		err = s.onHost()
	} else {
		err = s.launch(&call)
	}
	var top *Top
	if err == nil {
		top, err = newTop(c, k, s.topBuffers)
	}
	return top, errors.Join(err, s.release())
}

// topSelection is one call of TopK.
type topSelection struct {
	number   numbers.Type
	k        int
	in       op.View
	smallest bool
	nanFirst bool // of floats on a GPU
	topBuffers
}

// topBuffers is the memory of a result.
type topBuffers struct {
	block  *memory.Block
	values memory.Slice[uint8]
	rows   memory.Slice[int64]
	// valid is the bitmap of both columns, in whole words.
	valid memory.Slice[uint8]
	// count is the number of rows. It has a separate block because it may outlive the
	// columns. Both are empty if the host knows the number.
	count      memory.Slice[int64]
	countBlock *memory.Block
}

// resultBytes returns the bytes of the bitmap, the values, the rows and the row count.
func (s *topSelection) resultBytes() [4]uint64 {
	k := uint64(s.k)
	return [4]uint64{(k + 31) / 32 * 4, k * uint64(s.number.Bytes), k * 8, s.in.Counted.Bytes()}
}

func (s *topSelection) allocate(call *op.Call) (err error) {
	sizes := s.resultBytes()
	block, buffers, err := call.Allocate(sizes[:3]...)
	if err != nil {
		return err
	}
	s.topBuffers = topBuffers{block: block, valid: buffers[0], values: buffers[1]}
	s.rows, err = memory.Reinterpret[int64](buffers[2])
	if err == nil && sizes[3] > 0 {
		err = s.allocateCount(call, sizes[3])
	}
	if err != nil {
		return errors.Join(err, s.release())
	}
	return nil
}

func (s *topSelection) allocateCount(call *op.Call, bytes uint64) error {
	block, buffers, err := call.Allocate(bytes)
	if err != nil {
		return err
	}
	s.countBlock = block
	s.count, err = memory.Reinterpret[int64](buffers[0])
	return err
}

func (b topBuffers) release() error {
	if b.countBlock != nil {
		return errors.Join(b.countBlock.Release(), b.block.Release())
	}
	return b.block.Release()
}

// newTop makes the columns of the first k values of c.
func newTop(c *column.Column, k int, b topBuffers) (*Top, error) {
	common := column.Data{Length: k, NullCount: column.UnknownNullCount, Manager: c.Manager()}
	if b.block != nil {
		common.Manager = b.block.Manager()
	}
	if k == 0 {
		common.NullCount = 0
	}
	if b.count.Len() > 0 {
		count, err := column.NewRowCount(b.count, int64(k))
		if err != nil {
			return nil, err
		}
		defer count.Release()
		common.Rows = count
	}
	data := common
	data.Type, data.Buffers = c.Type(), []column.Bytes{b.valid, b.values}
	values, err := column.New(data)
	if err != nil {
		return nil, err
	}
	data = common
	data.Type, data.Buffers = arrow.PrimitiveTypes.Int64, []column.Bytes{b.valid, b.rows.AsBytes()}
	rows, err := column.New(data)
	if err != nil {
		return nil, errors.Join(err, values.Release())
	}
	return &Top{values, rows}, nil
}
