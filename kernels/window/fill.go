package window

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/lookback"
)

// FillForward gives each null row the last value before it. Rows before the first value
// stay null. The column may be of booleans or of any type with values of 1, 2, 4, 8, 16
// or 32 bytes; for others the error wraps device.ErrNotSupported. A column without
// nulls is returned itself, retained. ctx limits the wait on the host device, which is
// the only wait.
func FillForward(ctx context.Context, c *column.Column, options ...Options) (*column.Column, error) {
	result, err := runFill(ctx, c, options, false)
	if err != nil {
		return nil, fmt.Errorf("window: fill forward: %w", err)
	}
	return result, nil
}

// FillBackward gives each null row the next value after it. Rows after the last value
// stay null. In all other respects it is like [FillForward].
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
	in, err := call.View(c)
	if err != nil {
		return nil, err
	}
	tiles := tilesOf(in.Rows, fillRows)
	result, shared := op.Like(in), newTiling(&call, tiles, tiles, lookback.Bytes(uint64(tiles), 8))
	if call.Estimating() {
		sizes := result.Sizes()
		return nil, call.Estimate(sizes[:], []uint64{shared.stateBytes})
	}
	return call.NewColumn(result, func(out op.Buffers) error {
		if call.OnHost() {
			return fillOnHost(in, out, width, backward)
		}
		return launchFill(&call, shared, in, out, width, backward)
	})
}

// bitsOf returns the width of a type's values in bits.
func bitsOf(t arrow.DataType) (int, error) {
	if layout.Storage(t).ID() == arrow.BOOL {
		return 1, nil
	}
	width, ok := column.ElementBytes(t)
	switch {
	case ok && width <= 32 && width > 0 && width&(width-1) == 0:
		return 8 * width, nil
	case ok:
		return 0, layout.Refuse(t, "values of 1, 2, 4, 8, 16 or 32 bytes", device.ErrNotSupported)
	}
	return 0, layout.Refuse(t, "booleans or values of a fixed width", device.ErrNotSupported)
}

// fillRows is the number of rows in a tile of the kernels.
const (
	fillThreads = 256
	fillRows    = 32 * fillThreads
)

func launchFill(call *op.Call, tiles tiling, in op.View, out op.Buffers, width int, backward bool) error {
	f, err := fillKernel(call, width)
	if err != nil {
		return err
	}
	state, release, err := tiles.allocate(call)
	if err != nil {
		return err
	}
	direction := uint32(0)
	if backward {
		direction = 1
	}
	err = f.Launch(call.Stream, tiles.grid, device.Dim3{X: fillThreads}, 0,
		out.Values, out.Valid, in.Values, in.Valid, uint64(in.Bit), in.Counted, int64(in.Rows), state, direction)
	return errors.Join(err, release.Release())
}

func fillOnHost(in op.View, out op.Buffers, width int, backward bool) error {
	from, err := in.Host()
	if err != nil {
		return err
	}
	to, err := out.Host()
	if err != nil {
		return err
	}
	if width == 1 {
		clear(to.Values)
	}
	last := -1
	for i := range from.Rows {
		row := i
		if backward {
			row = from.Rows - 1 - i
		}
		if from.IsValid(row) {
			last = row
		}
		if last < 0 {
			clearValue(to.Values, width, row)
			continue
		}
		to.SetValid(row)
		if width > 1 {
			copy(to.Values[row*width/8:(row+1)*width/8], from.Values[last*width/8:])
		} else if from.IsTrue(last) {
			to.SetTrue(row)
		}
	}
	return nil
}

func clearValue(values []byte, width, row int) {
	if width > 1 {
		clear(values[row*width/8 : (row+1)*width/8])
	}
}
