package caching_test

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/caching"
)

// A block that was freed is used again without a call of the driver.
func Example() {
	dev, err := device.Open("host") // or "cuda:0"
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	pool, err := caching.New(dev, caching.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	stream, err := dev.NewStream()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stream.Close()

	first, err := pool.Allocate(4096, stream)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := pool.Free(first, nil); err != nil {
		fmt.Println(err)
		return
	}
	second, err := pool.Allocate(4096, stream)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the same memory:", first.Pointer == second.Pointer)
	fmt.Println("in use:", pool.Stats().InUse)
	if err := pool.Free(second, nil); err != nil {
		fmt.Println(err)
	}
	// Output:
	// the same memory: true
	// in use: 4096
}
