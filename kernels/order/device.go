package order

import (
	"embed"
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/kernelset"
	"github.com/gpuframe/gpuframe/internal/lookback"
	"github.com/gpuframe/gpuframe/internal/numbers"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

const (
	topThreads  = 256
	sortThreads = 1024
	digitBits   = 11
	// residentBlocks is the number of blocks that the registers of a multiprocessor of
	// the largest devices allow.
	residentBlocks = 4
	// selectionBytes is the size of the kernels' Selection.
	selectionBytes = 5*8 + 8<<digitBits + 16*MaxTop
	// tilesOffset is where the state of the tiles begins in the scratch memory.
	tilesOffset = (selectionBytes + 255) / 256 * 256
)

//go:generate go run github.com/gpuframe/gpuframe/internal/kernelset/entries cuda
//go:embed cuda/*.ptx*
var code embed.FS

// set has the templates of the first rows, and the kernels of other operators.
var set = kernelset.Set{Files: code, Directory: "cuda", Entries: entries}

// flipMask returns the bits to invert so that the first value has the least key.
func (s *topSelection) flipMask() uint64 {
	mask := uint64(0)
	if s.number.Class == numbers.Signed {
		mask = 1 << (s.number.Bits() - 1)
	}
	if !s.smallest {
		mask = ^mask
	}
	return mask
}

// tileBytes is the part of the column that one block loads at a time.
func (s *topSelection) tileBytes() int {
	loads := [...]int{1: 1, 2: 2, 4: 4, 8: 4}[s.number.Bytes]
	return topThreads * 16 * loads
}

// scratchBytes returns the size of the state of the kernels: the selection and, behind
// it, the tiles that blocks scan. A column that is sorted as a whole needs none.
func (s *topSelection) scratchBytes(onHost bool) uint64 {
	if onHost || s.in.Rows <= MaxTop {
		return 0
	}
	return tilesOffset + lookback.Bytes(uint64(s.tiles()), 8)
}

func (s *topSelection) tiles() int {
	return (int(s.in.Values.Bytes()) + s.tileBytes() - 1) / s.tileBytes()
}

// launch counts the keys digit by digit from the highest digit down, collects those
// that may be among the first k, and sorts them. Only the device knows after how many
// digits the counting is done; the kernels of the remaining digits return immediately.
func (s *topSelection) launch(call *op.Call) error {
	if s.in.Rows <= MaxTop {
		return s.sort(call, memory.Slice[uint8]{})
	}
	block, buffers, err := call.Scratch(s.scratchBytes(false))
	if err != nil {
		return err
	}
	return errors.Join(s.launchWith(call, buffers[0]), block.Release())
}

func (s *topSelection) launchWith(call *op.Call, scratch memory.Slice[uint8]) error {
	selection, err := scratch.Slice(0, selectionBytes)
	if err != nil {
		return err
	}
	state, err := scratch.Slice(tilesOffset, scratch.Len())
	if err != nil {
		return err
	}
	if err := scratch.Fill(call.Stream, 0); err != nil {
		return err
	}
	in, kernels := s.in, s.kernels()
	count, err := call.Instance(&set, &kernels.count)
	if err != nil {
		return err
	}
	collect, err := call.Instance(&set, &kernels.collect)
	if err != nil {
		return err
	}
	blocks := max(call.Stream.Device().Info().Multiprocessors, 1) * residentBlocks
	grid := device.Dim3{X: uint32(min(s.tiles(), blocks))}
	threads := device.Dim3{X: topThreads}
	for shift := s.number.Bits(); shift > 0; {
		bits := min(shift, digitBits)
		shift -= bits
		err := count.Launch(call.Stream, grid, threads, 0, selection, in.Values, in.Valid, uint64(in.Bit), in.Counted, int64(in.Rows),
			s.flipMask(), uint64(s.k), uint32(shift), uint32(bits))
		if err != nil {
			return err
		}
	}
	err = collect.Launch(call.Stream, grid, threads, 0, selection, in.Values, in.Valid, uint64(in.Bit), in.Counted, int64(in.Rows),
		s.flipMask(), state)
	if err != nil {
		return err
	}
	return s.sort(call, selection)
}

// sort sorts the collected entries or, without a selection, the whole column.
func (s *topSelection) sort(call *op.Call, selection memory.Slice[uint8]) error {
	f, err := call.Instance(&set, &s.kernels().sort)
	if err != nil {
		return err
	}
	threads := sortThreads
	if selection.Len() == 0 {
		threads = min((s.in.Rows+31)/32*32, sortThreads)
	}
	in := s.in
	return f.Launch(call.Stream, device.Dim3{X: 1}, device.Dim3{X: uint32(threads)}, 0, s.values, s.rows, s.valid, s.count, selection,
		in.Values, in.Valid, uint64(in.Bit), in.Counted, int64(in.Rows), s.flipMask(), uint32(s.k))
}
