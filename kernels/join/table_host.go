package join

import (
	"errors"
	"math/bits"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/rowkey"
	"github.com/gpuframe/gpuframe/memory"
)

// The table of the host is that of the kernels: see table.cuh. Several goroutines insert at
// a time.

// empty is the key and the value of a slot that no row has, noSlot the slot of a row that
// is not in the table.
const (
	empty  = 1<<64 - 1
	noSlot = 1<<32 - 1
)

// hostWords are words in memory that the processor reads.
type hostWords struct {
	op.HostView
	wide bool
}

func (w *words) host() (hostWords, error) {
	values, valuesErr := w.values.Host()
	valid, validErr := w.valid.Host()
	if len(valid) == 0 {
		valid = nil
	}
	return hostWords{op.HostView{Values: values, Valid: valid, Bit: w.bit, Rows: w.rows}, w.wide}, errors.Join(valuesErr, validErr)
}

// word returns the word of a row.
func (w *hostWords) word(row int) uint64 {
	if w.wide {
		return op.Elements[uint64](w.Values[8*row : 8*row+8])[0]
	}
	return uint64(op.Elements[uint32](w.Values[4*row : 4*row+4])[0])
}

// wordsOnHost encodes all rows.
func (r *run) wordsOnHost(w *words, plan *rowkey.Plan) error {
	host, err := rowkey.NewHost(plan)
	if err != nil {
		return err
	}
	values, err := w.values.Host()
	if err != nil {
		return err
	}
	to := op.Elements[uint64](values)
	return r.each(w.rows, func(begin, end int) { host.Encode(0, 0, rowkey.Rows{First: begin}, to[begin:end]) })
}

// hostTable is a table in memory that the processor reads.
type hostTable struct {
	*table
	slots []uint64
}

func (t *table) host() (hostTable, error) {
	slots, err := t.slots.Host()
	return hostTable{t, slots}, err
}

// home returns the first slot for a word.
func (t *hostTable) home(word uint64) uint64 {
	word = (word ^ t.seed) * t.factor
	word = (word ^ word>>33) * 0xff51afd7ed558ccd
	word = (word ^ word>>33) * 0xc4ceb9fe1a85ec53
	slot, _ := bits.Mul64(word^word>>33, t.size)
	return slot
}

func (t *hostTable) after(slot uint64) uint64 {
	if slot+1 == t.size {
		return 0
	}
	return slot + 1
}

// insert puts a row into the table. It returns its slot, and whether the key was there.
func (t *hostTable) insert(word, row uint64) (slot uint64, again bool) {
	if word == empty {
		return t.size, !atomic.CompareAndSwapUint64(&t.slots[2*t.size+1], empty, row)
	}
	for slot = t.home(word); ; slot = t.after(slot) {
		key := &t.slots[2*slot]
		if atomic.LoadUint64(key) == empty && atomic.CompareAndSwapUint64(key, empty, word) {
			t.slots[2*slot+1] = row
			return slot, false
		}
		if atomic.LoadUint64(key) == word {
			return slot, true
		}
	}
}

// value returns the value of a word, or empty.
func (t *hostTable) value(word uint64) uint64 {
	if word == empty {
		return t.slots[2*t.size+1]
	}
	for slot := t.home(word); ; slot = t.after(slot) {
		switch t.slots[2*slot] {
		case word:
			return t.slots[2*slot+1]
		case empty:
			return empty
		}
	}
}

func (r *run) insertOnHost(to *table, from *words, slots, twice memory.Slice[uint32]) error {
	t, tableErr := to.host()
	w, wordsErr := from.host()
	slotOf, slotErr := slots.Host()
	again, againErr := twice.Host()
	if err := errors.Join(tableErr, wordsErr, slotErr, againErr); err != nil {
		return err
	}
	return r.each(w.Rows, func(begin, end int) {
		for row := begin; row < end; row++ {
			slot, known := uint64(noSlot), false
			if w.IsValid(row) {
				slot, known = t.insert(w.word(row), uint64(row))
			}
			if known && atomic.LoadUint32(&again[0]) == 0 {
				atomic.StoreUint32(&again[0], 1)
			}
			if len(slotOf) > 0 {
				slotOf[row] = uint32(slot)
			}
		}
	})
}

func (r *run) slotSpansOnHost(to *table, slots memory.Slice[uint32]) error {
	t, tableErr := to.host()
	slotOf, slotErr := slots.Host()
	list, listErr := to.list.Host()
	if err := errors.Join(tableErr, slotErr, listErr); err != nil {
		return err
	}
	for begin := 0; begin < len(list); {
		slot, end := slotOf[list[begin]], begin+1
		for end < len(list) && slotOf[list[end]] == slot {
			end++
		}
		if slot != noSlot {
			t.slots[2*uint64(slot)+1] = uint64(begin) | uint64(end)<<32
		}
		begin = end
	}
	return nil
}

func (r *run) probeOnHost(from *table, probed *words, m *matches) error {
	t, tableErr := from.host()
	w, wordsErr := probed.host()
	first, firstErr := m.first.Host()
	count, countErr := m.count.Host()
	if err := errors.Join(tableErr, wordsErr, firstErr, countErr); err != nil {
		return err
	}
	return r.each(w.Rows, func(begin, end int) {
		for row := begin; row < end; row++ {
			first[row], count[row] = noRow, 0
			if !w.IsValid(row) {
				continue
			}
			value := t.value(w.word(row))
			switch {
			case value == empty:
			case t.distinct:
				first[row], count[row] = uint32(value), 1
			default:
				first[row], count[row] = uint32(value), uint32(value>>32)-uint32(value)
			}
		}
	})
}
