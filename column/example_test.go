package column_test

import (
	"context"
	"fmt"
	"log"

	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

func Example() {
	builder := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	builder.AppendValues([]string{"host", "to", "", "device", "and back"}, []bool{true, true, false, true, true})
	words := builder.NewArray()

	if err := travelAndPrint(words.(*array.String)); err != nil {
		log.Fatal(err)
	}
	// Output:
	// utf8 column of 5, 1 nulls in 3 buffers
	// 576 B in 1 allocation
	// ["device" "and back"]
}

func travelAndPrint(words *array.String) (err error) {
	ctx := context.Background()
	dev, err := device.Open("host") // "cuda:0" for a GPU
	if err != nil {
		return err
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		return err
	}
	defer mgr.Close()

	c, err := column.FromArray(ctx, mgr, words, column.UploadOptions{Tag: "words"})
	if err != nil {
		return err
	}
	defer c.Release()
	stats := mgr.Stats()
	fmt.Println(c, "in", c.NumBuffers(), "buffers")
	fmt.Println(stats.InUse, "B in", stats.Allocations, "allocation")

	last, err := c.Slice(3, 2) // shares the memory of c
	if err != nil {
		return err
	}
	defer last.Release()
	back, err := last.Array(ctx)
	if err != nil {
		return err
	}
	defer back.Release()
	fmt.Println(back)
	return nil
}

func ExampleElements() {
	dev, err := device.Open("host")
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer mgr.Close()

	builder := array.NewFloat64Builder(arrowmemory.DefaultAllocator)
	builder.AppendValues([]float64{1.5, 2.5, 3.5}, nil)
	c, err := column.FromArray(context.Background(), mgr, builder.NewArray(), column.UploadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Release()

	prices, err := column.Elements[float64](c)
	fmt.Println(prices.Len(), prices.Bytes(), err)
	_, err = column.Elements[int64](c)
	fmt.Println(err)
	// Output:
	// 3 24 <nil>
	// column: elements of float64 column of 3, 0 nulls as int64: the Go type does not match the values: invalid column
}
