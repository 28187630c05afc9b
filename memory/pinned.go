package memory

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/pinned"
)

// PinnedStats describe the pinned (page-locked) host memory of a device, in bytes. Every
// part of this library that pins memory takes it from one pool for each device: staging
// memory, [PinnedAllocator], [PinnedResource] and the results of kernels.
type PinnedStats struct {
	// Limit is the maximum set by [LimitPinned], or 0 without a limit.
	Limit uint64
	// Pinned is the memory that is pinned now, InUse the part that is in use. The rest
	// is kept for later requests, until [TrimPinned].
	Pinned, InUse uint64
}

// PinnedStatsOf returns the current statistics of a device's pinned memory.
func PinnedStatsOf(dev *device.Device) (PinnedStats, error) {
	pool, err := pinned.Of(dev)
	if err != nil {
		return PinnedStats{}, fmt.Errorf("memory: statistics of pinned memory: %w", err)
	}
	return PinnedStats(pool.Stats()), nil
}

// LimitPinned bounds the pinned memory of a device; zero removes the limit. It unpins
// idle memory above the limit. Memory in use stays pinned.
//
// At the limit transfers continue with the staging memory that they have, a
// [PinnedAllocator] returns pageable memory, and everything else fails with an error
// that wraps [device.ErrOutOfMemory].
func LimitPinned(dev *device.Device, bytes uint64) error {
	pool, err := pinned.Of(dev)
	if err == nil {
		err = pool.Limit(bytes)
	}
	if err != nil {
		return fmt.Errorf("memory: limit pinned memory to %d bytes: %w", bytes, err)
	}
	return nil
}

// TrimPinned unpins idle memory of a device until at most keep bytes are pinned, and
// returns the number of bytes unpinned. It does not wait for work on the device. A
// manager's staging memory is in use until [Manager.TrimStaging].
func TrimPinned(dev *device.Device, keep uint64) (released uint64, err error) {
	pool, err := pinned.Of(dev)
	if err == nil {
		released, err = pool.Trim(keep)
	}
	if err != nil {
		return released, fmt.Errorf("memory: trim pinned memory to %d bytes: %w", keep, err)
	}
	return released, nil
}
