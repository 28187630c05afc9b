package window

import (
	"embed"
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/kernelset"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

//go:embed cuda/*.ptx
var code embed.FS

// set has a file for each kernel, or one for all kernels of a fold.
var set = kernelset.Set{Files: code, Directory: "cuda", Apart: true}

const (
	// aloneTiles is how many tiles one block scans by itself, which takes no state
	// and so no memset. The kernel could do 32; more than two take longer than the
	// memset does.
	aloneTiles = 2
	// residentBlocks is how many blocks of any kernel here fit a multiprocessor of
	// the largest devices. Those that do not fit elsewhere find nothing left to do.
	residentBlocks = 4
)

// tiling is how blocks share the tiles of the rows.
type tiling struct {
	grid device.Dim3
	// stateBytes is the size of the memory through which blocks tell each other what
	// lies before their tiles. It is zero on the host and if one block does all.
	stateBytes uint64
}

// newTiling plans for tiles that take blocks and a state, if the device has room for
// so many blocks.
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
