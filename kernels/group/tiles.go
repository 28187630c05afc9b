package group

import (
	"errors"
	"math"
	"math/bits"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/memory"
)

// Few groups have slots in the shared memory of one block for each multiprocessor, and each
// thread adds a tile of rows to them: tiles.cu describes how. The other readers, and more groups
// than fit, are added row by row (accumulate.cu).

// tileReader is a reader with its words in a slot.
type tileReader struct {
	*reader
	// words of 32 bits and extremes of 64 bits begin at word.
	words, word int
	window      sumWindow
	// again is set if the reader before reads the same column, and the launch adds columns. kept is
	// set for a sum of floats with a state that others are merged with.
	again, kept bool
}

// tileWords returns the number of words of 32 and of 64 bits of an accumulator in a slot, or
// false if tiles do not support it. bins is set if sums of floats have to have the bins of the definition, and
// no windows. integers is the number of words of a sum of integers.
func (a accumulator) tileWords(bins bool, integers int) (words, extremes int, ok bool) {
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
		return windowWords, 0, a.term == linear && !bins
	}
	return 0, 0, false
}

// slicesOf returns the number of slices of some slots of a size, or more than any limit if none fits.
func slicesOf(slots, bytes, limit int) int {
	most := limit/bytes - spareSlots
	if most < 1 {
		return math.MaxInt
	}
	return max(slots-1, 0)/most + 1
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
	// columns is set if the readers are ordered by columns, for the kernel of plain ones, and queues if
	// warps put the rows of a slice into queues.
	columns, queues bool
}

func (t *tiling) slotBytes() int { return 4*t.words + 8*t.extremes + t.tops }

// own is the number of groups of a block.
func (t *tiling) own() int { return (t.slots-1)/t.slices + 1 }

// entries is the number of copies of all slots of a block.
func (t *tiling) entries() int { return t.copies*t.own() + t.spare() }

// spare is the number of slots that are not of a group of the slice.
func (t *tiling) spare() int {
	if t.queues {
		return hotSlots + spareSlots
	}
	return spareSlots
}

// addTiles adds all rows to the states of the readers that tiles support. It returns the
// other readers.
func (g *grouping) addTiles(call *op.Call, readers []reader) (rest []reader, err error) {
	t := tuningOf(call.Context())
	if !t.addsBy(tilesName, int64(g.rows)) {
		return readers, nil
	}
	layout, err := g.layOutTiles(call, &t, readers)
	if err != nil {
		return nil, err
	}
	launches, others := layout.launches()
	for _, l := range launches {
		t := tiling{slots: g.capacity(), slices: l.slices, queues: l.queues}
		for _, i := range l.accumulators {
			r := tileReader{reader: &readers[i], word: t.words, kept: g.kept && readers[i].kind == sumFloats}
			words, extremes := layout.words(i)
			r.words = words
			if extremes > 0 {
				r.word = t.extremes
			}
			t.readers = append(t.readers, r)
			t.words, t.extremes = t.words+words, t.extremes+extremes
		}
		if err := t.add(call, g, layout.limitOf(l)); err != nil {
			return nil, err
		}
	}
	limit, list := layout.limit, layout.list
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

// layOutTiles divides the accumulators of readers into launches.
func (g *grouping) layOutTiles(call *op.Call, t *tuning, readers []reader) (*tileLayout, error) {
	l, err := limitsOf(call)
	if err != nil {
		return nil, err
	}
	layout := newTileLayout(t, l, g.rows, g.capacity(), t.SlotBytes, g.kept && !g.fixedPoint)
	for i := range readers {
		r := tileReader{reader: &readers[i]}
		layout.add(r.accumulator, r.terms, g.dense.isPlain() && r.isPlain())
	}
	return layout, nil
}

// rowsOfBlock returns the largest number of rows of a block, if up to some slices of the groups read
// all rows.
func rowsOfBlock(multiprocessors, slices, rows int) int {
	blocks := min(max(1, multiprocessors/slices), (rows-1)/(tileThreads*tileRows)+1)
	return tileThreads * ((rows-1)/(tileThreads*blocks) + tileRows + 1)
}

// shape chooses the number of blocks, that of the copies of a slot, and the span of windows.
func (t *tiling) shape(multiprocessors, rows, limit int) {
	blocks := min(max(1, multiprocessors/t.slices), (rows-1)/(tileThreads*tileRows)+1)
	t.blocks = blocks * t.slices
	each := rowsOfBlock(multiprocessors, t.slices, rows) / tileThreads // rows of a thread, at most
	t.copies = 1
	// Copies for few rows would take more time than they save.
	for t.copies < mostCopies && (2*t.copies*t.own()+t.spare())*t.slotBytes() <= limit && 2*t.copies*t.own() <= max(each*tileThreads/4, t.own()) {
		t.copies *= 2
	}
	sharing := t.copies
	if t.queues {
		sharing = 1 // a lane adds rows of others
	}
	t.span = windowSpan(each * (tileThreads / sharing))
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
		if err := t.launchKernel(call, "tiles", "choose_windows", len(t.readers), windowThreads, 0, g.counted, int64(g.rows), int64(t.slots), t.argument()); err != nil {
			return err
		}
	}
	choices := tuningOf(call.Context())
	file, entry := "tiles", "add_tiles"
	if choices.Without.Has(linearTiles) || slices.ContainsFunc(t.readers, func(r tileReader) bool { return r.kind == sumIntegers && r.term != linear }) {
		entry = "add_tile_products"
	}
	switch {
	case t.queues:
		file, entry = "tile_slices", "add_slices"
	case t.columns:
		file, entry = "tile_columns", "add_columns"
		if choices.Without.Has(highHalves) {
			entry = "add_columns_whole"
		}
	}
	if err := t.launchRows(call, g, file, entry); err != nil {
		return err
	}
	return t.foldWindows(call, g, floats)
}

