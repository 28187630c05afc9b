package gpuframe

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Managed returns an engine with the memory of a manager, for programs that have one.
//
// # Ownership
//
// The caller closes the engine, and then the manager, which the engine does not close.
func Managed(manager *memory.Manager) (*Engine, error) {
	if manager == nil {
		return nil, fmt.Errorf("gpuframe: managed: the manager is nil: %w", device.ErrInvalidValue)
	}
	of := &member{device: manager.Device(), manager: manager}
	of.spilling.Manager = manager
	return newEngine(nil, []*member{of}, of.spilling.Close), nil
}
