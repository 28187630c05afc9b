package order

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/radix"
	"github.com/gpuframe/gpuframe/memory"
)

// entrySorts are the two sorts of many entries, which are in no order: by rows with the keys
// along, and then, stably, by keys with the rows along.
func (s *topSelection) entrySorts() (byRow, byKey radix.Sort) {
	n := s.entries()
	byRow = radix.Sort{Width: 32, High: max(bitsFor(s.in.Rows), 1), Rows: n, Input: true, Numbers: radix.GivenNumbers, WideNumbers: true}
	byKey = radix.Sort{Width: 64, High: s.number.Bits(), Rows: n, Input: true, Numbers: radix.GivenNumbers, DropKeys: true}
	return byRow, byKey
}

// sortBytes returns the sizes of the memory of sortEntries: keys and rows, apart and then by
// rows, the rows in order, the number of entries, and the memory of the sorts.
func (s *topSelection) sortBytes() []uint64 {
	n := uint64(s.entries())
	byRow, byKey := s.entrySorts()
	sizes := []uint64{8 * n, 4 * n, 8 * n, 4 * n, 4 * n, 8}
	first, second := byRow.InputScratch(), byKey.InputScratch()
	return append(append(sizes, first[:]...), second[:]...)
}

// sortEntries sorts many entries and writes the result.
func (s *topSelection) sortEntries(call *op.Call, selection, entries memory.Slice[uint8], scratch []memory.Slice[uint8]) error {
	keys, rows, sortedKeys, sortedRows, order, counted := scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5]
	collected, err := selection.Slice(collectedOffset, collectedOffset+4)
	if err != nil {
		return err
	}
	if err := s.launchTies(call, "order_entries", s.entries(), keys, rows, counted, entries, collected, uint32(s.entries())); err != nil {
		return err
	}
	byRow, byKey := s.entrySorts()
	if byRow.Counted, err = memory.Reinterpret[int64](counted); err != nil {
		return err
	}
	byKey.Counted = byRow.Counted
	own := scratch[6:10]
	err = byRow.Run(call, radix.Buffers{
		Input: rows, InputNumbers: keys, Keys: [2]memory.Slice[uint8]{sortedRows, own[1]}, Numbers: [2]memory.Slice[uint8]{sortedKeys, own[2]}, State: own[3],
	})
	if err != nil {
		return err
	}
	own = scratch[10:14]
	err = byKey.Run(call, radix.Buffers{
		Input: sortedKeys, InputNumbers: sortedRows, Keys: [2]memory.Slice[uint8]{own[0], own[1]}, Numbers: [2]memory.Slice[uint8]{order, own[2]}, State: own[3],
	})
	if err != nil {
		return err
	}
	return s.launchTies(call, fmt.Sprintf("order_top_%d", s.number.Bits()), s.k, s.values, s.rows, s.valid, s.count, s.in.Values, order, counted, uint64(s.k),
		s.in.Counted, int64(s.in.Rows))
}

// launchTies enqueues a kernel for n rows.
func (s *topSelection) launchTies(call *op.Call, name string, n int, arguments ...any) error {
	f, err := call.Kernel(&tieKernels, "ties", name)
	if err != nil {
		return err
	}
	grid, err := f.Grid(n, tieThreads, 1, 0)
	if err != nil {
		return err
	}
	return f.Launch(call.Stream, grid, device.Dim3{X: tieThreads}, 0, arguments...)
}
