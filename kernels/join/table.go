package join

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

const (
	// mostBuilt is the most rows of a build side that has a table: slots have numbers of 32
	// bits.
	mostBuilt = math.MaxInt32
	// measuredRows is the fewest rows of a side for which the range of integer keys of the
	// build side is measured. For fewer the kernel that measures costs more than a search in a
	// hash table.
	measuredRows = 1 << 13
	// headerBytes is the memory before the slots.
	headerBytes = 64
	headerWords = headerBytes / 8
	outcomeWord = 4
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
func (r *run) finish(t *table) error {
	err := t.dropSlots()
	if r.call.OnHost() || t.places > 0 {
		err = errors.Join(err, t.dropKeys())
	}
	return err
}

// slotMemory is the memory behind the header.
func (t *table) slotMemory() (memory.Slice[uint8], error) {
	return t.memory.Slice(headerBytes, t.memory.Len())
}

// newTable plans a table for words.
func (r *run) newTable(w *words) *table {
	n := uint64(w.rows)
	t := &table{rows: w.rows, wide: w.wide, size: n + n/2 + 1, sign: w.sign, mask: math.MaxUint64}
	if r.call.OnHost() {
		t.size = 2 * n
	}
	if !w.wide {
		t.mask = math.MaxUint32
	}
	t.seed, t.factor = hashSeeds()
	chosen := strategy.OfJoin(r.call.Context()).Table
	// Places take up to a third more memory than a hash table, and need one access instead of
	// two or three.
	room := min(2*n, math.MaxUint32-1)
	if r.call.OnHost() {
		room = min(4*n, math.MaxUint32-1)
	}
	least, places, known := w.span()
	switch {
	case chosen == strategy.Hashed:
	case known && places <= room:
		t.least, t.places, t.size = least, places, 0
	case !known && (max(w.rows, r.probed) >= measuredRows || r.kept || chosen == strategy.Places):
		t.room = room
	}
	return t
}

// slotBytes is the memory of the slots: on a GPU those of places, or of a hash table.
func (r *run) slotBytes(t *table) uint64 {
	n := t.places
	if t.size > 0 {
		if n = t.size; r.call.OnHost() {
			return 16 * (t.size + 1)
		}
	}
	return (4*n + 15) &^ 15 // cleared in pairs of words
}

// build makes a table of the rows of the build side, and takes over their words. If any is
// set it answers only whether a key has a row. The caller releases it.
func (r *run) build(w *words, any bool) (*table, error) {
	t := r.newTable(w)
	t.keys, t.values = w, w.values
	err := r.fillTable(t, w, any || w.unique)
	if err == nil && t.decided {
		err = r.finish(t)
	}
	return release.OnError(t, err)
}

// fillTable inserts all rows. With distinct set it does not matter whether keys occur twice.
func (r *run) fillTable(t *table, w *words, distinct bool) error {
	// More rows than places cannot have distinct keys. The slots are not needed then.
	repeated := !distinct && !r.call.OnHost() && t.places > 0 && uint64(w.rows) > t.places && w.valid.Len() == 0
	size := uint64(headerBytes)
	if !repeated {
		size += max(r.slotBytes(t), (4*t.room+15)&^15)
	}
	block, slices, err := r.allocate(size)
	if err != nil {
		return err
	}
	t.held.Add(block)
	t.memory, t.decided, t.distinct = slices[0], distinct, distinct
	if repeated {
		t.decided, t.distinct = true, false
		return r.sortSlotsOnDevice(t)
	}
	if !r.call.OnHost() {
		return r.insertOnDevice(t, w)
	}
	if err := t.memory.Fill(r.call.Stream, 0xff); err != nil {
		return err
	}
	if !distinct {
		if err := r.newSlots(t); err != nil {
			return err
		}
	}
	if err := r.waitIdle(); err != nil {
		return err
	}
	if err := r.insertOnHost(t, w); err != nil {
		return err
	}
	return r.decideDistinct(t)
}

// newSlots allocates the slots of the rows.
func (r *run) newSlots(t *table) error {
	block, slices, err := r.uint32s(t.rows)
	if err == nil {
		t.slotBlock, t.slotOf = block, slices[0]
	}
	return err
}

// decideDistinct finds out whether keys occur several times, and sorts the rows by slot if
// they do. A GPU waits.
func (r *run) decideDistinct(t *table) error {
	if t.decided {
		return nil
	}
	words, err := t.header()
	if err != nil {
		return err
	}
	var header [headerWords]uint64
	if err := words.Download(r.call.Context(), r.call.Stream, header[:]); err != nil {
		return err
	}
	return r.decideDistinctFrom(t, &header)
}

// header returns the memory before the slots: struct Header of table.cuh, and from word
// outcomeWord on the outcome of a first try to pair rows.
func (t *table) header() (memory.Slice[uint64], error) {
	bytes, err := t.memory.Slice(0, headerBytes)
	if err != nil {
		return memory.Slice[uint64]{}, err
	}
	return memory.Reinterpret[uint64](bytes)
}

// decideDistinctFrom is decideDistinct with the words of the header.
func (r *run) decideDistinctFrom(t *table, header *[headerWords]uint64) error {
	t.decided, t.distinct = true, uint32(header[2]) != 0
	if least, greatest := header[0], ^header[1]; t.room > 0 && least <= greatest && greatest-least < t.room {
		t.least, t.places = least^t.sign, greatest-least+1
		t.keys.learnSpan(t.least, t.places)
	}
	t.room = 0
	if t.distinct {
		return r.finish(t)
	}
	if r.call.OnHost() {
		return errors.Join(r.sortSlots(t), r.finish(t))
	}
	return errors.Join(r.sortSlotsOnDevice(t), r.finish(t))
}

// sortSlots lists the rows in the order of their slots on the host, and writes the spans of
// the slots.
func (r *run) sortSlots(t *table) error {
	numbers, err := selection.RowNumbers(t.slotOf, nil)
	if err != nil {
		return err
	}
	slots, err := tableOf([]string{"slot"}, []*column.Column{numbers}, buffer.Rows{Count: int64(t.rows)})
	if err = errors.Join(err, numbers.Release()); err != nil {
		return errors.Join(err, slots.Release())
	}
	list, err := order.Indices(r.call.Context(), slots, []order.Key{{Column: "slot"}}, r.building())
	if err = errors.Join(err, slots.Release()); err != nil {
		return errors.Join(err, list.Release())
	}
	t.held.Add(list)
	if t.list, err = uint32sOf(list); err != nil {
		return err
	}
	if err := r.newSpans(t, true); err != nil {
		return err
	}
	return errors.Join(r.waitIdle(), r.slotSpansOnHost(t))
}

// newSpans allocates spans for slots that have no room for them. Places without a row are
// read too: with clear set all spans are empty.
func (r *run) newSpans(t *table, clear bool) error {
	n := t.places
	if n == 0 && !r.call.OnHost() {
		n = t.size
	}
	if n == 0 {
		return nil
	}
	block, slices, err := r.allocate(8 * n)
	if err != nil {
		return err
	}
	t.held.Add(block)
	if t.spans, err = memory.Reinterpret[uint64](slices[0]); err != nil || t.places == 0 || !clear {
		return err
	}
	return errors.Join(t.spans.Fill(r.call.Stream, 0), r.waitIdle())
}

// allocate allocates memory of the build side, which may stay behind the call.
func (r *run) allocate(sizes ...uint64) (*memory.Block, []memory.Slice[uint8], error) {
	if r.kept {
		return r.call.Allocate(sizes...)
	}
	return r.call.Scratch(sizes...)
}

// probe returns the matches of the rows of the probe side, and takes over their words. The
// matches refer to the table's list. On a GPU the rows are looked up later: see [lookup].
func (r *run) probe(t *table, w *words) (*matches, error) {
	if strategy.OfJoin(r.call.Context()).Waits {
		if err := r.decideDistinct(t); err != nil {
			return nil, errors.Join(err, w.Release())
		}
	}
	m := &matches{probe: w.rows, build: t.rows, single: !t.decided || t.distinct, pending: &lookup{t, w}}
	m.held.Add(w)
	if r.call.OnHost() {
		return release.OnError(m, r.lookUp(m))
	}
	return m, nil
}

// find writes the matches of words.
func (r *run) find(m *matches, t *table, w *words) error {
	lengths := []int{w.rows}
	if m.single = !t.decided || t.distinct; !m.single {
		lengths = append(lengths, w.rows)
	}
	block, slices, err := r.uint32s(lengths...)
	if err != nil {
		return err
	}
	m.held.Add(block)
	if m.block, m.first, m.list = block, slices[0], t.list; !m.single {
		m.count = slices[1]
	}
	if r.call.OnHost() {
		return errors.Join(r.waitIdle(), r.probeOnHost(t, w, m))
	}
	return r.probeOnDevice(t, w, m)
}

// lookup is the table and the words of matches that are not found yet, because the step that
// needs them can often find them itself.
type lookup struct {
	table *table
	words *words
}

// countSingle writes the pairs of rows that have one match or none to struct PairsOut of
// pairing.cuh on a GPU. It waits for their number and, if the host does not know it, for
// whether keys of the table occur twice. If they do the pairs are not right, and the matches
// are not single any more.
func (r *run) countSingle(m *matches, out any) (rows int, right bool, err error) {
	if m.pending == nil || m.pending.table.decided {
		rows, err = r.countDecided(m, out)
		return rows, true, err
	}
	t := m.pending.table
	words, err := t.header()
	if err != nil {
		return 0, false, err
	}
	outcome, err := words.Slice(outcomeWord, outcomeWord+2)
	if err == nil {
		err = r.pairOnDevice(m, out, outcome)
	}
	if err != nil {
		return 0, false, err
	}
	var header [headerWords]uint64
	if err := words.Download(r.call.Context(), r.call.Stream, header[:]); err != nil {
		return 0, false, err
	}
	if err := r.decideDistinctFrom(t, &header); err != nil || !t.distinct {
		m.single = false
		return 0, false, err
	}
	return int(header[outcomeWord]), true, nil
}

func (r *run) countDecided(m *matches, out any) (int, error) {
	block, slices, err := r.call.Scratch(16)
	if err != nil {
		return 0, err
	}
	var outcome [2]uint64
	words, err := memory.Reinterpret[uint64](slices[0])
	if err == nil {
		err = r.pairOnDevice(m, out, words)
	}
	if err == nil {
		err = words.Download(r.call.Context(), r.call.Stream, outcome[:])
	}
	return int(outcome[0]), errors.Join(err, block.Release())
}

// lookUp finds the matches, if it has not been done. A GPU waits if the host does not know
// whether keys of the table occur twice. The rows are looked up before, as if they did not, and
// again if they do.
func (r *run) lookUp(m *matches) error {
	l := m.pending
	if l == nil {
		return nil
	}
	m.pending = nil
	decided := l.table.decided
	if err := r.find(m, l.table, l.words); err != nil || decided {
		return err
	}
	if err := r.decideDistinct(l.table); err != nil || l.table.distinct {
		return err
	}
	return r.find(m, l.table, l.words)
}
