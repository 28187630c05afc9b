package source

import (
	"fmt"

	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// mostPinned is the pinned memory that a reader uses at most. Beyond that it decodes
// into pageable memory, which is copied to the device through a staging buffer.
const mostPinned = 2 << 30

// hostMemory returns an allocator for decoded records, and a function that the caller
// calls after releasing all of them. A GPU reads from pinned memory without a further
// copy. The pinned memory stays with the device for the next reader: see
// memory.TrimPinned.
func hostMemory(m *memory.Manager) (allocator arrowmemory.Allocator, closing func(failed bool) error) {
	if m == nil || m.Device().Kind() != device.CUDA {
		return arrowmemory.DefaultAllocator, func(bool) error { return nil }
	}
	pinned := memory.NewPinnedAllocator(m.Device(), mostPinned)
	return pinned, func(failed bool) error {
		left := pinned.InUse()
		// A decoder that failed may have lost its buffers.
		pinned.FreeAll()
		if left > 0 && !failed {
			return fmt.Errorf("%d bytes of pinned memory were not released: %w", left, memory.ErrLeak)
		}
		return nil
	}
}
