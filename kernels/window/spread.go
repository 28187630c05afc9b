package window

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/memory"
)

// spreadRows is the rows from which on results of rows in no order are written in the order of
// places first. Those of fewer rows stay in the cache of a GPU until all words that are written
// together are there. Spreading was measured on an H200 from here to 2^27 rows, the other way not beside it.
const spreadRows = 1 << 23

// Constants of cuda/spread.cu.
const (
	spreadThreads, spreadTile = 512, 512 * 16
	spanBits                  = 13
	mostSpreadParts           = spreadThreads
	gatherThreads, gatherRows = 256, 256 * 8
	gatherStages              = 64
	// mostSpread is the rows whose numbers have a bit to spare.
	mostSpread = mostShifted
)

// isLarge reports whether a table has too many rows to write each result directly to its row.
func (a *arrangement) isLarge() bool {
	least := strategy.OfWindow(a.ctx).SpreadRows
	if least == 0 {
		least = spreadRows
	}
	return a.rows >= least
}

// A spreading is results on their way from their places to their rows, in memory of a GPU:
// cuda/spread.cu has the steps.
type spreading struct {
	*arrangement
	call *op.Call
	// bytes is the size of a value at its place, 4 or 8, and kernel the one that writes a span. Without a kernel nothing is spread.
	bytes  int
	kernel string
}

// spreadKernels are the kernels for values of 4 and 8 bytes. Others are not spread.
var spreadKernels = map[int]string{4: "spread_rows_32", 8: "spread_rows_64"}

// isNeeded reports whether results are spread, if there is memory.
func (s spreading) isNeeded() bool {
	return !s.call.OnHost() && s.listed.Len() > 0 && s.isLarge() && s.rows <= mostSpread && s.kernel != ""
}

// write calls a function that writes results. Those of many rows in no order are written in the
// order of places first, if there is memory to spare.
func (s spreading) write(out op.Buffers, write func(out op.Buffers) error) error {
	if !s.isNeeded() {
		return write(out)
	}
	done, err := s.spread(out, write)
	if done || err != nil {
		return err
	}
	return write(out)
}

// records is the memory of a spreading. A record is the number of a row and a value.
type records struct {
	block *memory.Block
	// first are the records after the first division, second those after the second one. The values of the
	// second are also those in the order of places, with valid.
	first, second record
	valid         memory.Slice[uint8]
	cursors       [2]memory.Slice[uint8]
	// A part of the first division has 2^middle rows, all have at most 2^whole.
	whole, middle int
}

// record is the memory of the records of all rows.
type record struct{ rows, values memory.Slice[uint8] }

// allocate returns nil if there is no memory to spare.
func (s spreading) allocate(nullable bool) (*records, error) {
	r := &records{whole: max(bits.Len64(uint64(s.rows-1)), spanBits)}
	r.middle = max((r.whole+spanBits+1)/2, spanBits)
	n, bitmap := (uint64(s.rows)+1)/2*2, uint64(0) // records are read in pairs
	if nullable {
		bitmap = (n + 31) / 32 * 4
	}
	cursors := func(section, part int) uint64 {
		sections := (uint64(s.rows) + 1<<section - 1) >> section
		return 4 * sections << (section - part)
	}
	call := *s.call
	call.Spare = true
	block, scratch, err := call.Scratch(4*n, n*uint64(s.bytes), 2*n, n*uint64(s.bytes), bitmap, cursors(r.whole, r.middle), cursors(r.middle, spanBits))
	if err != nil {
		return nil, unlessShort(err)
	}
	r.block, r.first, r.second = block, record{scratch[0], scratch[1]}, record{scratch[2], scratch[3]}
	r.valid, r.cursors = scratch[4], [2]memory.Slice[uint8]{scratch[5], scratch[6]}
	return r, nil
}

// spread calls write with other memory, in the order of places, and moves what it writes to out.
// It reports false if there is no memory to spare, and has then done nothing.
func (s spreading) spread(out op.Buffers, write func(out op.Buffers) error) (done bool, err error) {
	r, err := s.allocate(out.Valid.Len() > 0)
	if r == nil || err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, r.block.Release()) }()
	s.byPlace = true // of the arrangement
	err = write(op.Buffers{Values: r.second.values, Valid: r.valid})
	s.byPlace = false
	if err != nil {
		return false, unlessShort(err)
	}
	err = s.divide(r, fmt.Sprintf("spread_placed_%d", 8*s.bytes), s.argument(), r.second.values, r.valid)
	if err != nil {
		return false, err
	}
	return true, s.finish(r, out.Values, out.Valid)
}

// number writes the numbers of the rows in their partitions. It reports false if there is no memory to spare.
func (s spreading) number(out op.Buffers) (done bool, err error) {
	if !s.isNeeded() {
		return false, nil
	}
	r, err := s.allocate(false)
	if r == nil || err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, r.block.Release()) }()
	if err := s.divide(r, "spread_numbers", s.argument()); err != nil {
		return false, err
	}
	return true, s.finish(r, out.Values, out.Valid)
}

// divide divides the records twice. first is the kernel of the first division, with its arguments.
func (s spreading) divide(r *records, first string, source ...any) error {
	for _, c := range r.cursors {
		if err := c.Fill(s.call.Stream, 0); err != nil {
			return err
		}
	}
	source = append(source, r.cursors[0], uint32(r.whole), uint32(r.middle), r.first.rows, r.first.values)
	if err := s.launchSpread(first, spreadTile, tileBytes(s.bytes), source...); err != nil {
		return err
	}
	return s.launchSpread(fmt.Sprintf("spread_again_%d", 8*s.bytes), spreadTile, tileBytes(s.bytes),
		r.first.rows, r.first.values, s.counted, int64(s.rows), r.cursors[1], uint32(r.middle), uint32(spanBits), r.second.rows, r.second.values)
}

