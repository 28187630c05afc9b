package window

import (
	"errors"
	"math/bits"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/keys/radix"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/memory"
)

// spreadRows is the rows from which on results of rows in no order are written in the order of
// places first. Those of fewer rows stay in the cache of a GPU until all words that are written
// together are there. On an H200 the row numbers of 2^27 rows take 8.1 ms instead of 15.3; not
// measured with other numbers of rows.
const spreadRows = 1 << 23

// A spreading is results in the order of places on their way to their rows, in memory of a GPU.
// One pass of a radix sort brings those of 2^b rows in a sequence together, with at most 256
// sequences. Then each is written to its row.
type spreading struct {
	*arrangement
	call *op.Call
	// bytes is the size of a value at its place, 4 or 8, and kernel the one that writes it.
	bytes  int
	kernel string
}

// spreadKernels are the kernels for values of 4 and 8 bytes. Others are not spread.
var spreadKernels = map[int]string{4: "over_spread_32", 8: "over_spread_64"}

// write calls a function that writes results. Those of many rows in no order are written in the
// order of places first, if there is memory to spare.
func (s spreading) write(out op.Buffers, write func(out op.Buffers) error) error {
	least := strategy.OfWindow(s.ctx).SpreadRows
	if least == 0 {
		least = spreadRows
	}
	if s.call.OnHost() || s.listed.Len() == 0 || s.rows < least || s.kernel == "" {
		return write(out)
	}
	done, err := s.spread(out, write)
	if done || err != nil {
		return err
	}
	return write(out)
}

// spread calls write with other memory, in the order of places, and moves what it writes to out.
// It reports false if there is no memory to spare, and has then done nothing.
func (s spreading) spread(out op.Buffers, write func(out op.Buffers) error) (done bool, err error) {
	n, width := uint64(s.rows), uint64(s.bytes)
	sort := s.sort()
	bitmap := uint64(0)
	if out.Valid.Len() > 0 {
		bitmap = (n + 31) / 32 * 4
	}
	call := *s.call
	call.Spare = true
	block, scratch, err := call.Scratch(width*n, bitmap, 4*n, width*n, sort.StateBytes())
	if err != nil {
		return false, unlessShort(err)
	}
	defer func() { err = errors.Join(err, block.Release()) }()
	places, rows, values := op.Buffers{Values: scratch[0], Valid: scratch[1]}, scratch[2], scratch[3]
	s.byPlace = true // of the arrangement
	err = write(places)
	s.byPlace = false
	if err != nil {
		return false, unlessShort(err)
	}
	buffers := radix.Buffers{
		Input: s.listed.AsBytes(), InputNumbers: places.Values, State: scratch[4],
		Sorted: rows, Keys: [2]memory.Slice[uint8]{rows}, Numbers: [2]memory.Slice[uint8]{values},
	}
	if err := sort.Run(&call, buffers); err != nil {
		return false, err
	}
	// A block for each tile: they start in sequence, so that those that run write near each other.
	// Blocks that loop over tiles drift apart, and leave the cache.
	tiles := tilesOf(s.rows, overThreads*spreadLoads)
	if err := s.enqueue(&call, s.kernel, tiles, rows, values, s.counted, int64(s.rows), out.Values); err != nil {
		return false, err
	}
	if bitmap == 0 {
		return true, nil
	}
	if err := out.Valid.Fill(call.Stream, 0xff); err != nil {
		return false, err
	}
	return true, s.launch(&call, "over_spread_nulls", s.argument(), places.Valid, out.Valid)
}

// unlessShort returns nil for a lack of memory.
func unlessShort(err error) error {
	if errors.Is(err, memory.ErrBudget) || errors.Is(err, device.ErrOutOfMemory) {
		return nil
	}
	return err
}

// sort returns the sort by the highest bits of the numbers of rows, which is one pass.
func (s spreading) sort() radix.Sort {
	high := max(bits.Len64(uint64(s.rows-1)), 1)
	return radix.Sort{
		Width: 32, Low: max(high-radix.DigitBits, 0), High: high, Rows: s.rows, Counted: s.counted,
		Numbers: radix.GivenNumbers, WideNumbers: s.bytes == 8, Input: true,
	}
}
