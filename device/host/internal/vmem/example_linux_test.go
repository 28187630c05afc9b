package vmem_test

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device/host/internal/vmem"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

func Example() {
	const unit = vmem.Granularity
	base, err := vmem.Reserve(64*unit, unit)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer vmem.Free(base, 64*unit)
	memory, err := vmem.Create(unit)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer memory.Close()

	if err := memory.Map(base+unit, unit, 0); err != nil {
		fmt.Println(err)
		return
	}
	if err := vmem.Access(base+unit, unit, true); err != nil {
		fmt.Println(err)
		return
	}
	content := address.Bytes(base+unit, unit)
	content[0] = 7
	fmt.Println(content[0], content[unit-1])
	// Output: 7 0
}
