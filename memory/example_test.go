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
	// in use 32 B of 1.0 MiB (0.0 %), peak 32 B, 1 allocations, 0 frees
	// true
	// memory: allocate 8.0 MiB for "too much": memory budget exceeded: 32 B of 1.0 MiB in use by prices 32 B in 1 blocks; release some, raise Options.Budget, or call Manager.SetBudget
}

// Two tenants share a GPU. Neither exceeds its budget, and together they do not exceed
// the whole.
func ExampleManager_Child() {
	dev, err := device.Open("host")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{Name: "all", Budget: 1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mgr.Close()
	left, _ := mgr.Child("left", 700)
	defer left.Close()
	right, _ := mgr.Child("right", 700)
	defer right.Close()

	a, _ := left.Allocate(600, memory.AllocateOptions{})
	_, err = right.Allocate(600, memory.AllocateOptions{})
	fmt.Println(err)
	b, _ := right.Allocate(400, memory.AllocateOptions{})
	for _, child := range mgr.Stats().Children {
		fmt.Println(child.Name, child.InUse)
	}
	a.Release()
	b.Release()
	// Output:
	// memory: allocate 600 B: memory budget exceeded of "all": 600 B of 1000 B in use by untagged 600 B in 1 blocks; release some, raise Options.Budget, or call Manager.SetBudget
	// left 600
	// right 400
}

// A job reserves the memory that it will need. Other jobs cannot take that memory.
func ExampleManager_Reserve() {
	dev, err := device.Open("host")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{Budget: 1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mgr.Close()

	job, err := mgr.Reserve("join", 800)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = mgr.Allocate(500, memory.AllocateOptions{})
	fmt.Println(errors.Is(err, memory.ErrBudget), mgr.Stats().Remaining)
	scratch, err := job.Allocate(500, memory.AllocateOptions{})
	fmt.Println(err)
	scratch.Release()
	job.Close()
	fmt.Println(mgr.Stats().Remaining)
	// Output:
	// true 200
	// <nil>
	// 1000
}
