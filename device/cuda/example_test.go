package cuda_test

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
)

// The driver is loaded at run time, so a program can list the GPUs and continue without
// one.
func ExampleDriver_Devices() {
	devices, err := cuda.Driver{}.Devices()
	switch {
	case errors.Is(err, backend.ErrNotAvailable):
		fmt.Println("the GPU, or the reason for its absence, is known") // err names the reason
	case err != nil:
		fmt.Println("the driver works but a device does not:", err)
	case len(devices) > 0:
		fmt.Println("the GPU, or the reason for its absence, is known")
	}
	// Output: the GPU, or the reason for its absence, is known
}

// An error matches both the sentinel of package backend and the driver's code.
func ExampleError() {
	err := fmt.Errorf("loading prices: %w", &cuda.Error{Operation: "cuMemAlloc(80 GiB)", Code: cuda.CodeOutOfMemory})
	fmt.Println(errors.Is(err, backend.ErrOutOfMemory), errors.Is(err, cuda.CodeOutOfMemory))
	fmt.Println(err)
	// Output:
	// true true
	// loading prices: cuda: cuMemAlloc(80 GiB): CUDA_ERROR_OUT_OF_MEMORY (2): the driver has not enough memory for the request
}
