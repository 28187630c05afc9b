package pack_test

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/exchange/internal/pack"
	"github.com/gpuframe/gpuframe/memory"
)

func Example() {
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
	c, err := column.FromSlice(context.Background(), mgr, []int32{1, 2, 3, 4, 5}, column.SliceOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Release()
	part, err := c.Slice(1, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer part.Release()
	var plan pack.Plan
	shape, err := plan.All(part)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(plan.Regions), "region of", plan.Regions[0].Source.Len(), "bytes; the elements begin at", shape.Data.Offset)
	// Output: 1 region of 12 bytes; the elements begin at 1
}
