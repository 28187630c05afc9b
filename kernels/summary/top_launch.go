package summary

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/lookback"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

const (
	topThreads  = 256
	sortThreads = 1024
	digitBits   = 11
	// selectionBytes is the size of the kernels' Selection.
	selectionBytes = 5*8 + 8<<digitBits + 16*MaxTop
)

// blockBytes is how much of the column a block loads at a time, and so a tile.
func (t selecting) blockBytes() int {
	loads := [...]int{1: 1, 2: 2, 4: 4, 8: 4}[t.number.bytes]
	return topThreads * 16 * loads
}

// launch counts the keys digit by digit, from the highest on, collects those that may
// be among the first, and sorts them. How far the counting goes only the device
// knows: what is not needed returns at once.
func (t selecting) launch(call op.Call) error {
	tiles := (int(t.in.values.Bytes()) + t.blockBytes() - 1) / t.blockBytes()
	block, buffers, err := call.Allocate(selectionBytes + lookback.Bytes(uint64(tiles), 8) + 256)
	if err != nil {
		return err
	}
	return errors.Join(t.launchWith(call, buffers[0], tiles), block.Release())
}

func (t selecting) launchWith(call op.Call, scratch memory.Slice[uint8], tiles int) error {
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
	count, err := topCount.function(call.Stream.Device(), t.number)
	if err != nil {
		return err
	}
	collect, err := topCollect.function(call.Stream.Device(), t.number)
	if err != nil {
		return err
	}
	grid := device.Dim3{X: uint32(min(tiles, max(call.Stream.Device().Info().Multiprocessors, 1)*residentBlocks))}
	threads := device.Dim3{X: topThreads}
	in := t.in
	for top := 8 * t.number.bytes; top > 0; {
		bits := min(top, digitBits)
		top -= bits
		err := count.Launch(call.Stream, grid, threads, 0, selection, in.values, in.valid, uint64(in.bit), in.counted, int64(in.rows),
			t.turn(), uint64(t.k), uint32(top), uint32(bits))
		if err != nil {
			return err
		}
	}
	err = collect.Launch(call.Stream, grid, threads, 0, selection, in.values, in.valid, uint64(in.bit), in.counted, int64(in.rows),
		t.turn(), state)
	if err != nil {
		return err
	}
	return t.sort(call, selection)
}

// sort sorts what was collected, or without a selection the whole column.
func (t selecting) sort(call op.Call, selection memory.Slice[uint8]) error {
	f, err := topSort.function(call.Stream.Device(), t.number)
	if err != nil {
		return err
	}
	threads := sortThreads
	if selection.Len() == 0 {
		threads = min((t.in.rows+31)/32*32, sortThreads)
	}
	in := t.in
	return f.Launch(call.Stream, device.Dim3{X: 1}, device.Dim3{X: uint32(threads)}, 0, t.values, t.rows, t.valid, t.count, selection,
		in.values, in.valid, uint64(in.bit), in.counted, int64(in.rows), t.turn(), uint32(t.k))
}
