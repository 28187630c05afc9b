package order_test

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

// The three longest delays, and the rows that they are in.
func ExampleTopKColumn() {
	if err := longest(context.Background(), []int32{5, 40, 7, 12, 40, 31}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// [40 40 31]
	// [1 4 5]
}

func longest(ctx context.Context, minutes []int32) error {
	dev, err := device.Open("host") // or "cuda:0"
	if err != nil {
		return err
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		return err
	}
	defer mgr.Close()
	builder := array.NewInt32Builder(arrowmemory.DefaultAllocator)
	defer builder.Release()
	builder.AppendValues(minutes, nil)
	values := builder.NewArray()
	defer values.Release()
	delays, err := column.FromArray(ctx, mgr, values, column.UploadOptions{})
	if err != nil {
		return err
	}
	defer delays.Release()

	top, err := order.TopKColumn(ctx, delays, 3)
	if err != nil {
		return err
	}
	defer top.Release()
	for _, c := range []*column.Column{top.Values, top.Rows} {
		a, err := c.Array(ctx)
		if err != nil {
			return err
		}
		fmt.Println(a)
		a.Release()
	}
	return nil
}
