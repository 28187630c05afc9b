package group

import (
	"errors"
	"math/bits"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/strategy"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Few groups have slots in the shared memory of one block for each multiprocessor, and each
// thread adds a tile of rows to them: tiles.cu describes how. The other readers, and more groups
// than fit, are added row by row (accumulate.cu).
const (
	tileThreads = 1024
	tileRows    = 4
	// fewestTiledRows is the number of rows from which on tiles are worth their launches.
	fewestTiledRows = 1 << 18
	// tileReserve is the shared memory that the system and the arguments take from a block.
	tileReserve = 4 << 10
	// spareSlots are slots for rows of no group, one for each lane.
	spareSlots = 32
	// mostSlices is the number of slices of the groups, of which each reads all rows, and
	// mostTilePasses that of all launches, up to which records and partitions take longer.
	mostSlices, mostTilePasses = 4, 6
)

// tileReader is a reader with its words in a slot.
type tileReader struct {
	*reader
	// words of 32 bits and extremes of 64 bits begin at word.
	words, word int
	window      sumWindow
	// again is set if the reader before reads the same column, and the launch adds columns.
	again bool
}

// tileWords returns the number of words of 32 and of 64 bits of an accumulator in a slot, or
// false if tiles do not support it. integers is the number of words of a sum of integers.
func (a accumulator) tileWords(kept bool, integers int) (words, extremes int, ok bool) {
	if a.merges {
		return 0, 0, false
	}
	switch a.kind {
	case countRows:
		return 1, 0, true
	case sumIntegers:
		return integers, 0, true
	case sumDecimals:
		return 5, 0, true
	case greatest:
		return 0, 1, true
	case sumFloats:
		return windowWords, 0, a.term == linear && !kept
	}
	return 0, 0, false
}

// tileLaunch is the accumulators of a launch, by their numbers, with the words of a slot.
type tileLaunch struct {
	accumulators    []int
	words, extremes int
	slices          int
}

func (l *tileLaunch) slotBytes() int { return 4*l.words + 8*l.extremes }

// slicesOf returns the number of slices of some slots of a size, or more than mostSlices.
func slicesOf(slots, bytes, limit int) int {
	most := limit/bytes - spareSlots
	if most < 1 {
		return mostSlices + 1
	}
	return max(slots-1, 0)/most + 1
}

// tileLaunches divides accumulators into launches for a number of slots. rest are the numbers of the
// others. An accumulator that needs slices has a separate launch. integers returns the number of words of
// a sum of integers.
func tileLaunches(list []accumulator, integers func(int) int, kept bool, slots, limit int) (launches []tileLaunch, rest []int) {
	open := -1 // the launch without slices
	for i, a := range list {
		l := tileLaunch{accumulators: []int{i}}
		var ok bool
		if l.words, l.extremes, ok = a.tileWords(kept, integers(i)); !ok {
			rest = append(rest, i)
			continue
		}
		if l.slices = slicesOf(slots, l.slotBytes(), limit); l.slices > mostSlices {
			rest = append(rest, i)
			continue
		}
		if l.slices > 1 {
			launches = append(launches, l)
			continue
		}
		if open >= 0 {
			o := &launches[open]
			if len(o.accumulators) < mostReaders && slicesOf(slots, o.slotBytes()+l.slotBytes(), limit) == 1 {
				o.accumulators = append(o.accumulators, i)
				o.words, o.extremes = o.words+l.words, o.extremes+l.extremes
				continue
			}
		}
		open, launches = len(launches), append(launches, l)
	}
	return launches, rest
}

// tiled reports whether tiles are the way to add up a number of places, with an accumulator that
// counts the rows of each.
func (r *run) tiled(places uint64) (bool, error) {
	choices := strategy.OfGroup(r.call.Context())
	if choices.Partition || choices.Records || places > mostDensePlaces || r.rows.Capacity() < fewestTiledRows && !choices.Tiles {
		return false, nil
	}
	limit, err := r.call.Stream.Device().Attribute(backend.MaxSharedMemoryPerBlockOptIn)
	if err != nil {
		return false, err
	}
	list, rows := r.counted(), rowsOfBlock(r.call.Stream.Device().Info().Multiprocessors, mostSlices, int(r.rows.Capacity()))
	integers := func(i int) int {
		if list[i].kind != sumIntegers {
			return 0
		}
		terms, _, _ := list[i].extent(r.extentOf)
		return terms.words(rows)
	}
	launches, rest := tileLaunches(list, integers, false, int(places), limit-tileReserve)
	passes := 0
	for _, l := range launches {
		passes += l.slices
	}
	return len(rest) == 0 && passes <= mostTilePasses, nil
}

// counted returns the plan's accumulators and one that counts the rows of each group.
func (r *run) counted() []accumulator {
	rows := accumulator{kind: countRows, value: -1, other: -1, where: -1}
	list := slices.Clone(r.plan.accumulators)
	if !slices.Contains(list, rows) {
		list = append(list, rows)
	}
	return list
}

// tiling is a launch that adds tiles to some readers.
type tiling struct {
	readers []tileReader
	// words and extremes are the numbers of words of a slot, copies that of its copies.
	words, extremes, copies int
	// tops is the number of bytes behind the words.
	tops int
	// slots is the number of groups. Each block has slots of one of the slices of them.
	slots, slices int
	// span is the largest distance of a value from the lowest bit of its window.
	span   int
	blocks int
	// columns is set if the readers are ordered by columns, for the kernel of plain ones.
	columns bool
}

func (t *tiling) slotBytes() int { return 4*t.words + 8*t.extremes + t.tops }

// own is the number of groups of a block.
func (t *tiling) own() int { return (t.slots-1)/t.slices + 1 }

// entries is the number of copies of all slots of a block.
func (t *tiling) entries() int { return t.copies*t.own() + spareSlots }

// addTiles adds all rows to the states of the readers that tiles support. It returns the
// other readers.
func (g *grouping) addTiles(call *op.Call, readers []reader) (rest []reader, err error) {
	choices := strategy.OfGroup(call.Context())
	if g.rows < fewestTiledRows && !choices.Tiles {
		return readers, nil
	}
	limit, err := call.Stream.Device().Attribute(backend.MaxSharedMemoryPerBlockOptIn)
	if err != nil {
		return nil, err
	}
	limit -= tileReserve
	if choices.SlotBytes > 0 {
		limit = choices.SlotBytes
	}
	list := make([]accumulator, len(readers))
	for i := range readers {
		list[i] = readers[i].accumulator
	}
	rows := rowsOfBlock(call.Stream.Device().Info().Multiprocessors, mostSlices, g.rows)
	integers := func(i int) int { return readers[i].terms.words(rows) }
	launches, others := tileLaunches(list, integers, g.kept, g.capacity(), limit)
	for _, l := range launches {
		t := tiling{slots: g.capacity(), slices: l.slices}
		for _, i := range l.accumulators {
			made := tileReader{reader: &readers[i], word: t.words}
			words, extremes, _ := list[i].tileWords(g.kept, integers(i))
			made.words = words
			if extremes > 0 {
				made.word = t.extremes
			}
			t.readers = append(t.readers, made)
			t.words, t.extremes = t.words+words, t.extremes+extremes
		}
		if err := t.add(call, g, limit); err != nil {
			return nil, err
		}
	}
	powers, others := powerLaunches(list, others, g.kept, g.capacity(), limit)
	for _, l := range powers {
		added, err := g.addPowers(call, readers, l, limit)
		if err != nil {
			return nil, err
		}
		if !added {
			others = append(others, l.accumulators...)
		}
	}
	for _, i := range others {
		rest = append(rest, readers[i])
	}
	return rest, nil
}

// rowsOfBlock returns the largest number of rows of a block, if up to some slices of the groups read
// all rows.
func rowsOfBlock(multiprocessors, slices, rows int) int {
	parts := min(max(1, multiprocessors/slices), (rows-1)/(tileThreads*tileRows)+1)
	return tileThreads * ((rows-1)/(tileThreads*parts) + tileRows + 1)
}

// shape chooses the number of blocks, that of the copies of a slot, and the span of windows.
func (t *tiling) shape(multiprocessors, rows, limit int) {
	parts := min(max(1, multiprocessors/t.slices), (rows-1)/(tileThreads*tileRows)+1)
	t.blocks = parts * t.slices
	each := rowsOfBlock(multiprocessors, t.slices, rows) / tileThreads // rows of a thread, at most
	t.copies = 1
	// Copies for few rows would take more time than they save.
	for t.copies < mostCopies && (2*t.copies*t.own()+spareSlots)*t.slotBytes() <= limit && 2*t.copies*t.own() <= max(each*tileThreads/4, t.own()) {
		t.copies *= 2
	}
	t.span = windowSpan(each * (tileThreads / t.copies))
}

// add adds all rows to the readers.
func (t *tiling) add(call *op.Call, g *grouping, limit int) error {
	t.shape(call.Stream.Device().Info().Multiprocessors, g.rows, limit)
	t.columns = t.orderColumns(g)
	block, err := t.windows(call, g)
	if err != nil {
		return err
	}
	err = t.launch(call, g)
	if block != nil {
		err = errors.Join(err, block.Release())
	}
	return err
}

func (t *tiling) launch(call *op.Call, g *grouping) error {
	floats := t.floats()
	if len(floats) > 0 {
		if err := t.run(call, "tiles", "choose_windows", len(t.readers), windowThreads, 0, g.counted, int64(g.rows), int64(t.slots), t.argument()); err != nil {
			return err
		}
	}
	file, entry := "tiles", "add_tiles"
	if t.columns {
		file, entry = "tile_columns", "add_columns"
	}
	if err := t.launchRows(call, g, file, entry); err != nil {
		return err
	}
	return t.settle(call, g, floats)
}

// launchRows launches a kernel that adds all rows.
func (t *tiling) launchRows(call *op.Call, g *grouping, file, entry string) error {
	return t.run(call, file, entry, t.blocks, tileThreads, t.entries()*t.slotBytes(),
		g.numbers, g.dense.argument(), g.counted, int64(g.rows), g.keys.DeviceRows(), int64(t.slots), t.argument())
}

// settle completes sums of floats: sums in windows become states, and sums of which the windows
// overflow are computed in another way.
func (t *tiling) settle(call *op.Call, g *grouping, floats []reader) error {
	if len(floats) == 0 {
		return nil
	}
	blocks := min((t.slots-1)/settleThreads+1, 4*max(1, call.Stream.Device().Info().Multiprocessors))
	if err := t.run(call, "tiles", "settle_sums", blocks, settleThreads, 0, g.keys.DeviceRows(), int64(t.slots), t.argument()); err != nil {
		return err
	}
	for stage := range uint32(2) {
		if err := g.launch(call, floats, stage); err != nil {
			return err
		}
	}
	return nil
}

// floats returns the readers with windows, which are added again if a window overflows.
func (t *tiling) floats() (floats []reader) {
	for i := range t.readers {
		if r := &t.readers[i]; r.kind == sumFloats {
			again := *r.reader
			again.needed = r.window.overflowed
			floats = append(floats, again)
		}
	}
	return floats
}

// run launches a kernel.
func (t *tiling) run(call *op.Call, file, entry string, blocks, threads, sharedBytes int, arguments ...any) error {
	f, err := call.Kernel(&aggregateSet, file, entry)
	if err != nil {
		return err
	}
	return f.Launch(call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: uint32(threads)}, uint32(sharedBytes), arguments...)
}

