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
	m := &member{device: manager.Device(), manager: manager}
	m.spilling.Manager = manager
	return newEngine(nil, []*member{m}, m.spilling.Close), nil
}
