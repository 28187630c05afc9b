package summary

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// TopOptions say what comes first. The zero value is the largest.
type TopOptions struct {
	kernels.Options
	// Smallest puts the smallest values first.
	Smallest bool
}

// Top are the first values of a column, in order, and the rows they are in. The
// caller releases it.
type Top struct {
	// Values have the type of the column, Rows are int64, from 0 on.
	Values, Rows *column.Column
}

// Release releases both columns. Releasing a nil Top does nothing.
func (t *Top) Release() error {
	if t == nil {
		return nil
	}
	return errors.Join(t.Values.Release(), t.Rows.Release())
}

// MaxTop is the most values that [TopK] returns.
const MaxTop = 2048

// TopK returns the k largest or smallest values of a column, the first of them first;
// of equal ones that of the lower row. NaN comes after all numbers, 0 is above −0.
// Nulls are passed over: both columns have min(k, rows of c) rows, and if there are
// fewer values the rows left over are null in both. The column may be of integers,
// floats, and of dates, times, timestamps, durations and intervals of months.
//
// # Waiting
//
// On a GPU nothing waits: if only the device knows the rows of c, the same holds for
// the result. On the host device it waits for pending work with ctx.
//
// # Errors
//
// The error wraps device.ErrNotSupported for other types, and device.ErrInvalidValue if
// k is negative or above [MaxTop].
func TopK(ctx context.Context, c *column.Column, k int, options ...TopOptions) (*Top, error) {
	o, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("summary: top %d: %w", k, err)
	}
	top, err := topK(ctx, c, k, o)
	if err != nil {
		return nil, fmt.Errorf("summary: top %d: %w", k, err)
	}
	return top, nil
}

func topK(ctx context.Context, c *column.Column, k int, options TopOptions) (*Top, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	n, ok := numberOf(c.Type())
	switch {
	case !ok:
		return nil, fmt.Errorf("the type %v: %w", c.Type(), device.ErrNotSupported)
	case k < 0 || k > MaxTop:
		return nil, fmt.Errorf("not 0 to %d: %w", MaxTop, device.ErrInvalidValue)
	}
	if k = min(k, c.Len()); k == 0 {
		return newTop(c, 0, topBuffers{})
	}
	call, in, err := begin(ctx, c, options.Options)
	if err != nil {
		return nil, err
	}
	if call.OnHost() {
		if in.rows, err = c.NumRows(ctx); err != nil {
			return nil, err
		}
		in.counted = memory.Slice[int64]{}
	}
	// If the host knows the rows by now, they may be fewer than the column has elements.
	if k = min(k, in.rows); k == 0 {
		return newTop(c, 0, topBuffers{})
	}
	t := selecting{number: n, k: k, in: in, smallest: options.Smallest}
	if err := t.allocate(&call); err != nil {
		return nil, err
	}
	switch {
	case call.OnHost():
		err = t.onHost()
	case in.rows <= MaxTop:
		err = t.sort(call, memory.Slice[uint8]{})
	default:
		err = t.launch(call)
	}
	var top *Top
	if err == nil {
		top, err = newTop(c, k, t.topBuffers)
	}
	return top, errors.Join(err, t.release())
}

// topBuffers are the results of a call of TopK.
type topBuffers struct {
	block  *memory.Block
	values memory.Slice[uint8]
	rows   memory.Slice[int64]
	// valid is the bitmap of both columns, in whole words.
	valid memory.Slice[uint8]
	// count is the number of rows, in a block of its own: it may live longer than the
	// columns. It is empty if the host knows the number.
	count memory.Slice[int64]
}

func (t *selecting) allocate(call *op.Call) (err error) {
	block, buffers, err := call.Allocate(uint64(t.k+31)/32*4, uint64(t.k*t.number.bytes), uint64(t.k)*8)
	if err != nil {
		return err
	}
	t.topBuffers = topBuffers{block: block, valid: buffers[0], values: buffers[1]}
	t.rows, err = memory.Reinterpret[int64](buffers[2])
	if err == nil && t.in.counted.Len() > 0 {
		t.count, err = op.NewSlice[int64](call, 1)
	}
	if err != nil {
		return errors.Join(err, t.release())
	}
	return nil
}

func (b topBuffers) release() error {
	if b.count.Block() != nil {
		return errors.Join(b.count.Release(), b.block.Release())
	}
	return b.block.Release()
}

// newTop makes the columns of the k first values of c.
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

// selecting is one call of TopK.
type selecting struct {
	number   number
	k        int
	in       input
	smallest bool
	topBuffers
}

// turn returns the bits that the kernels turn over for the first value to have the
// least key.
func (t selecting) turn() uint64 {
	turn := uint64(0)
	if t.number.class == signed {
		turn = 1 << (8*t.number.bytes - 1)
	}
	if !t.smallest {
		turn = ^turn
	}
	return turn
}
