package group

import (
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// aggregateSet has the kernels of aggregates, each compiled when it is first used.
var aggregateSet = kernelset.Set{Files: code, Directory: "cuda", Apart: true}

// layout returns a source as kernels take it.
func (s *source) layout() sourceLayout {
	return sourceLayout{values: s.values, valid: s.valid, bit: uint64(s.bit), form: uint32(s.form), width: uint32(s.width)}
}

// argument is the layout as an argument of a launch.
func (s *source) argument() any {
	l := s.layout()
	return l.asArgument()
}

// layout returns a reader as kernels take it. offset is the number of its first word
// in a slot.
func (r *reader) layout(offset int) readerLayout {
	return readerLayout{
		kind: uint32(r.kind), term: uint32(r.term), least: kernelset.Flag(r.least), rows: kernelset.Flag(r.numbersRows()), merges: kernelset.Flag(r.merges), conditional: kernelset.Flag(r.where >= 0),
		words: uint32(r.words()), offset: uint32(offset), stride: uint32(r.stride), isSigned: kernelset.Flag(r.terms.isSigned),
		in: r.in.layout(), other: r.other.layout(), condition: r.condition.layout(), states: r.states, needed: r.needed,
	}
}

// numbersRows reports whether the values are the numbers of the rows.
func (r *reader) numbersRows() bool { return r.kind == greatest && r.value < 0 && !r.merges }

// twoStages reports whether the accumulator needs a launch before the main one.
func (r *reader) twoStages() bool { return r.kind == firstGreatest || r.kind == sumFloats }

// accumulateOnDevice adds all rows to the states of readers.
func (g *grouping) accumulateOnDevice(call *op.Call, readers []reader) error {
	if g.capacity() == 0 || g.rows == 0 {
		return nil
	}
	for _, a := range adders {
		if a.add == nil || len(readers) == 0 {
			continue
		}
		var err error
		if readers, err = a.add(g, call, readers); err != nil {
			return err
		}
	}
	return nil
}

// addSlots adds all rows to the states of readers: the groups of the first rows have slots in shared memory.
func (g *grouping) addSlots(call *op.Call, readers []reader) ([]reader, error) {
	for len(readers) > 0 {
		n := min(len(readers), mostReaders)
		var before []reader
		for _, r := range readers[:n] {
			if r.twoStages() {
				before = append(before, r)
			}
		}
		if len(before) > 0 {
			if err := g.launch(call, before, 0); err != nil {
				return nil, err
			}
		}
		if err := g.launch(call, readers[:n], 1); err != nil {
			return nil, err
		}
		readers = readers[n:]
	}
	return nil, nil
}

// launch adds all rows to the states of readers.
func (g *grouping) launch(call *op.Call, readers []reader, stage uint32) error {
	f, err := call.Kernel(&aggregateSet, "accumulate", "accumulate")
	if err != nil {
		return err
	}
	words := 0
	batch := batchLayout{readers: uint32(len(readers)), stage: stage}
	for i := range readers {
		batch.reader[i] = readers[i].layout(words)
		words += readers[i].words()
	}
	room := min(sharedWords, max(mostCopies*words*g.capacity(), words+1))
	batch.words, batch.room = uint32(words), uint32(room)
	blocks := max(call.Stream.Device().Info().Multiprocessors, 1) * residentBlocks
	grid := kernels.GridFor(g.rows, aggregateThreads)
	grid.X = min(grid.X, uint32(blocks))
	return f.Launch(call.Stream, grid, device.Dim3{X: aggregateThreads}, uint32(8*room), g.numbers, g.dense.argument(), g.counted, int64(g.rows),
		g.keys.DeviceRows(), int64(g.capacity()), batch.asArgument())
}

// onDevice writes the results of all groups.
func (f *finishing) onDevice(call *op.Call, out op.Buffers) error {
	l := finishingLayout{
		finish: uint32(f.finish), form: uint32(f.form), isSigned: kernelset.Flag(f.isSigned), least: kernelset.Flag(f.least), counted: kernelset.Flag(f.counted),
		states: uint32(len(f.states)), stride: uint32(f.stride), argument: max(uint64(f.freedom), f.factor), // a step has one of them
	}
	for i, n := range f.words {
		l.lengths |= uint32(n) << (4 * i)
	}
	copy(l.state[:], f.states)
	return launchRows(call, "finish", "finish", (f.groups+63)/64*64, out.Values, out.Valid, uint64(f.groups), l.asArgument())
}

// launchRows launches a kernel with a thread for each of n things.
func launchRows(call *op.Call, file, entry string, n int, arguments ...any) error {
	f, err := call.Kernel(&aggregateSet, file, entry)
	if err != nil {
		return err
	}
	return f.Launch(call.Stream, kernels.GridFor(n, aggregateThreads), device.Dim3{X: aggregateThreads}, 0, arguments...)
}

// launchGrid launches a kernel that loops over n rows.
func launchGrid(call *op.Call, file, entry string, n int, arguments ...any) error {
	f, err := call.Kernel(&aggregateSet, file, entry)
	if err != nil {
		return err
	}
	grid := kernels.GridFor(n, aggregateThreads)
	grid.X = min(grid.X, uint32(max(call.Stream.Device().Info().Multiprocessors, 1)*2*residentBlocks))
	return f.Launch(call.Stream, grid, device.Dim3{X: aggregateThreads}, 0, arguments...)
}

func pairOnDevice(call *op.Call, out op.Buffers, high, low, mask source, factor uint64, counted memory.Slice[int64], rows int) error {
	return launchRows(call, "rows", "pair_numbers", rows, out.Values, high.argument(), low.argument(), mask.argument(), factor, counted, int64(rows))
}

func numberRowsOnDevice(call *op.Call, out op.Buffers, n int) error {
	return launchRows(call, "rows", "number_rows", n, out.Values, uint64(n))
}

func offsetsOnDevice(call *op.Call, out op.Buffers, ends memory.Slice[uint8], n int) error {
	return launchRows(call, "rows", "list_offsets", n+1, out.Values, ends, uint64(n))
}

func firstOfEachOnDevice(call *op.Call, out op.Buffers, g *grouping, counts, ends memory.Slice[uint64], limit uint64) error {
	return launchRows(call, "rows", "first_of_each", g.rows, out.Values, g.numbers, counts, ends, uint64(counts.Len()), limit, g.counted, int64(g.rows))
}

func (q *quantiles) onDevice(call *op.Call, out op.Buffers) error {
	return launchRows(call, "rows", "quantiles", q.groups, out.Values, out.Valid, q.values.argument(), q.rows, q.ends, q.fraction, uint64(q.groups))
}

func numbersOfListsOnDevice(call *op.Call, out op.Buffers, offsets memory.Slice[int32], g *grouping, elements int) error {
	return launchRows(call, "rows", "numbers_of_lists", elements, out.Values, offsets, g.numbers, g.counted, int64(g.rows), uint64(elements))
}

func scatterOnDevice(call *op.Call, out op.Buffers, rows memory.Slice[uint8], g *grouping) error {
	return launchRows(call, "rows", "scatter_numbers", g.rows, out.Values, rows, g.numbers, g.counted, int64(g.rows))
}
