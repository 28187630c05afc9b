package memory

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
)

// StagingStats are the figures of the pinned memory through which a manager's
// transfers travel, in bytes.
type StagingStats struct {
	// Limit is the most that may be pinned, as [StagingOptions] say. Pinned is
	// what is: what transfers have needed and TrimStaging has not given back.
	Limit, Pinned uint64
	// InUse is what transfers hold now.
	InUse uint64
}

// StagingStats returns the figures of this moment. They are not in the budget,
// which is of the device's memory.
func (m *Manager) StagingStats() StagingStats { return StagingStats(m.transfers.Stats()) }

// TrimStaging unpins staging memory that nothing uses until no more than keep
// bytes are pinned, and returns how many bytes it has unpinned. It waits for no
// transfer and no work; those that come later pin again what they need.
func (m *Manager) TrimStaging(keep uint64) (released uint64, err error) {
	if released, err = m.transfers.Trim(keep); err != nil {
		return released, fmt.Errorf("memory: trim staging memory on %s to %d bytes: %w", m.device, keep, err)
	}
	return released, nil
}

// WarmStaging pins all the staging memory that the manager's transfers may use,
// [StagingOptions.Chunks] of ChunkBytes each, so that the first transfer is as fast as
// later ones. Pinning takes some 0.4 ms for each MiB. Without it the memory is pinned
// piece by piece while the first transfers go on. On the host, where transfers need no
// staging memory, WarmStaging does nothing.
//
// # Errors
//
// If less memory can be pinned the error wraps [device.ErrOutOfMemory]; transfers use
// what there is. If the context is done the error is the context's. What is pinned
// stays until [Manager.TrimStaging] or the manager's end.
func (m *Manager) WarmStaging(ctx context.Context) error {
	if m.device.Kind() == device.Host {
		return nil
	}
	if err := m.transfers.Warm(ctx); err != nil {
		return fmt.Errorf("memory: warm staging memory on %s: %w", m.device, err)
	}
	return nil
}
