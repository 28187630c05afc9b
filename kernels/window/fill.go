package window

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/lookback"
	"github.com/gpuframe/gpuframe/internal/op"
)

// FillForward gives each null row the last value before it; rows ahead of the first
// value stay null. The column may be of booleans and of every type whose values are
// 1, 2, 4, 8, 16 or 32 bytes each; the error wraps device.ErrNotSupported for others.
// A column that has no nulls is returned as it is, retained. ctx is waited with on
// the host device only.
func FillForward(ctx context.Context, c *column.Column, options ...Options) (*column.Column, error) {
	result, err := runFill(ctx, c, options, false)
	if err != nil {
		return nil, fmt.Errorf("window: fill forward: %w", err)
	}
	return result, nil
}

// FillBackward gives each null row the next value after it; rows behind the last
// value stay null. All else is as in [FillForward].
func FillBackward(ctx context.Context, c *column.Column, options ...Options) (*column.Column, error) {
	result, err := runFill(ctx, c, options, true)
	if err != nil {
		return nil, fmt.Errorf("window: fill backward: %w", err)
	}
	return result, nil
}

func runFill(ctx context.Context, c *column.Column, given []Options, backward bool) (*column.Column, error) {
	options, err := op.Only(given)
	if err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	width, err := bitsOf(c.Type())
	switch {
	case err != nil:
		return nil, err
	case c.NullCount() == 0 || c.Buffer(0).Len() == 0:
		return c, c.Retain()
	}
	call, err := op.Begin(ctx, options.Options, c)
	if err != nil {
		return nil, err
	}
	in, err := viewBits(ctx, c, width)
	if err != nil {
		return nil, err
	}
	bytes := uint64(c.Len()) * uint64(width/8)
	if width == 1 {
		bytes = bitmapBytes(c.Len())
	}
	return newColumn(call, in, bytes, func(out output) error {
		if call.OnHost() {
			return fillOnHost(in, out, width, backward)
		}
		return launchFill(call, in, out, width, backward)
	})
}

// bitsOf returns the width of a type's values.
func bitsOf(t arrow.DataType) (int, error) {
	if t.ID() == arrow.BOOL {
		return 1, nil
	}
	width, ok := column.ElementBytes(t)
	switch {
	case ok && width <= 32 && width > 0 && width&(width-1) == 0:
		return 8 * width, nil
	case ok:
		return 0, fmt.Errorf("the type %v, of %d bytes each: %w", t, width, device.ErrNotSupported)
	}
	return 0, fmt.Errorf("the type %v: %w", t, device.ErrNotSupported)
}

// viewBits is view for booleans too: their values begin with the same bit of a byte
// as the validity does.
func viewBits(ctx context.Context, c *column.Column, width int) (input, error) {
	if width > 1 {
		return view(ctx, c)
	}
	in := input{column: c}
	var err error
	if in.rows, in.counted, err = c.Extent(ctx); err != nil {
		return input{}, err
	}
	if in.valid, in.bit, err = c.Validity(); err != nil {
		return input{}, err
	}
	in.values, err = c.Buffer(1).Slice(c.Offset()/8, (c.Offset()+c.Len()+7)/8)
	return in, err
}

// fillRows is how many rows a block of the kernels takes at a time.
const (
	fillThreads = 256
	fillRows    = 32 * fillThreads
)

// fillKernels are the names of the kernels by the logarithm of the width in bits.
var fillKernels = [...]string{0: "fill_1", 3: "fill_8", 4: "fill_16", 5: "fill_32", 6: "fill_64", 7: "fill_128", 8: "fill_256"}

func launchFill(call op.Call, in input, out output, width int, backward bool) error {
	name := fillKernels[bits.TrailingZeros(uint(width))]
	f, err := call.Kernel(&set, name, name)
	if err != nil {
		return err
	}
	tiles := tilesOf(in.rows, fillRows)
	p, err := newPlan(call, tiles, tiles, lookback.Bytes(uint64(tiles), 8))
	if err != nil {
		return err
	}
	direction := uint32(0)
	if backward {
		direction = 1
	}
	err = f.Launch(call.Stream, p.grid, device.Dim3{X: fillThreads}, 0,
		out.values, out.valid, in.values, in.valid, uint64(in.bit), in.counted, int64(in.rows), p.state, direction)
	return errors.Join(err, p.release())
}

func fillOnHost(in input, out output, width int, backward bool) error {
	from, to, err := onHost(in, out)
	if err != nil {
		return err
	}
	if width == 1 {
		clear(to.values)
	}
	last := -1
	for i := range from.rows {
		row := i
		if backward {
			row = from.rows - 1 - i
		}
		if from.isValid(row) {
			last = row
		}
		if last < 0 {
			clearValue(to.values, width, row)
			continue
		}
		to.setValid(row)
		if width > 1 {
			copy(to.values[row*width/8:(row+1)*width/8], from.values[last*width/8:])
		} else if at := from.bit + last; from.values[at/8]>>(at%8)&1 != 0 {
			to.values[row/8] |= 1 << (row % 8)
		}
	}
	return nil
}

func clearValue(values []byte, width, row int) {
	if width > 1 {
		clear(values[row*width/8 : (row+1)*width/8])
	}
}

// bitmapBytes is the length of a bitmap that is written in whole words of 64 bits.
func bitmapBytes(rows int) uint64 { return (uint64(rows) + 63) / 64 * 8 }
