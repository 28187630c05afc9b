package window

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// CumulativeSum gives each row the sum of all rows up to it: of integers, floats,
// 128-bit decimals, durations and intervals of months. The result has the type of
// the input. ctx is waited with on the host device only. The error wraps
// device.ErrNotSupported for other types.
func CumulativeSum(ctx context.Context, c *column.Column, options ...Options) (*column.Column, error) {
	return cumulate(ctx, sum, c, options)
}

// CumulativeProduct gives each row the product of all rows up to it: of integers and
// floats. All else is as in [CumulativeSum].
func CumulativeProduct(ctx context.Context, c *column.Column, options ...Options) (*column.Column, error) {
	return cumulate(ctx, product, c, options)
}

// CumulativeMin gives each row the least of all rows up to it: of integers, floats,
// 128-bit decimals, and everything temporal that is one number. All else is as in
// [CumulativeSum].
func CumulativeMin(ctx context.Context, c *column.Column, options ...Options) (*column.Column, error) {
	return cumulate(ctx, minimum, c, options)
}

// CumulativeMax gives each row the largest of all rows up to it. All else is as in
// [CumulativeMin].
func CumulativeMax(ctx context.Context, c *column.Column, options ...Options) (*column.Column, error) {
	return cumulate(ctx, maximum, c, options)
}

func cumulate(ctx context.Context, o how, c *column.Column, options []Options) (*column.Column, error) {
	chosen, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("window: %s: %w", names[o], err)
	}
	result, err := o.run(ctx, c, chosen)
	if err != nil {
		return nil, fmt.Errorf("window: %s: %w", names[o], err)
	}
	return result, nil
}

func (o how) run(ctx context.Context, c *column.Column, options Options) (*column.Column, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	stored, err := o.takes(c.Type())
	if err != nil {
		return nil, err
	}
	if c.Len() == 0 {
		return none(c, 2)
	}
	call, err := op.Begin(ctx, options.Options, c)
	if err != nil {
		return nil, err
	}
	in, err := view(ctx, c)
	if err != nil {
		return nil, err
	}
	return newColumn(call, in, uint64(c.Len())*uint64(stored.bytes), func(out output) error {
		if call.OnHost() {
			return o.onHost(stored, in, out, options)
		}
		return o.launch(call, stored, in, out, options)
	})
}

// input is a column as kernels see it.
type input struct {
	column *column.Column
	values memory.Slice[uint8]
	// valid is empty where no row is null; bit is that of the first row.
	valid memory.Slice[uint8]
	bit   int
	// rows is the number of rows or, if counted has memory, the most there may be.
	rows    int
	counted memory.Slice[int64]
}

func view(ctx context.Context, c *column.Column) (input, error) {
	values, err := c.ValuesRegion()
	if err != nil {
		return input{}, err
	}
	in := input{column: c, values: values}
	if in.rows, in.counted, err = c.Extent(ctx); err != nil {
		return input{}, err
	}
	if c.NullCount() != 0 && c.Buffer(0).Len() > 0 {
		in.valid, in.bit, err = c.Validity()
	}
	return in, err
}

// output is the memory of a result: values and, where there may be nulls, a bit for
// each row.
type output struct{ values, valid memory.Slice[uint8] }

// newColumn allocates a result of the input's type, capacity and rows with so many bytes
// of values, has it written, and makes a column of it.
func newColumn(call op.Call, in input, bytes uint64, write func(output) error) (*column.Column, error) {
	nulls, bitmap := 0, uint64(0)
	if in.valid.Len() > 0 {
		nulls, bitmap = column.UnknownNullCount, bitmapBytes(in.column.Len())
	}
	block, buffers, err := call.Allocate(bitmap, bytes)
	if err != nil {
		return nil, err
	}
	err = write(output{valid: buffers[0], values: buffers[1]})
	var result *column.Column
	if err == nil {
		result, err = column.New(column.Data{
			Type: in.column.Type(), Length: in.column.Len(), Rows: in.column.RowCount(), NullCount: nulls, Buffers: buffers,
		})
	}
	if releaseErr := block.Release(); releaseErr != nil {
		return nil, errors.Join(err, releaseErr, result.Release())
	}
	return result, err
}

// none returns a column of no rows and no memory like another one.
func none(like *column.Column, buffers int) (*column.Column, error) {
	return column.New(column.Data{
		Type: like.Type(), Buffers: make([]column.Bytes, buffers), Rows: like.RowCount(), Manager: like.Manager(),
	})
}
