//go:build cgo && !(386 || arm || mips || mipsle)

package dlpack_test

import (
	"context"
	"fmt"
	"log"

	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/memory"
)

func Example() {
	ctx := context.Background()
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
	prices, err := column.FromArray(ctx, mgr, builder.NewArray(), column.UploadOptions{})
	if err != nil {
		log.Fatal(err)
	}

	tensor, err := dlpack.Export(prices)
	if err != nil {
		log.Fatal(err)
	}
	prices.Release() // the tensor keeps the memory alive

	// A consumer receives the pointer. In this example the consumer is gpuframe.
	back, err := dlpack.Import(mgr, tensor.Detach())
	if err != nil {
		log.Fatal(err)
	}
	defer back.Release()
	values, err := back.Array(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(values, mgr.Stats().ExternalBlocks, "external blocks")
	// Output: [1.5 2.5 3.5] 0 external blocks
}

func ExampleExportMatrix() {
	ctx := context.Background()
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

	var columns []*column.Column
	for _, values := range [][]float32{{1, 2, 3}, {10, 20, 30}} {
		builder := array.NewFloat32Builder(arrowmemory.DefaultAllocator)
		builder.AppendValues(values, nil)
		c, err := column.FromArray(ctx, mgr, builder.NewArray(), column.UploadOptions{})
		if err != nil {
			log.Fatal(err)
		}
		defer c.Release()
		columns = append(columns, c)
	}

	// The columns are in two blocks, so the tensor is a copy.
	tensor, err := dlpack.ExportMatrix(columns)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("copied:", tensor.Copied())
	back, err := dlpack.ImportMatrix(mgr, tensor.Detach())
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range back {
		defer c.Release()
		values, err := c.Array(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(values)
	}
	// Output:
	// copied: true
	// [1 2 3]
	// [10 20 30]
}
