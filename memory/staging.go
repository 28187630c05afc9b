package memory

import "fmt"

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
