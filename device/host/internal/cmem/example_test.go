package cmem_test

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device/host/internal/cmem"
)

func Example() {
	memory := cmem.Allocate(1000)
	if memory == nil {
		return
	}
	defer cmem.Free(memory)
	fmt.Println(uintptr(memory) % cmem.Alignment)
	// Output: 0
}