// finish writes the spans.
func (s spreading) finish(r *records, out ...any) error {
	arguments := append([]any{r.second.rows, r.second.values, s.counted, int64(s.rows)}, out...)
	return s.launchSpread(s.kernel, 1<<spanBits, spanBytes(s.bytes), arguments...)
}

// tileBytes and spanBytes are the kernels' TileMemory and SpanMemory.
func tileBytes(result int) uint32 {
	return uint32(spreadTile*(result+4) + 4*(2*mostSpreadParts+spreadThreads/32))
}
func spanBytes(result int) uint32 { return uint32(result<<spanBits + 4<<spanBits/32) }

// launchSpread enqueues a kernel with a block for each tile or span.
func (s spreading) launchSpread(name string, rows int, sharedBytes uint32, arguments ...any) error {
	f, err := s.call.Kernel(&set, "spread", name)
	if err != nil {
		return err
	}
	return f.Launch(s.call.Stream, device.Dim3{X: uint32(tilesOf(s.rows, rows))}, device.Dim3{X: spreadThreads}, sharedBytes, arguments...)
}

// unlessShort returns nil for a lack of memory.
func unlessShort(err error) error {
	if errors.Is(err, memory.ErrBudget) || errors.Is(err, device.ErrOutOfMemory) {
		return nil
	}
	return err
}

// errShort ends the writing of a column that has no memory to spare.
var errShort = errors.New("no memory to spare")

// shiftSpread computes Lag and Lead of rows in no order, of values of 4 and 8 bytes: the numbers of the
// rows that have the values travel, and the kernel that writes a span takes the values. It returns nil if that cannot be done.
func (a *arrangement) shiftSpread(f Function, value *column.Column, bytes int) (*column.Column, error) {
	call, in, err := a.begin(value)
	if err != nil {
		return nil, err
	}
	s := spreading{a, &call, 4, map[int]string{4: "spread_take_32", 8: "spread_take_64"}[bytes]}
	if f.skipNulls && op.Nullable(value) || !s.isNeeded() {
		return nil, nil
	}
	taken, err := a.newColumn(&call, value.Type(), true, func(out op.Buffers) (err error) {
		r, err := s.allocate(false)
		if err != nil {
			return err
		}
		if r == nil {
			return errShort
		}
		defer func() { err = errors.Join(err, r.block.Release()) }()
		_, offset := a.pickOffset(f)
		if err := s.divide(r, "spread_shifted", a.argument(), offset); err != nil {
			return err
		}
		return s.finish(r, valuesArgument(in, folding{}), out.Values, out.Valid)
	})
	if errors.Is(err, errShort) {
		return nil, nil
	}
	return taken, err
}

// inOrder are the values of a fold in the order of places, for a table in no order.
type inOrder struct {
	block *memory.Block
	view  op.View
}

// gather reads the values of many rows once, so that kernels with several passes do not. It returns nil if that is not
// needed, or if there is no memory to spare.
func (a *arrangement) gather(call *op.Call, in op.View, by folding) (*inOrder, error) {
	bytes := by.format.Bytes
	s := spreading{a, call, bytes, map[int]string{4: "spread_gather_32", 8: "spread_gather_64"}[bytes]}
	if !a.byPlace || !s.isNeeded() {
		return nil, nil
	}
	n, bitmap := uint64(a.rows), uint64(0)
	if in.Valid.Len() > 0 {
		bitmap = (n + 31) / 32 * 4
	}
	stages := uint64(0) // one partition has its rows in their order, or in any
	if a.partitions != nil {
		stages = 1
	}
	words := tilesOf(a.rows, 32)
	spare := *call
	spare.Spare = true
	block, scratch, err := spare.Scratch(n*uint64(bytes), bitmap, stages*2*4*gatherStages, stages*4*uint64(words))
	if err != nil {
		return nil, unlessShort(err)
	}
	g := &inOrder{block, op.View{Column: in.Column, Values: scratch[0], Valid: scratch[1]}}
	if stages > 0 {
		err = s.stage(scratch[2], scratch[3], words)
	}
	f, kernelErr := call.Kernel(&set, "spread", s.kernel)
	if err = errors.Join(err, kernelErr); err == nil {
		err = f.Launch(call.Stream, device.Dim3{X: uint32(tilesOf(a.rows, gatherRows))}, device.Dim3{X: gatherThreads}, 0,
			a.argument(), valuesArgument(in, folding{}), scratch[3], scratch[0], scratch[1])
	}
	if err != nil {
		return nil, errors.Join(err, block.Release())
	}
	return g, nil
}

// stage lists the words of 32 places by how far in their partition they are.
func (s spreading) stage(state, words memory.Slice[uint8], count int) error {
	if err := state.Fill(s.call.Stream, 0); err != nil {
		return err
	}
	counts, countsErr := state.Slice(0, 4*gatherStages)
	cursors, cursorsErr := state.Slice(4*gatherStages, 8*gatherStages)
	if err := errors.Join(countsErr, cursorsErr); err != nil {
		return err
	}
	grid, block := device.Dim3{X: uint32(tilesOf(count, spreadThreads))}, device.Dim3{X: spreadThreads}
	f, err := s.call.Kernel(&set, "spread", "spread_stages")
	if err != nil {
		return err
	}
	if err := f.Launch(s.call.Stream, grid, block, 0, s.argument(), counts); err != nil {
		return err
	}
	if f, err = s.call.Kernel(&set, "spread", "spread_words"); err != nil {
		return err
	}
	return f.Launch(s.call.Stream, grid, block, 0, s.argument(), counts, cursors, words)
}
