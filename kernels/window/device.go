package window

import (
	"embed"
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/memory"
)

//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/entries cuda
//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/layouts cuda
//go:embed cuda/*.ptx*
var code embed.FS

// set has a file of templates for cumulative operators and one for fills.
var set = kernelset.Set{Files: code, Directory: "cuda", Apart: true, Entries: entries}

const (
	// aloneTiles is the number of tiles that one block scans without state and
	// therefore without a memset. The kernel supports 32; more than two take longer
	// than the memset.
	aloneTiles = 2
	// residentBlocks is the number of blocks that fit on a multiprocessor of the
	// largest devices, for any kernel of this package. On other devices blocks that
	// start late find no tiles left.
	residentBlocks = 4
)

// tiling is the division of the tiles among blocks.
type tiling struct {
	grid device.Dim3
	// stateBytes is the size of the memory through which blocks exchange the folds of
	// earlier tiles. It is zero on the host and if one block handles all tiles.
	stateBytes uint64
}

// newTiling returns the tiling for tiles that need up to blocks blocks and a state. The
// grid has no more blocks than the device runs at a time.
func newTiling(call *op.Call, tiles, blocks int, stateBytes uint64) tiling {
	if call.OnHost() || tiles <= aloneTiles {
		return tiling{grid: device.Dim3{X: 1}}
	}
	blocks = min(blocks, call.Stream.Device().Info().Multiprocessors*residentBlocks)
	return tiling{grid: device.Dim3{X: uint32(max(blocks, 1))}, stateBytes: stateBytes}
}

// allocate allocates and clears the state. The caller releases the block, which may be
// nil.
func (t tiling) allocate(call *op.Call) (memory.Slice[uint8], *memory.Block, error) {
	if t.stateBytes == 0 {
		return memory.Slice[uint8]{}, nil, nil
	}
	block, buffers, err := call.Scratch(t.stateBytes)
	if err != nil {
		return memory.Slice[uint8]{}, nil, err
	}
	if err := buffers[0].Fill(call.Stream, 0); err != nil {
		return memory.Slice[uint8]{}, nil, errors.Join(err, block.Release())
	}
	return buffers[0], block, nil
}

func tilesOf(rows, tileRows int) int { return (rows + tileRows - 1) / tileRows }
