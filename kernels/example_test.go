package kernels_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// A host device does not run PTX and returns an error. Code for both kinds of device
// checks the kind before it loads, or handles the error.
func ExampleLoad() {
	dev, err := device.Open("host")
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	module, err := kernels.Load(dev, launchPTX)
	if errors.Is(err, device.ErrNotSupported) {
		fmt.Println("no kernels on", dev)
		return
	}
	defer module.Close()
	// Output: no kernels on host
}

func ExampleGridFor() {
	fmt.Println(kernels.GridFor(1_000_000, 256).X)
	// Output: 3907
}

// Without an Output comment the example is compiled and not run: it needs a GPU.
func ExampleFunction_Launch() {
	const n = 1_000_000
	dev, err := device.Open("cuda:0")
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer mgr.Close()
	counts, err := memory.NewSlice[uint32](mgr, n, memory.AllocateOptions{Tag: "counts"})
	if err != nil {
		log.Fatal(err)
	}
	defer counts.Release()

	module, err := kernels.Load(dev, launchPTX)
	if err != nil {
		log.Fatal(err)
	}
	defer module.Close()
	increment, err := module.Function("increment")
	if err != nil {
		log.Fatal(err)
	}
	if err := counts.Fill(nil, 41); err != nil {
		log.Fatal(err)
	}
	// No stream: the kernel runs on that of counts, after the Fill.
	err = increment.Launch(nil, kernels.GridFor(n, 256), device.Dim3{X: 256}, 0, counts, uint64(n))
	if err != nil {
		log.Fatal(err)
	}
	values := make([]uint32, n)
	if err := counts.Download(context.Background(), nil, values); err != nil {
		log.Fatal(err)
	}
	fmt.Println(values[0])
}
