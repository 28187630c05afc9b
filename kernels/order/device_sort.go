package order

import (
	"errors"
	"math/bits"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/keys/radix"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/memory"
)

// tieKernels are small and in one file. Each is compiled alone.
var tieKernels = kernelset.Set{Files: code, Directory: "cuda", Apart: true}

const (
	tieThreads = 256
	// threadRows is the number of rows of a thread of kernels that loop over rows.
	threadRows = 4
)

// launchTies enqueues a kernel for n rows.
func (o *ordering) launchTies(name string, n int, arguments ...any) error {
	f, err := o.call.Kernel(&tieKernels, "ties", name)
	if err != nil {
		return err
	}
	grid, err := f.Grid(n, tieThreads, threadRows, 0)
	if err != nil {
		return err
	}
	return f.Launch(o.call.Stream, grid, device.Dim3{X: tieThreads}, 0, arguments...)
}

// oneWord reports whether a word for each row decides the whole order. Then no ties are
// left, and the size of all memory is known in advance.
func (o *ordering) oneWord() bool { return o.plan.Exact() && o.plan.Segments[0].Words() <= 1 }

// firstSort returns the sort of the first words of all rows.
func (o *ordering) firstSort() radix.Sort {
	if s, ok := o.inPlace(); ok {
		s.Numbers, s.DropKeys = radix.RowNumbers, true
		return s
	}
	s := &o.plan.Segments[0]
	sort := radix.Sort{
		Width: 8 * s.Width(), High: s.WordLength(0), Rows: o.rows, Counted: o.counted,
		Numbers: radix.RowNumbers, DropKeys: o.oneWord(),
	}
	// A word and a row number in 64 bits are sorted faster than apart.
	if low := max(bitsFor(o.rows), 1); o.oneWord() && low+sort.High <= 64 {
		sort.Width, sort.Low, sort.High, sort.Numbers = 64, low, low+sort.High, radix.PackedNumbers
	}
	return sort
}

// wordSort sorts row numbers on a GPU by the first words of all rows, and then ties by
// their next words.
type wordSort struct {
	*ordering
	sort radix.Sort
}

// scratch are bitmaps, two buffers of words, one of row numbers, and the state of the sort.
func (w *wordSort) scratch() []uint64 {
	sizes, s := w.plan.DeviceScratch(), &w.sort
	if s.Input {
		scratch := s.InputScratch()
		return append(sizes, scratch[:]...)
	}
	second, numbers := uint64(0), uint64(0)
	if s.SecondBuffers() {
		second = s.KeyBytes()
		if s.Numbers != radix.PackedNumbers {
			numbers = s.NumberBytes()
		}
	}
	return append(sizes, s.KeyBytes(), second, numbers, s.StateBytes())
}

func (w *wordSort) run(rows memory.Slice[uint32], scratch []memory.Slice[uint8]) error {
	bitmaps := len(w.plan.Sources)
	encoder, err := rowkey.NewDevice(&w.call, w.plan, scratch[:bitmaps])
	if err != nil {
		return err
	}
	scratch = scratch[bitmaps:]
	s := &w.sort
	buffers := radix.Buffers{
		Keys:    [2]memory.Slice[uint8]{scratch[0], scratch[1]},
		Numbers: [2]memory.Slice[uint8]{rows.AsBytes(), scratch[2]},
		State:   scratch[3],
	}
	words := buffers.Keys[s.Source()%2] // not written if the sort has an input
	all := rowkey.DeviceRows{Rows: w.rows, Counted: w.counted}
	switch {
	case s.Input:
		buffers.Input = encoder.Values(0)
	case s.Numbers == radix.PackedNumbers:
		err = encoder.EncodeItems(all, s.Low, words)
	default:
		err = encoder.Encode(0, 0, all, words)
	}
	if err != nil {
		return err
	}
	if err := s.Run(&w.call, buffers); err != nil {
		return err
	}
	if w.oneWord() {
		return nil
	}
	r := refinement{ordering: w.ordering, encoder: encoder, order: rows}
	err = r.run(buffers.Keys[0])
	return errors.Join(err, r.ties.block.Release())
}

// bitsFor returns the number of bits that hold the numbers below n.
func bitsFor(n int) int { return bits.Len64(uint64(max(n-1, 0))) }
