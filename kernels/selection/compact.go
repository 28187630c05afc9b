package selection

import (
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
)

// compactKernel is a kernel of a filter.
type compactKernel struct{ file, name string }

func (k *compactKernel) function(call *op.Call) (*kernels.Function, error) {
	if k.file == maskFile {
		return call.Kernel(&perFile, k.file, k.name)
	}
	return call.Kernel(&perKernel, k.file, k.name)
}

// The kernels of filters. Those of whereFile are templates.
var (
	compactSmall      = compactKernel{compactFile, "compact_small"}
	compactSmallWhere = compactKernel{whereFile, "compact_small_where"}
	compactWhere4     = compactKernel{whereFile, "compact_where_4"}
	compactWhere8     = compactKernel{whereFile, "compact_where_8"}
	compactOne4       = compactKernel{whereFile, "compact_one_4"}
	compactOne8       = compactKernel{whereFile, "compact_one_8"}
	compactCount      = compactKernel{maskFile, "compact_count"}
	compactOffsets    = compactKernel{maskFile, "compact_offsets"}
	compactBits       = compactKernel{compactFile, "compact_bits"}
	compact1          = compactKernel{compactFile, "compact_1"}
	compact2          = compactKernel{compactFile, "compact_2"}
	compact4          = compactKernel{compactFile, "compact_4"}
	compact8          = compactKernel{compactFile, "compact_8"}
	compact16         = compactKernel{compactFile, "compact_16"}
)

// compactValues returns the kernel for values that move in units of unit bytes.
func compactValues(unit int) *compactKernel {
	switch unit {
	case 1:
		return &compact1
	case 2:
		return &compact2
	case 4:
		return &compact4
	case 8:
		return &compact8
	}
	return &compact16
}

// Constants that the kernels share: see compact.cuh, compact_values.cuh,
// compact_mask.cu, compact_where.cuh, compact_one.cuh and compact_small.cuh.
const (
	segmentRows    = 512
	compactThreads = 256
	compactRows    = segmentRows * compactThreads / 32 // per block
	columnsMost    = 16
	fusedMost      = 4
	whereBlocks    = 4 // per multiprocessor
	oneWarps       = 7 // warps of a compact_one block that have rows
	oneThreads     = 32 * (oneWarps + 1)
	oneRows        = segmentRows * oneWarps
	oneBlocks      = 3
	oneHeld        = 2 // tiles
	maskTileRows   = 64 * segmentRows
	maskTileShift  = 6
	whereTileShift = 3
	offsetsThreads = 1024
	smallThreads   = 1024
	smallRows      = 8192
	smallColumns   = 32
	// smallBytes is the size that one block moves in the time that further launches
	// take.
	smallBytes = 512 << 10
)
