package hostarray_test

import (
	"context"
	"fmt"
	"log"

	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/hostarray"
	"github.com/gpuframe/gpuframe/memory"
)

func Example() {
	if err := show(); err != nil {
		log.Fatal(err)
	}
	// Output: [1 2 3]
}

func show() error {
	dev, err := device.Open("host")
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
	builder.AppendValues([]int32{1, 2, 3}, nil)
	c, err := column.FromArray(context.Background(), mgr, builder.NewArray(), column.UploadOptions{})
	if err != nil {
		return err
	}
	defer c.Release()
	seen, err := hostarray.View(c)
	if err != nil {
		return err
	}
	defer seen.Release()
	fmt.Println(seen)
	return nil
}
