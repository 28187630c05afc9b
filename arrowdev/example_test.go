package arrowdev_test

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/device"
)

func ExampleError() {
	err := error(&arrowdev.Error{Operation: "import", Field: "ArrowDeviceArray.device_type", Err: device.ErrNoDevice})
	fmt.Println(err)
	fmt.Println(errors.Is(err, device.ErrNoDevice))
	// Output:
	// arrowdev: import: ArrowDeviceArray.device_type: no such device
	// true
}
