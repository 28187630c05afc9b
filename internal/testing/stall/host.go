package stall

import "github.com/gpuframe/gpuframe/device/backend"

// holder is the host device.
type holder interface {
	HoldStream(stream backend.Stream) (release func(), err error)
}

// holderOf returns the host device if a driver is one or, like those of tests, is built
// on one.
func holderOf(driver backend.Device) (holder, bool) {
	for {
		if hold, ok := driver.(holder); ok {
			return hold, true
		}
		above, ok := driver.(interface{ Below() backend.Device })
		if !ok {
			return nil, false
		}
		driver = above.Below()
	}
}
