package op

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// LacksMemory reports whether a budget or the device had no memory for a request, so that a way that needs less may do.
func LacksMemory(err error) bool {
	return errors.Is(err, memory.ErrBudget) || errors.Is(err, device.ErrOutOfMemory)
}
