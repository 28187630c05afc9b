package window

import (
	"embed"
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/kernelset"
	"github.com/gpuframe/gpuframe/internal/lookback"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

//go:embed cuda/*.ptx
var code embed.FS

// set has one kernel in each file, of the same name.
var set = kernelset.Set{Files: code, Directory: "cuda"}

const (
	// aloneTiles is how many tiles one block scans by itself, which takes no state
	// and so no memset. The kernel could do 32; more than two take longer than the
	// memset does.
	aloneTiles = 2
	// residentBlocks is how many blocks of any kernel here fit a multiprocessor of
	// the largest devices. Those that do not fit elsewhere find nothing left to do.
	residentBlocks = 4
)

// plan is how many blocks run, and the state that tells them of each other.
type plan struct {
	grid  device.Dim3
	state memory.Slice[uint8]
	block *memory.Block
}

// newPlan allocates and clears the state of so many tiles, of that many bytes, for so
// many blocks if the device has room for them. Release gives it back.
func newPlan(call op.Call, tiles, blocks int, bytes uint64) (plan, error) {
	if tiles <= aloneTiles {
		return plan{grid: device.Dim3{X: 1}}, nil
	}
	block, buffers, err := call.Allocate(bytes)
	if err != nil {
		return plan{}, err
	}
	if err := buffers[0].Fill(call.Stream, 0); err != nil {
		return plan{}, errors.Join(err, block.Release())
	}
	blocks = min(blocks, call.Stream.Device().Info().Multiprocessors*residentBlocks)
	return plan{grid: device.Dim3{X: uint32(max(blocks, 1))}, state: buffers[0], block: block}, nil
}

func (p plan) release() error {
	if p.block == nil {
		return nil
	}
	return p.block.Release()
}

func (o how) launch(call op.Call, s storage, in input, out output, options Options) error {
	name := o.kernel(s)
	f, err := call.Kernel(&set, name, name)
	if err != nil {
		return err
	}
	// One block more than there are tiles tells the others what lies before them.
	tiles := tilesOf(in.rows, shapeOf(s).tileRows())
	p, err := newPlan(call, tiles, tiles+1, lookback.ToldBytes(uint64(tiles), uint64(o.foldedBytes(s))))
	if err != nil {
		return err
	}
	nullsLast := uint32(1)
	if options.SkipNulls {
		nullsLast = 0
	}
	err = f.Launch(call.Stream, p.grid, device.Dim3{X: tileThreads}, shapeOf(s).sharedBytes(),
		out.values, out.valid, in.values, in.valid, uint64(in.bit), in.counted, int64(in.rows), p.state, o.turn(s), nullsLast)
	return errors.Join(err, p.release())
}

func tilesOf(rows, tileRows int) int { return (rows + tileRows - 1) / tileRows }

// foldedBytes is the width in which values are folded.
func (o how) foldedBytes(s storage) int {
	if s.class == float && o < minimum {
		return 8
	}
	return max(s.bytes, 4)
}
