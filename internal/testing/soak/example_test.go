package soak_test

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/soak"
	"github.com/gpuframe/gpuframe/memory"
)

func Example() {
	dev, err := device.Open("host") // or "cuda:0"
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	resource, err := memory.NewCachingResource(dev, memory.CachingOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resource.Close()

	report, err := soak.Run(context.Background(), dev, soak.Options{
		Resource: resource, Goroutines: 2, Operations: 1000, MaximumBytes: 4096,
	})
	fmt.Println(report.Operations() >= 1000, report.Mismatches, err)
	// Output: true 0 <nil>
}
