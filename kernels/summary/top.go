package summary

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/internal/operator"
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
// Nulls are passed over: both columns have k rows, or as many as c has, and where
// there are fewer values those left over are null in both. The column may be of
// integers, floats, and of dates, times, timestamps, durations and intervals of
// months.
//
// ctx is waited with on the host device only. The error wraps device.ErrNotSupported
// for other types, device.ErrInvalidValue where k is negative or above [MaxTop].
func TopK(ctx context.Context, c *column.Column, k int, options ...TopOptions) (*Top, error) {
	o, err := operator.Only(options)
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
	k = min(k, c.Len())
	if k == 0 {
		return newTop(c.Type(), 0, make([]memory.Slice[uint8], 3))
	}
	call, in, err := begin(ctx, c, options.Options)
	if err != nil {
		return nil, err
	}
	// The bitmap, which both columns share, is written in whole words.
	block, buffers, err := call.Allocate(uint64(k+31)/32*4, uint64(k*n.bytes), uint64(k)*8)
	if err != nil {
		return nil, err
	}
	t := selecting{number: n, k: k, in: in, smallest: options.Smallest, valid: buffers[0], values: buffers[1]}
	t.rows, err = memory.Reinterpret[int64](buffers[2])
	switch {
	case err != nil:
	case call.OnHost():
		err = t.onHost()
	case c.Len() <= MaxTop:
		err = t.sort(call, memory.Slice[uint8]{})
	default:
		err = t.launch(call)
	}
	var top *Top
	if err == nil {
		top, err = newTop(c.Type(), k, buffers)
	}
	return top, errors.Join(err, block.Release())
}

func newTop(t arrow.DataType, k int, buffers []memory.Slice[uint8]) (*Top, error) {
	nulls := column.UnknownNullCount
	if k == 0 {
		nulls = 0
	}
	values, err := column.New(column.Data{Type: t, Length: k, NullCount: nulls, Buffers: buffers[:2]})
	if err != nil {
		return nil, err
	}
	rows, err := column.New(column.Data{
		Type: arrow.PrimitiveTypes.Int64, Length: k, NullCount: nulls, Buffers: []column.Bytes{buffers[0], buffers[2]},
	})
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
	values   memory.Slice[uint8]
	rows     memory.Slice[int64]
	valid    memory.Slice[uint8]
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
