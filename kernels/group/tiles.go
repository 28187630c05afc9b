package group

import (
	"errors"
	"math/bits"

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
)

// tileReader is a reader with its words in a slot.
type tileReader struct {
	*reader
	// words of 32 bits and extremes of 64 bits begin at word.
	words, word int
	window      sumWindow
}

// tileWords returns the number of words of 32 and of 64 bits of a reader in a slot, or
// false if tiles do not support it.
func (r *reader) tileWords(kept bool) (words, extremes int, ok bool) {
	if r.merges {
		return 0, 0, false
	}
	switch r.kind {
	case countRows:
		return 1, 0, true
	case sumIntegers:
		if r.in.is == fromSigned64 || r.in.is == fromUnsigned64 {
			return 3, 0, true
		}
		return 2, 0, true
	case sumDecimals:
		return 5, 0, true
	case greatest:
		return 0, 1, true
	case sumFloats:
		return windowWords, 0, r.term == linear && !kept
	}
	return 0, 0, false
}

// tiling is a launch that adds tiles to some readers.
type tiling struct {
	readers []tileReader
	// words and extremes are the numbers of words of a slot, copies that of its copies.
	words, extremes, copies int
	slots                   int
	// span is the largest distance of a value from the lowest bit of its window.
	span   int
	blocks int
}

func (t *tiling) slotBytes() int { return 4*t.words + 8*t.extremes }

// entries is the number of copies of all slots.
func (t *tiling) entries() int { return t.copies*t.slots + spareSlots }

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
	t := tiling{slots: g.capacity()}
	var launches []tiling
	for i := range readers {
		words, extremes, ok := readers[i].tileWords(g.kept)
		if !ok || (4*words+8*extremes)*(t.slots+spareSlots) > limit {
			rest = append(rest, readers[i])
			continue
		}
		if len(t.readers) == mostReaders || (t.slotBytes()+4*words+8*extremes)*(t.slots+spareSlots) > limit {
			launches = append(launches, t)
			t = tiling{slots: t.slots}
		}
		made := tileReader{reader: &readers[i], words: words, word: t.words}
		if extremes > 0 {
			made.word = t.extremes
		}
		t.readers = append(t.readers, made)
		t.words, t.extremes = t.words+words, t.extremes+extremes
	}
	if len(t.readers) > 0 {
		launches = append(launches, t)
	}
	for i := range launches {
		if err := launches[i].add(call, g, limit); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// shape chooses the number of blocks, that of the copies of a slot, and the span of windows.
func (t *tiling) shape(multiprocessors, rows, limit int) {
	most := max(1, multiprocessors)
	t.blocks = min(most, (rows-1)/(tileThreads*tileRows)+1)
	each := (rows-1)/(tileThreads*t.blocks) + tileRows + 1 // rows of a thread, at most
	t.copies = 1
	// Copies for few rows would take more time than they save.
	for t.copies < mostCopies && (2*t.copies*t.slots+spareSlots)*t.slotBytes() <= limit && 2*t.copies*t.slots <= max(each*tileThreads/4, t.slots) {
		t.copies *= 2
	}
	t.span = windowSpan(each * (tileThreads / t.copies))
}

// add adds all rows to the readers.
func (t *tiling) add(call *op.Call, g *grouping, limit int) error {
	t.shape(call.Stream.Device().Info().Multiprocessors, g.rows, limit)
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
		if err := t.run(call, "choose_windows", len(t.readers), windowThreads, 0, g.counted, int64(g.rows), int64(t.slots), t.argument()); err != nil {
			return err
		}
	}
	err := t.run(call, "add_tiles", t.blocks, tileThreads, t.entries()*t.slotBytes(),
		g.numbers, g.dense.argument(), g.counted, int64(g.rows), g.keys.DeviceRows(), int64(t.slots), t.argument())
	if err != nil || len(floats) == 0 {
		return err
	}
	blocks := min((t.slots-1)/settleThreads+1, 4*max(1, call.Stream.Device().Info().Multiprocessors))
	if err := t.run(call, "settle_sums", blocks, settleThreads, 0, g.keys.DeviceRows(), int64(t.slots), t.argument()); err != nil {
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

// run launches a kernel of tiles.cu.
func (t *tiling) run(call *op.Call, entry string, blocks, threads, sharedBytes int, arguments ...any) error {
	f, err := call.Kernel(&aggregateSet, "tiles", entry)
	if err != nil {
		return err
	}
	return f.Launch(call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: uint32(threads)}, uint32(sharedBytes), arguments...)
}

// argument returns the launch as kernels take it.
func (t *tiling) argument() any {
	fields := []any{
		uint32(len(t.readers)), uint32(t.words), uint32(t.extremes), uint32(t.slots), uint32(t.copies), uint32(bits.TrailingZeros(uint(t.copies))),
		uint32(t.entries()), uint32(t.span),
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
	return kernels.Struct(uint32(r.kind), word(r.least), word(r.kind == greatest && r.value < 0), word(r.where >= 0), uint32(r.word), uint32(r.words), uint32(r.stride), uint32(r.window.room),
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
