package memory_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

func Example() {
	dev, err := device.Open("host")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{Budget: 1 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mgr.Close()

	prices, err := memory.NewSlice[float64](mgr, 4, memory.AllocateOptions{Tag: "prices"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer prices.Release()
	_ = prices.Upload(context.Background(), nil, []float64{1, 2, 3, 4})
	got := make([]float64, 4)
	_ = prices.Download(context.Background(), nil, got)
	fmt.Println(got)
	fmt.Println(mgr.Stats())

	_, err = memory.NewSlice[float64](mgr, 1<<20, memory.AllocateOptions{Tag: "too much"})
	fmt.Println(errors.Is(err, memory.ErrBudget))
	fmt.Println(err)
	// Output:
	// [1 2 3 4]
	// in use 32 B of 1.0 MB (0.0 %), peak 32 B, 1 allocations, 0 frees
	// true
	// memory: allocate 8.4 MB for "too much": memory budget exceeded: 32 B of 1.0 MB in use by prices 32 B in 1 blocks; release some or raise Options.Budget
}
