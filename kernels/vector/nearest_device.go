package vector

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
)

// deviceScratch returns the sizes of the scratch memory of a search on a GPU.
func deviceScratch(_ *op.Call, queries, rows, dim, k int, metric Metric) []uint64 { return nil }

// onDevice is the search on a GPU.
func (s *search) onDevice() error {
	return fmt.Errorf("a search on a GPU: %w", device.ErrNotSupported)
}
