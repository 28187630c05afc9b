package group

import (
	"errors"
	"math/bits"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// Groups of which the slots do not fit into shared memory have records in global memory, as long
// as these fit the L2 cache: records.cu describes how rows are added to them. The cache adds to a
// sector of 32 bytes at a time, so a record of up to four words costs as much as one of one word.

// recordWords returns the number of words of an accumulator in a record, or zero if records do not
// support it. kept is set if the state is the result.
func (a accumulator) recordWords(kept bool) int {
	switch {
	case a.merges:
		return 0
	case a.kind == countRows || a.kind == greatest:
		return 1
	case a.kind == sumIntegers:
		return 2
	case a.kind == sumDecimals:
		return 4
	case a.kind == sumFloats && a.term == linear && !kept:
		return 3
	}
	return 0
}

// recordLaunch is a launch of some accumulators.
type recordLaunch struct {
	// accumulators are their numbers.
	accumulators []int
	// used is the number of words, and words that of the record, a power of two.
	used, words int
}

// recordLaunches divides accumulators into launches of records for a number of groups. rest are the
// numbers of the others.
func recordLaunches(list []accumulator, kept bool, groups uint64) (launches []recordLaunch, rest []int) {
	most := mostRecordWords
	for most > 0 && 8*uint64(most)*groups > mostRecordBytes {
		most /= 2
	}
	for i, a := range list {
		words := a.recordWords(kept)
		if words == 0 || words > most {
			rest = append(rest, i)
			continue
		}
		if len(launches) == 0 || launches[len(launches)-1].used+words > most {
			launches = append(launches, recordLaunch{})
		}
		l := &launches[len(launches)-1]
		l.accumulators, l.used = append(l.accumulators, i), l.used+words
		l.words = 1 << bits.Len(uint(l.used-1))
	}
	return launches, rest
}

// recordRows is the number of rows of a thread, recordBytes the shared memory of a block: struct
// RecordMemory.
func recordRows(words int) int { return min(tileRows, 16/words) }

func recordBytes(words int) int {
	staging := recordRows(words) * (8*words*(32+16/words) + 4*32)
	return tileThreads/32*staging + frequentSlots*(8*frequentCopies*words+4)
}

// addRecords adds all rows to the states of the readers that records support. It returns the
// other readers.
func (g *grouping) addRecords(call *op.Call, readers []reader) (rest []reader, err error) {
	t := tuningOf(call.Context())
	if len(readers) == 0 || !t.addsBy(recordsName, int64(g.rows)) {
		return readers, nil
	}
	l, err := limitsOf(call)
	if err != nil {
		return nil, err
	}
	list := make([]accumulator, len(readers))
	for i := range readers {
		list[i] = readers[i].accumulator
	}
	launches, others := recordLaunches(list, g.kept, uint64(g.capacity()))
	for _, launch := range launches {
		if recordBytes(launch.words) > l.shared-tileReserve {
			others = append(others, launch.accumulators...)
			continue
		}
		if err := g.record(call, readers, launch); err != nil {
			return nil, err
		}
	}
	for _, i := range others {
		rest = append(rest, readers[i])
	}
	return rest, nil
}

// record adds all rows to the readers of a launch.
func (g *grouping) record(call *op.Call, readers []reader, l recordLaunch) error {
	t := tiling{slots: g.capacity(), copies: 1, slices: 1}
	maxima := 0
	for _, i := range l.accumulators {
		r := tileReader{reader: &readers[i], words: readers[i].recordWords(g.kept), word: t.words}
		if r.kind == greatest {
			maxima |= 1 << r.word
		}
		t.readers, t.words = append(t.readers, r), t.words+r.words
	}
	// The low bits of a float, and the high ones, are added up in 64 bits, for each of all rows.
	rows := bits.Len(uint(g.rows))
	lowBits := 64 - rows
	t.span = min(64-(54-lowBits)-rows, widestSpan)
	windows, err := t.windows(call, g)
	if err != nil {
		return err
	}
	block, slices, err := call.Scratch(8*uint64(l.words)*uint64(t.slots), 4*frequentSlots)
	if err == nil {
		err = slices[0].Fill(call.Stream, 0)
		if err == nil {
			records := recordsLayout{words: slices[0], frequent: slices[1], used: uint32(t.words), maxima: uint32(maxima), lowBits: uint32(lowBits)}
			err = t.launchRecords(call, g, l.words, slices[1], records.asArgument())
		}
		err = errors.Join(err, block.Release())
	}
	if windows != nil {
		err = errors.Join(err, windows.Release())
	}
	return err
}

// launchRecords launches the kernels of records.cu. Sums of floats are completed by those of tiles.
func (t *tiling) launchRecords(call *op.Call, g *grouping, words int, frequent memory.Slice[uint8], records any) error {
	launch := func(entry string, blocks, threads, sharedBytes int, arguments ...any) error {
		f, err := call.Kernel(&aggregateSet, "records", entry)
		if err != nil {
			return err
		}
		return f.Launch(call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: uint32(threads)}, uint32(sharedBytes), arguments...)
	}
	floats, batch := t.floats(), t.argument()
	if len(floats) > 0 {
		// settle_records writes all limbs, so none are cleared.
		if err := t.launchKernel(call, "tiles", "choose_windows", len(t.readers), windowThreads, 0, g.counted, int64(g.rows), int64(0), batch); err != nil {
			return err
		}
	}
	rows := []any{g.numbers, g.dense.argument(), g.counted, int64(g.rows), g.keys.DeviceRows(), int64(t.slots)}
	if err := launch("find_frequent", 1, tileThreads, 0, append(rows[:6:6], frequent)...); err != nil {
		return err
	}
	multiprocessors := max(call.Stream.Device().Info().Multiprocessors, 1)
	blocks := min(multiprocessors, (g.rows-1)/(tileThreads*recordRows(words))+1)
	if err := launch(recordKernels[words], blocks, tileThreads, recordBytes(words), append(rows[:6:6], batch, records)...); err != nil {
		return err
	}
	blocks = min((t.slots-1)/recordFoldThreads+1, recordFoldBlocks*multiprocessors)
	if err := launch("settle_records", blocks, recordFoldThreads, 0, g.keys.DeviceRows(), int64(t.slots), batch, records, uint32(words)); err != nil {
		return err
	}
	return t.foldWindows(call, g, floats)
}

// recordKernels are the kernels by the words of a record.
var recordKernels = map[int]string{1: "add_records_1", 2: "add_records_2", 4: "add_records_4", 8: "add_records_8"}
