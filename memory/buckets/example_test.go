package buckets_test

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/buckets"
)

func Example() {
	dev, err := device.Open("host")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	resource, err := buckets.New(memory.NewDriverResource(dev), buckets.Options{CacheBytes: 1 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resource.Close()
	mgr, err := memory.NewManager(dev, memory.Options{Resource: resource})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mgr.Close()

	for range 3 {
		scratch, err := memory.NewSlice[float64](mgr, 1000, memory.AllocateOptions{Tag: "scratch"})
		if err != nil {
			fmt.Println(err)
			return
		}
		_ = scratch.Release()
	}
	fmt.Println(resource.Stats())
	// Output:
	// 0 B in use in 0 blocks, 8.0 KiB cached in 1 blocks, 2 hits (0 across streams), 1 misses, 0 direct, 3 returned, 0 released
}

func ExampleSlices() {
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
	pool, err := buckets.NewSlices[float32](mgr, buckets.SlicesOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()

	for _, n := range []int{1000, 900} {
		slice, err := pool.Take(n, memory.AllocateOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(slice.Len(), "elements in a block of", slice.Block().Bytes(), "bytes")
		_ = pool.Put(slice)
	}
	stats := pool.Stats()
	fmt.Println(stats.Hits, "hit,", stats.Misses, "miss")
	// Output:
	// 1000 elements in a block of 4096 bytes
	// 900 elements in a block of 4096 bytes
	// 1 hit, 1 miss
}
