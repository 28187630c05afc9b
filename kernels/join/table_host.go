package join

import (
	"errors"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/internal/op"
)

// empty is the key and the value of a slot that no row has, noSlot the slot of a row that
// is not in the table.
const (
	empty  = 1<<64 - 1
	noSlot = 1<<32 - 1
)

// hostTable is a table in memory that the processor reads: rowsOf has the rows of keys in a
// small range by their places, slots the hash table of others.
type hostTable struct {
	*table
	slots  []uint64
	rowsOf []uint32
	spanOf []uint64
}

func (t *table) host() (h hostTable, err error) {
	h.table = t
	bytes, err := t.slotMemory()
	if err != nil {
		return h, err
	}
	all, err := bytes.Host()
	if err != nil {
		return h, err
	}
	if t.places > 0 {
		h.rowsOf = op.Elements[uint32](all)[:t.places]
	} else {
		h.slots = op.Elements[uint64](all)
	}
	h.spanOf, err = t.spans.Host()
	return h, err
}

// hash returns the hash of a word: the halves of a product of 128 bits with a secret factor.
func (t *hostTable) hash(word uint64) uint64 {
	high, low := bits.Mul64(word^t.seed, t.factor)
	return high ^ low
}

// home returns the first slot for a word.
func (t *hostTable) home(word uint64) uint64 {
	slot, _ := bits.Mul64(t.hash(word), t.size)
	return slot
}

// place returns the place of a word among the keys that have places.
func (t *hostTable) place(word uint64) uint64 { return (word - t.least) & t.mask }

func (t *hostTable) after(slot uint64) uint64 {
	if slot+1 == t.size {
		return 0
	}
	return slot + 1
}

// insert puts a row into the table. It returns its slot, and whether the key was there.
func (t *hostTable) insert(word, row uint64) (slot uint64, again bool) {
	if t.rowsOf != nil {
		place := t.place(word)
		return place, !atomic.CompareAndSwapUint32(&t.rowsOf[place], noRow, uint32(row))
	}
	if word == empty {
		return t.size, !atomic.CompareAndSwapUint64(&t.slots[2*t.size+1], empty, row)
	}
	for slot = t.home(word); ; slot = t.after(slot) {
		key := &t.slots[2*slot]
		known := atomic.LoadUint64(key)
		if known == empty {
			if atomic.CompareAndSwapUint64(key, empty, word) {
				t.slots[2*slot+1] = row
				return slot, false
			}
			known = atomic.LoadUint64(key)
		}
		if known == word {
			return slot, true
		}
	}
}

// measureOnHost gives keys in a small range their places.
func (t *table) measureOnHost(c *call, w *hostWords) error {
	var both sync.Mutex
	least, greatest := uint64(math.MaxUint64), uint64(0)
	err := c.each(w.Rows, func(begin, end int) {
		low, high := uint64(math.MaxUint64), uint64(0)
		for row := begin; row < end; row++ {
			if w.IsValid(row) {
				image := w.word(row) ^ t.sign
				low, high = min(low, image), max(high, image)
			}
		}
		both.Lock()
		defer both.Unlock()
		least, greatest = min(least, low), max(greatest, high)
	})
	if least <= greatest && greatest-least < t.room {
		t.least, t.places = least^t.sign, greatest-least+1
	}
	t.room = 0
	return err
}

func (to *table) insertOnHost(c *call, from *words) error {
	w, err := from.host()
	if err == nil && to.room > 0 {
		err = to.measureOnHost(c, &w)
	}
	if err != nil {
		return err
	}
	t, tableErr := to.host()
	slotOf, slotErr := to.slotOf.Host()
	if err := errors.Join(tableErr, slotErr); err != nil {
		return err
	}
	var twice atomic.Bool
	err = c.each(w.Rows, func(begin, end int) {
		for row := begin; row < end; row++ {
			slot, known := uint64(noSlot), false
			if w.IsValid(row) {
				slot, known = t.insert(w.word(row), uint64(row))
			}
			if known && !twice.Load() {
				twice.Store(true)
			}
			if len(slotOf) > 0 {
				slotOf[row] = uint32(slot)
			}
		}
	})
	if err != nil || !twice.Load() {
		return err
	}
	distinct, err := to.memory.Slice(distinctOffset, distinctOffset+4)
	if err != nil {
		return err
	}
	return distinct.Fill(c.Stream, 0)
}

func (to *table) slotSpansOnHost(c *call) error {
	t, tableErr := to.host()
	slotOf, slotErr := to.slotOf.Host()
	list, listErr := to.list.Host()
	if err := errors.Join(tableErr, slotErr, listErr); err != nil {
		return err
	}
	for begin := 0; begin < len(list); {
		slot, end := slotOf[list[begin]], begin+1
		for end < len(list) && slotOf[list[end]] == slot {
			end++
		}
		span := uint64(begin) | uint64(end)<<32
		switch {
		case slot == noSlot:
		case len(t.spanOf) > 0:
			t.spanOf[slot] = span
		default:
			t.slots[2*uint64(slot)+1] = span
		}
		begin = end
	}
	return nil
}
