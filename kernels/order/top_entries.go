package order

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// Constants of entries.cuh.
const entryThreads, runEntries = 1024, 2048

// sortEntries sorts many entries, which are in no order, and writes the result: blocks sort runs of
// them, and each entry finds its place among those of the other runs.
func (s *topSelection) sortEntries(call *op.Call, selection, entries memory.Slice[uint8]) error {
	collected, err := selection.Slice(collectedOffset, collectedOffset+4)
	if err != nil {
		return err
	}
	f, err := call.Kernel(&tieKernels, "ties", "order_entries")
	if err != nil {
		return err
	}
	most := s.entries()
	runs := device.Dim3{X: uint32((most + runEntries - 1) / runEntries)}
	if err := f.Launch(call.Stream, runs, device.Dim3{X: entryThreads}, 0, entries, collected, uint32(most)); err != nil {
		return err
	}
	if f, err = call.Kernel(&tieKernels, "ties", fmt.Sprintf("order_top_%d", s.number.Bits())); err != nil {
		return err
	}
	grid, err := f.Grid(most, tieThreads, 1, 0)
	if err != nil {
		return err
	}
	return f.Launch(call.Stream, grid, device.Dim3{X: tieThreads}, 0, s.values, s.rows, s.valid, s.count, s.in.Values, entries, collected, uint32(most), uint64(s.k),
		s.in.Counted, int64(s.in.Rows))
}
