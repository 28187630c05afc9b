//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu_test

import (
	"context"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/gorgoniacu"
	"github.com/gpuframe/gpuframe/memory"
)

// Memory that a program has allocated with gorgonia.org/cu becomes a block of gpuframe,
// and a gpuframe stream a stream of the binding.
func Example() {
	if err := example(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// [1 2 3 4]
	// [0 0 0 0]
	// freed
}

func example(ctx context.Context) error {
	dev, err := device.Open("gorgonia:0")
	if err != nil {
		return err
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		return err
	}
	defer mgr.Close()

	values := []float32{1, 2, 3, 4}
	var pointer cu.DevicePtr
	err = gorgoniacu.Do(dev, func() (err error) {
		if pointer, err = cu.MemAlloc(16); err != nil {
			return err
		}
		return cu.MemcpyHtoD(pointer, unsafe.Pointer(&values[0]), 16)
	})
	if err != nil {
		return err
	}
	block, err := gorgoniacu.FromDevicePtr(mgr, pointer, 16, gorgoniacu.Owner{
		Stream: dev.DefaultStream(), // the copy on this stream may still be running
		Release: func() error {
			fmt.Println("freed")
			return gorgoniacu.Do(dev, func() error { return cu.MemFree(pointer) })
		},
	})
	if err != nil {
		return err
	}
	defer block.Release()
	slice, err := memory.View[float32](block, 0, 4)
	if err != nil {
		return err
	}
	read := make([]float32, 4)
	if err := slice.Download(ctx, nil, read); err != nil {
		return err
	}
	fmt.Println(read)

	stream, err := gorgoniacu.Stream(block.Stream())
	if err != nil {
		return err
	}
	err = gorgoniacu.Do(dev, func() error {
		return cu.MemsetD32Async(gorgoniacu.DevicePtr(block), 0, 4, stream)
	})
	if err != nil {
		return err
	}
	if err := slice.Download(ctx, nil, read); err != nil {
		return err
	}
	fmt.Println(read)
	return nil
}
