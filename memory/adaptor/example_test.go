package adaptor_test

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
	"github.com/gpuframe/gpuframe/memory/adaptor/trace"
)

func Example() {
	dev, err := device.Open("host")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()

	// From the bottom up: a pool, statistics, and a limit of 1 MiB.
	pool, err := memory.NewCachingResource(dev, memory.CachingOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	figures := adaptor.NewStatistics(pool)
	limit := adaptor.NewLimit(figures, 1<<20, adaptor.LimitOptions{})
	defer limit.Close()
	mgr, err := memory.NewManager(dev, memory.Options{Resource: limit})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mgr.Close()

	block, err := mgr.Allocate(600<<10, memory.AllocateOptions{Tag: "table"})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = mgr.Allocate(500<<10, memory.AllocateOptions{Tag: "scratch"})
	var refused *adaptor.LimitError
	if errors.As(err, &refused) {
		fmt.Println(refused)
	}
	_ = block.Release()
	fmt.Println(figures.Figures())
	// Output:
	// memory/adaptor: limit: allocate 500 KiB: memory budget exceeded: 600 KiB of 1.0 MiB in use; free some or make the limit larger
	// 0 B in 0 allocations, peak 600 KiB in 1, total 600 KiB in 1
}

func ExampleLogging() {
	dev, err := device.Open("host")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()

	var log bytes.Buffer // usually a file
	logging := adaptor.NewLogging(memory.NewDriverResource(dev), adaptor.LoggingOptions{
		CSV: &log,
		Now: func() time.Time { return time.Date(2026, 1, 2, 14, 21, 19, 998533000, time.UTC) },
	})
	allocation, err := logging.Allocate(256, dev.DefaultStream())
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = logging.Free(allocation, nil)
	_ = logging.Close()

	for event, err := range trace.Read(&log) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(event.Thread, event.Time, event.Action, event.Size, event.Stream)
	}
	// Output:
	// 1 14h21m19.998533s allocate 256 0
	// 1 14h21m19.998533s free 256 0
}
