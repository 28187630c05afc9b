package host_test

import (
	"fmt"
	"unsafe"

	"github.com/gpuframe/gpuframe/device/host"
)

func Example() {
	device, err := host.Driver{}.Open(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer device.Close()

	const bytes = 8
	memory, err := device.Alloc(bytes)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer device.Free(memory)

	stream, err := device.StreamCreate()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer device.StreamDestroy(stream)

	result := make([]byte, bytes)
	err = device.MemsetAsync(memory, 42, 1, bytes, stream)
	if err == nil {
		err = device.CopyToHostAsync(unsafe.Pointer(unsafe.SliceData(result)), memory, bytes, stream)
	}
	if err == nil {
		err = device.StreamSynchronize(stream)
	}
	fmt.Println(result, err)
	// Output: [42 42 42 42 42 42 42 42] <nil>
}
