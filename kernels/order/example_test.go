package order_test

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

// The flights of each day, the most delayed first; nulls come last.
func ExampleSort() {
	if err := byDay(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// [1 1 2 2 2]
	// [40 7 12 5 (null)]
}

func byDay(ctx context.Context) error {
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
	day, err := column.FromSlice(ctx, mgr, []int32{2, 1, 2, 1, 2}, column.SliceOptions{})
	if err != nil {
		return err
	}
	defer day.Release()
	delay, err := column.FromSlice(ctx, mgr, []float64{5, 40, 0, 7, 12}, column.SliceOptions{Valid: []bool{true, true, false, true, true}})
	if err != nil {
		return err
	}
	defer delay.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "day", Type: day.Type()}, {Name: "delay", Type: delay.Type(), Nullable: true}}, nil)
	flights, err := buffer.New(schema, []*column.Column{day, delay}, buffer.Rows{Count: 5})
	if err != nil {
		return err
	}
	defer flights.Release()

	sorted, err := order.Sort(ctx, flights, []order.Key{{Column: "day"}, {Column: "delay", Descending: true}})
	if err != nil {
		return err
	}
	defer sorted.Release()
	record, err := sorted.Record(ctx)
	if err != nil {
		return err
	}
	defer record.Release()
	for _, values := range record.Columns() {
		fmt.Println(values)
	}
	return nil
}

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
