package join

import (
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// hashSeeds returns the seed and the factor of a hash function. They are random, so that
// keys chosen to collide do not. The factor is odd.
var hashSeeds = func() (seed, factor uint64) { return rand.Uint64(), rand.Uint64() | 1 }

// table finds the rows of the build side by their keys: by their places if these are
// integers in a small range, otherwise by a hash table. Its memory on a GPU is described in
// table.cuh; on the host a slot of the hash table has a key and a row.
type table struct {
	memory memory.Slice[uint8]
	// size is the number of slots of a hash table. On the host there is one more, for the key
	// that looks like an empty slot.
	size         uint64
	seed, factor uint64
	// The keys from least on have places, if places is not zero. If room is not zero the
	// device measures the range of the keys with the bits of sign inverted, and gives them
	// places if there are at most room.
	least, places, room, sign uint64
	// filterBits is the logarithm of the bits of the filter between the header and the slots, or 0 without one.
	filterBits int
	// mask has the bits of a key.
	mask uint64
	// rows is the number of rows of the build side.
	rows int
	// wide is set for words of 64 bits.
	wide bool
	// decided is set if the host knows distinct: whether no key occurs twice, or it does not
	// matter. If one does, list has the rows in the order of their slots, and spans the
	// span of each slot, if slots have no room for it. Before, slotOf is on the host the slot of
	// each row.
	decided, distinct bool
	slotOf            memory.Slice[uint32]
	slotBlock         *memory.Block
	list              memory.Slice[uint32]
	spans             memory.Slice[uint64]
	// keys are the words of the rows, or nil if they are not needed any more. values are the
	// words, which a hash table on a GPU compares.
	keys   *words
	values memory.Slice[uint8]
	// regions are the regions of memory that are parts of a spilled index: see [built.parts].
	// sharesKey is set if values are those of the only key.
	regions   []int
	sharesKey bool

	held release.Stack
}

// lookup is the table and the words of matches that are not found yet, because the step that
// needs them can often find them itself.
type lookup struct {
	table *table
	words *words
}

// newTable returns a hash table for the rows of words, which it takes over, without memory.
func newTable(c *call, w *words) *table {
	n := uint64(w.rows)
	t := &table{rows: w.rows, wide: w.wide, size: slotsOf(n), sign: w.sign, mask: math.MaxUint64, keys: w, values: w.values}
	if c.OnHost() {
		t.size = 2 * n
	}
	if !w.wide {
		t.mask = math.MaxUint32
	}
	t.seed, t.factor = hashSeeds()
	return t
}

// slotsOf returns the number of slots of a hash table of n rows on a GPU.
func slotsOf(n uint64) uint64 { return max(n+n/2+1, min(slotsPerRow*n, cachedSlots)) }

// setPlaces gives the keys of a range their places.
func (t *table) setPlaces(least, places uint64) { t.least, t.places, t.size = least, places, 0 }

// Release releases what the table holds.
func (t *table) Release() error {
	if t == nil {
		return nil
	}
	return errors.Join(t.dropSlots(), t.dropKeys(), t.held.Release())
}

// dropSlots releases the slots of the rows.
func (t *table) dropSlots() error {
	block := t.slotBlock
	t.slotBlock, t.slotOf = nil, memory.Slice[uint32]{}
	return block.Release()
}

// dropKeys releases the words of the rows.
func (t *table) dropKeys() error {
	keys := t.keys
	t.keys, t.values = nil, memory.Slice[uint8]{}
	return keys.Release()
}

// finish releases what a table does not need once it is known whether its keys are distinct.
func (t *table) finish(c *call) error {
	err := t.dropSlots()
	if c.OnHost() || t.places > 0 {
		err = errors.Join(err, t.dropKeys())
	}
	return err
}

// filterBytes is the memory of the filter.
func (t *table) filterBytes() int {
	if t.filterBits == 0 {
		return 0
	}
	return 1 << t.filterBits / 8
}

// slotMemory is the memory behind the header and the filter.
func (t *table) slotMemory() (memory.Slice[uint8], error) {
	return t.memory.Slice(headerBytes+t.filterBytes(), t.memory.Len())
}

// slotBytes is the memory of the slots: on a GPU those of places, or of a hash table.
func (t *table) slotBytes(c *call) uint64 {
	n := t.places
	if t.size > 0 {
		if n = t.size; c.OnHost() {
			return 16 * (t.size + 1)
		}
	}
	return (4*n + 15) &^ 15 // cleared in pairs of words
}

// mostBytes is the memory of the slots, or of the places that the device may give keys.
func (t *table) mostBytes(c *call) uint64 { return max(t.slotBytes(c), (4*t.room+15)&^15) }

// header returns the memory before the slots: struct Header of table.cuh, and from word
// outcomeWord on the outcome of a first try to pair rows.
func (t *table) header() (memory.Slice[uint64], error) {
	bytes, err := t.memory.Slice(0, headerBytes)
	if err != nil {
		return memory.Slice[uint64]{}, err
	}
	return memory.Reinterpret[uint64](bytes)
}

// argument returns the table as kernels take it.
func (t *table) argument() (any, error) {
	slots, err := t.slotMemory()
	if err != nil {
		return nil, err
	}
	filter := memory.Slice[uint8]{}
	if t.filterBits > 0 {
		filter, err = t.memory.Slice(headerBytes, headerBytes+t.filterBytes())
	}
	l := tableLayout{
		slots: slots, header: t.memory, size: t.size, seed: t.seed, factor: t.factor, least: t.least, places: t.places, room: t.room, sign: t.sign,
		spans: t.spans, words: t.values, rowBits: uint64(bits.Len(uint(t.rows))),
		filter: filter, filterBits: uint64(t.filterBits),
	}
	return l.asArgument(), err
}