// launchRows launches a kernel that adds all rows.
func (t *tiling) launchRows(call *op.Call, g *grouping, file, entry string) error {
	shared := t.entries() * t.slotBytes()
	if t.queues {
		shared += queueBytes
	}
	return t.launchKernel(call, file, entry, t.blocks, tileThreads, shared,
		g.numbers, g.dense.argument(), g.counted, int64(g.rows), g.keys.DeviceRows(), int64(t.slots), t.argument())
}

// foldWindows completes sums of floats: sums in windows become states, and sums of which the windows
// overflow are computed in another way.
func (t *tiling) foldWindows(call *op.Call, g *grouping, floats []reader) error {
	if len(floats) == 0 {
		return nil
	}
	blocks := min((t.slots-1)/foldThreads+1, foldBlocks*max(1, call.Stream.Device().Info().Multiprocessors))
	if err := t.launchKernel(call, "tiles", "settle_sums", blocks, foldThreads, 0, g.keys.DeviceRows(), int64(t.slots), memory.Slice[uint8]{}, uint32(0), t.argument()); err != nil {
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

// launchKernel launches a kernel.
func (t *tiling) launchKernel(call *op.Call, file, entry string, blocks, threads, sharedBytes int, arguments ...any) error {
	f, err := call.Kernel(&aggregateSet, file, entry)
	if err != nil {
		return err
	}
	return f.Launch(call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: uint32(threads)}, uint32(sharedBytes), arguments...)
}

// argument returns the launch as kernels take it.
func (t *tiling) argument() any {
	l := tileBatchLayout{
		readers: uint32(len(t.readers)), words: uint32(t.words), wide: uint32(t.extremes), slots: uint32(t.own()), copies: uint32(t.copies),
		copyBits: uint32(bits.TrailingZeros(uint(t.copies))), entries: uint32(t.entries()), span: uint32(t.span), slices: uint32(t.slices),
	}
	for i := range t.readers {
		l.reader[i] = t.readers[i].layout()
	}
	return l.asArgument()
}

func (r *tileReader) layout() tileReaderLayout {
	rows := r.kind == greatest && r.value < 0
	return tileReaderLayout{
		kind: uint32(r.kind), least: kernelset.Flag(r.least || r.marks || r.kept), rows: kernelset.Flag(rows || r.again), conditional: kernelset.Flag(r.where >= 0),
		word: uint32(r.word), words: uint32(r.words), stride: uint32(r.stride), room: uint32(r.window.room), term: uint32(r.term), isSigned: kernelset.Flag(r.terms.isSigned),
		in: r.in.layout(), other: r.other.layout(), condition: r.condition.layout(),
		states: r.states, window: r.window.state, limbs: r.window.limbs, list: r.window.list,
	}
}

// sumWindow is the memory of a sum of floats in a window.
type sumWindow struct {
	// state is a struct Window, overflowed its flag.
	state, overflowed memory.Slice[uint8]
	// limbs are three words for each group. list has room for some values outside the window.
	limbs, list memory.Slice[uint8]
	room        int
}
