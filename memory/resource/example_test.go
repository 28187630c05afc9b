package resource_test

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Find returns a resource of a stack by its type.
func ExampleFind() {
	dev, err := device.Open("host") // or "cuda:0"
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	stack := adaptor.NewStatistics(resource.NewDriver(dev)) // each allocation is a call of the driver
	mgr, err := memory.NewManager(dev, memory.Options{Resource: stack})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mgr.Close()

	block, err := mgr.Allocate(4096, memory.AllocateOptions{Tag: "table"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer block.Release()
	driver, found := resource.Find[*resource.Driver](mgr.Resource())
	fmt.Println(found, driver.Kind())
	// Output: true host
}