// argument returns the launch as kernels take it.
func (t *tiling) argument() any {
	fields := []any{
		uint32(len(t.readers)), uint32(t.words), uint32(t.extremes), uint32(t.own()), uint32(t.copies), uint32(bits.TrailingZeros(uint(t.copies))),
		uint32(t.entries()), uint32(t.span), uint32(t.slices), uint32(0),
	}
	for i := range t.readers {
		fields = append(fields, t.readers[i].argument())
	}
	none := tileReader{reader: new(reader)}
	for range mostReaders - len(t.readers) {
		fields = append(fields, none.argument())
	}
	return kernels.Struct(fields...)
}

func (r *tileReader) argument() any {
	rows := r.kind == greatest && r.value < 0
	return kernels.Struct(uint32(r.kind), word(r.least || r.marks), word(rows || r.again), word(r.where >= 0), uint32(r.word), uint32(r.words), uint32(r.stride), uint32(r.window.room), uint32(r.term), word(r.terms.isSigned),
		r.in.argument(), r.other.argument(), r.condition.argument(), r.states, r.window.state, r.window.limbs, r.window.list)
}

// sumWindow is the memory of a sum of floats in a window.
type sumWindow struct {
	// state is a struct Window, overflowed its flag.
	state, overflowed memory.Slice[uint8]
	// limbs are three words for each group. list has room for some values outside the window.
	limbs, list memory.Slice[uint8]
	room        int
}
