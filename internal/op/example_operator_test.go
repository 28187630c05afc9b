package op_test

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowalloc "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// set would embed cuda/*.ptx.
var set kernelset.Set

// Shifted gives each row the value of the row before it: the operator that
// docs/adding-an-operator.md walks through.
func Shifted(ctx context.Context, c *column.Column, options ...kernels.Options) (*column.Column, error) {
	result, err := shifted(ctx, c, options)
	if err != nil {
		return nil, fmt.Errorf("shifted: %w", err)
	}
	return result, nil
}

func shifted(ctx context.Context, c *column.Column, options []kernels.Options) (*column.Column, error) {
	chosen, err := op.Only(options)
	if err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Type().ID() != arrow.INT64 {
		return nil, fmt.Errorf("the type %v, it must be int64: %w", c.Type(), device.ErrNotSupported)
	}
	call, err := op.Begin(ctx, chosen, c)
	if err != nil {
		return nil, err
	}
	in, err := call.View(c)
	if err != nil {
		return nil, err
	}
	result := op.Like(in)
	result.Nullable = true // no row is before the first
	if call.Estimating() {
		sizes := result.Sizes()
		return nil, call.Estimate(sizes[:], nil)
	}
	return call.NewColumn(result, func(out op.Buffers) error {
		if call.OnHost() {
			return shiftOnHost(in, out)
		}
		f, err := call.Kernel(&set, "shift", "shift_64")
		if err != nil {
			return err
		}
		return f.Launch(call.Stream, kernels.GridFor(in.Rows, 256), device.Dim3{X: 256}, 0,
			out.Values, out.Valid, in.Values, in.Valid, uint64(in.Bit), in.Counted, int64(in.Rows))
	})
}

func shiftOnHost(in op.View, out op.Buffers) error {
	from, err := in.Host()
	if err != nil {
		return err
	}
	to, err := out.Host()
	if err != nil {
		return err
	}
	values, results := op.Elements[int64](from.Values), op.Elements[int64](to.Values)
	for row := 1; row < from.Rows; row++ {
		if from.IsValid(row - 1) {
			results[row] = values[row-1]
			to.SetValid(row)
		}
	}
	return nil
}

func Example_operator() {
	ctx := context.Background()
	dev, err := device.Open("host")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mgr.Close()
	b := array.NewInt64Builder(arrowalloc.NewGoAllocator())
	defer b.Release()
	b.AppendValues([]int64{3, 1, 4}, nil)
	in := b.NewArray()
	defer in.Release()
	c, err := column.FromArray(ctx, mgr, in, column.UploadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Release()

	estimate, err := kernels.EstimateOf(func(o kernels.Options) (*column.Column, error) { return Shifted(ctx, c, o) })
	fmt.Println(estimate.Result, estimate.Scratch, err)
	made, err := Shifted(ctx, c)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer made.Release()
	fmt.Println(made.Array(ctx))
	// Output:
	// 512 0 <nil>
	// [(null) 3 1] <nil>
}
