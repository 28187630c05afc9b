package gpuframe

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/devices"
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
	set := &devices.Set{Members: []*devices.Member{devices.NewMember(manager)}}
	return newEngine(nil, set, set.CloseFiles), nil
}
