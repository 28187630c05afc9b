package join

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/release"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// mostBuilt is the most rows of a build side that has a hash table: slots have numbers
// of 32 bits.
const mostBuilt = math.MaxInt32

// hashSeeds returns the seed and the factor of a hash function. They are random, so that
// keys chosen to collide do not. The factor is odd.
var hashSeeds = func() (seed, factor uint64) { return rand.Uint64(), rand.Uint64() | 1 }

// table is a hash table of the rows of the build side. It is at most half full. Its memory
// is described in table.cuh.
type table struct {
	slots memory.Slice[uint64]
	// size is the number of slots without the last one, for the key that looks like an
	// empty slot.
	size         uint64
	seed, factor uint64
	// rows is the number of rows of the build side.
	rows int
	// distinct is set if no key occurs twice, or if it does not matter. Otherwise list has
	// the rows in the order of their slots.
	distinct bool
	list     memory.Slice[uint32]

	held release.Stack
}

// Release releases what the table holds.
func (t *table) Release() error {
	if t == nil {
		return nil
	}
	return t.held.Release()
}

// build makes a table of the rows of the build side. If any is set it answers only
// whether a key has a row. The caller releases it.
func (r *run) build(w *words, any bool) (*table, error) {
	t := &table{rows: w.rows, size: 2 * uint64(w.rows)}
	t.seed, t.factor = hashSeeds()
	if err := r.fillTable(t, w, any); err != nil {
		return nil, errors.Join(err, t.Release())
	}
	return t, nil
}

func (r *run) fillTable(t *table, w *words, any bool) error {
	allocate := r.call.Scratch
	if r.kept {
		allocate = r.call.Allocate
	}
	block, slices, err := allocate(16 * (t.size + 1))
	if err != nil {
		return err
	}
	t.held.Add(block)
	if t.slots, err = memory.Reinterpret[uint64](slices[0]); err != nil {
		return err
	}
	if err := t.slots.Fill(r.call.Stream, empty); err != nil {
		return err
	}
	rows := w.rows
	if any {
		rows = 0
	}
	numbers, slotsOf, err := r.uint32s(rows, 1)
	if err != nil {
		return err
	}
	return errors.Join(r.insertAll(t, w, slotsOf[0], slotsOf[1]), numbers.Release())
}

// insertAll inserts all rows, and sorts them by slot if keys occur several times.
func (r *run) insertAll(t *table, w *words, slotOf, again memory.Slice[uint32]) error {
	if err := errors.Join(again.Fill(r.call.Stream, 0), r.settle()); err != nil {
		return err
	}
	var err error
	if r.call.OnHost() {
		err = r.insertOnHost(t, w, slotOf, again)
	} else {
		err = r.insertOnDevice(t, w, slotOf, again)
	}
	if err != nil {
		return err
	}
	t.distinct = true
	if slotOf.Len() == 0 {
		return nil
	}
	var twice [1]uint32
	if err := again.Download(r.call.Context(), r.call.Stream, twice[:]); err != nil || twice[0] == 0 {
		return err
	}
	t.distinct = false
	return r.sortSlots(t, slotOf)
}

// sortSlots lists the rows in the order of their slots, and makes the values of slots
// spans of the list.
func (r *run) sortSlots(t *table, slotOf memory.Slice[uint32]) error {
	numbers, err := selection.RowNumbers(slotOf, nil)
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
	if r.call.OnHost() {
		return errors.Join(r.settle(), r.slotSpansOnHost(t, slotOf))
	}
	return r.slotSpansOnDevice(t, slotOf)
}

// probe returns the matches of the rows of the probe side. They refer to the table's list.
func (r *run) probe(t *table, w *words) (*matches, error) {
	m, err := r.newMatches(w.rows, t.rows)
	if err != nil {
		return nil, err
	}
	m.list, m.single = t.list, t.distinct
	if r.call.OnHost() {
		err = errors.Join(r.settle(), r.probeOnHost(t, w, m))
	} else {
		err = r.probeOnDevice(t, w, m)
	}
	if err != nil {
		return nil, errors.Join(err, m.Release())
	}
	return m, nil
}
