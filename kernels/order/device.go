package order

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
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
)

// flipMask returns the bits to invert so that the first value has the least key.
func (s *topSelection) flipMask() uint64 {
	mask := uint64(0)
	if s.in.Type.Class == numbers.Signed {
		mask = 1 << (s.in.Type.Bits() - 1)
	}
	if !s.smallest {
		mask = ^mask
	}
	return mask
}

// tileBytes is the part of the column that one block loads at a time.
func (s *topSelection) tileBytes() int {
	loads := [...]int{1: 1, 2: 2, 4: 4, 8: 4}[s.in.Type.Bytes]
	return topThreads * 16 * loads
}

// launch counts the keys digit by digit from the highest digit down, collects those
// that may be among the first k, and sorts them. Only the device knows after how many
// digits the counting is done; the kernels of the remaining digits return immediately.
func (s *topSelection) launch(call op.Call) error {
	tiles := (int(s.in.Values.Bytes()) + s.tileBytes() - 1) / s.tileBytes()
	block, buffers, err := call.Allocate(selectionBytes + lookback.Bytes(uint64(tiles), 8) + 256)
	if err != nil {
		return err
	}
	return errors.Join(s.launchWith(call, buffers[0], tiles), block.Release())
}

func (s *topSelection) launchWith(call op.Call, scratch memory.Slice[uint8], tiles int) error {
	selection, err := scratch.Slice(0, selectionBytes)
	if err != nil {
		return err
	}
	state, err := scratch.Slice((selectionBytes+255)/256*256, scratch.Len())
	if err != nil {
		return err
	}
	if err := scratch.Fill(call.Stream, 0); err != nil {
		return err
	}
	dev, in := call.Stream.Device(), s.in
	count, err := topCount.function(dev, in.Type)
	if err != nil {
		return err
	}
	collect, err := topCollect.function(dev, in.Type)
	if err != nil {
		return err
	}
	grid := device.Dim3{X: uint32(min(tiles, max(dev.Info().Multiprocessors, 1)*residentBlocks))}
	threads := device.Dim3{X: topThreads}
	for shift := in.Type.Bits(); shift > 0; {
		bits := min(shift, digitBits)
		shift -= bits
		err := count.Launch(call.Stream, grid, threads, 0, selection, in.Values, in.Valid, uint64(in.Bit), in.Count, int64(in.Rows),
			s.flipMask(), uint64(s.k), uint32(shift), uint32(bits))
		if err != nil {
			return err
		}
	}
	err = collect.Launch(call.Stream, grid, threads, 0, selection, in.Values, in.Valid, uint64(in.Bit), in.Count, int64(in.Rows),
		s.flipMask(), state)
	if err != nil {
		return err
	}
	return s.sort(call, selection)
}

// sort sorts the collected entries or, without a selection, the whole column.
func (s *topSelection) sort(call op.Call, selection memory.Slice[uint8]) error {
	f, err := topSort.function(call.Stream.Device(), s.in.Type)
	if err != nil {
		return err
	}
	threads := sortThreads
	if selection.Len() == 0 {
		threads = min((s.in.Rows+31)/32*32, sortThreads)
	}
	in := s.in
	return f.Launch(call.Stream, device.Dim3{X: 1}, device.Dim3{X: uint32(threads)}, 0, s.values, s.rows, s.valid, s.count, selection,
		in.Values, in.Valid, uint64(in.Bit), in.Count, int64(in.Rows), s.flipMask(), uint32(s.k))
}
