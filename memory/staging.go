package memory

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
)

// StagingStats describe the pinned memory that stages a manager's transfers, in
// bytes.
type StagingStats struct {
	// Limit is the maximum of pinned memory set by [StagingOptions]. Pinned is the
	// memory that is pinned now: allocated by transfers or WarmStaging and not
	// trimmed.
	Limit, Pinned uint64
	// InUse is the memory that transfers hold now.
	InUse uint64
}

// StagingStats returns the current statistics of the staging memory. Staging memory
// is not in the budget, which covers only device memory.
func (m *Manager) StagingStats() StagingStats { return StagingStats(m.transfers.Stats()) }

// TrimStaging unpins idle staging memory until at most keep bytes are pinned, and
// returns the number of bytes unpinned. It does not wait for transfers or work.
// Later transfers pin memory again as needed.
func (m *Manager) TrimStaging(keep uint64) (released uint64, err error) {
	if released, err = m.transfers.Trim(keep); err != nil {
		return released, fmt.Errorf("memory: trim staging memory on %s to %d bytes: %w", m.device, keep, err)
	}
	return released, nil
}

// WarmStaging pins all the staging memory that the manager's transfers may use,
// [StagingOptions.Chunks] of ChunkBytes each, so that the first transfer is as fast
// as later ones. Pinning takes about 0.4 ms per MiB. Without WarmStaging the memory
// is pinned chunk by chunk during the first transfers. On the host, where transfers
// need no staging memory, WarmStaging does nothing.
//
// # Errors
//
// If not all of the memory can be pinned, the error wraps [device.ErrOutOfMemory];
// transfers use the pinned part. If the context is done, the error is the context's
// error. Pinned memory stays pinned until [Manager.TrimStaging] or until the manager
// is closed.
func (m *Manager) WarmStaging(ctx context.Context) error {
	if m.device.Kind() == device.Host {
		return nil
	}
	if err := m.transfers.Warm(ctx); err != nil {
		return fmt.Errorf("memory: warm staging memory on %s: %w", m.device, err)
	}
	return nil
}
