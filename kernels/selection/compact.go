package selection

import (
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
)

// compactKernel is a kernel in one of the compact files.
type compactKernel struct{ file, name string }

func (k *compactKernel) of(call *op.Call) (*kernels.Function, error) {
	return call.Kernel(&compactKernels, k.file, k.name)
}

// The kernels in the compact files. Those with a hole for a predicate are templates.
var (
	compactSmall      = compactKernel{file: "compact_small", name: "compact_small"}
	compactSmallWhere = compactKernel{file: "compact_small_where", name: "compact_small_where"}
	compactWhere4     = compactKernel{file: "compact_where_4", name: "compact_where_4"}
	compactWhere8     = compactKernel{file: "compact_where_8", name: "compact_where_8"}
	compactOne4       = compactKernel{file: "compact_one_4", name: "compact_one_4"}
	compactOne8       = compactKernel{file: "compact_one_8", name: "compact_one_8"}
	compactCount      = compactKernel{file: "compact_mask", name: "compact_count"}
	compactOffsets    = compactKernel{file: "compact_mask", name: "compact_offsets"}
	compactBits       = compactKernel{file: "compact_bits", name: "compact_bits"}
	compact1          = compactKernel{file: "compact_1", name: "compact_1"}
	compact2          = compactKernel{file: "compact_2", name: "compact_2"}
	compact4          = compactKernel{file: "compact_4", name: "compact_4"}
	compact8          = compactKernel{file: "compact_8", name: "compact_8"}
	compact16         = compactKernel{file: "compact_16", name: "compact_16"}
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
