package join

import (
	"errors"
	"math/bits"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/internal/op"
)

const (
	// probedRows is the number of rows that are probed at a time.
	probedRows = 512
	// fewestMarked is the number of places from which on marks, a bit for each place with a row, are read before the rows
	// of places, if rowsOfMark times the build rows are fewer than the places. The rows of fewestMarked places take
	// 512 KiB, the marks 16 KiB.
	fewestMarked = 1 << 17
	rowsOfMark   = 4
	// fewestHashed is the number of slots from which on marks of hashes are read before the slots: fewestHashed slots take
	// 128 KiB, and their marks 8 KiB. At most half of sampledRows probed rows may have a match, because such rows read both.
	fewestHashed = 1 << 13
	sampledRows  = 1 << 10
)

// probeOnHost finds the matches of all rows.
func (from *table) probeOnHost(c *call, probed *words, m *matches) error {
	t, tableErr := from.host()
	w, wordsErr := probed.host()
	first, firstErr := m.first.Host()
	count, countErr := m.count.Host()
	if err := errors.Join(tableErr, wordsErr, firstErr, countErr); err != nil {
		return err
	}
	p := hostProbe{hostTable: &t, words: &w, first: first, count: count}
	if err := p.mark(c); err != nil {
		return err
	}
	return c.each(w.Rows, p.rows)
}

// hostProbe finds rows in a table.
type hostProbe struct {
	*hostTable
	words        *hostWords
	first, count []uint32
	// marks has a bit for each place with a row, or for each hash less shift bits, or is nil.
	marks []uint64
	shift int
}

// mark sets the marks, if most probed rows are likely to have no match.
func (p *hostProbe) mark(c *call) error {
	if p.rowsOf != nil {
		return p.markPlaces(c)
	}
	if p.size < fewestHashed || p.words.Rows < 2*p.table.rows || !p.misses() {
		return nil
	}
	p.shift = 64 - bits.Len64(8*p.size-1)
	p.marks = make([]uint64, 1<<(64-p.shift)/64)
	return c.each(int(p.size), func(begin, end int) {
		for slot := begin; slot < end; slot++ {
			if word := p.slots[2*slot]; word != empty {
				bit := p.hash(word) >> p.shift
				atomic.OrUint64(&p.marks[bit/64], 1<<(bit%64))
			}
		}
	})
}

// misses reports whether most of some probed rows have no match.
func (p *hostProbe) misses() bool {
	missing, step := 0, max(p.words.Rows/sampledRows, 1)
	for row := 0; row < p.words.Rows; row += step {
		if !p.words.IsValid(row) || p.value(p.words.word(row)) == empty {
			missing += 2 * step
		}
	}
	return missing > p.words.Rows
}

// markPlaces sets the marks of places, if these are many for the rows.
func (p *hostProbe) markPlaces(c *call) error {
	places := len(p.rowsOf)
	if places < fewestMarked || rowsOfMark*p.table.rows > places || p.words.Rows < places/rowsOfMark {
		return nil
	}
	p.marks = make([]uint64, (places+63)/64)
	return c.each(places, func(begin, end int) { // parts begin at multiples of 64
		for at := begin; at < end; at += 64 {
			word := uint64(0)
			for i, row := range p.rowsOf[at:min(at+64, end)] {
				if row != noRow {
					word |= 1 << i
				}
			}
			p.marks[at/64] = word
		}
	})
}

// rows finds the matches of part of the rows.
func (p *hostProbe) rows(from, end int) {
	var block [probedRows]uint64
	for begin := from; begin < end; begin += probedRows {
		n := min(probedRows, end-begin)
		words := p.words.block(block[:n], begin)
		first := p.first[begin : begin+n]
		switch {
		case len(p.count) > 0:
			p.spans(first, p.count[begin:begin+n], words)
		case p.rowsOf != nil && !p.distinct:
			p.spans(first, nil, words)
		case p.marks != nil && p.rowsOf != nil:
			p.markedPlaces(first, words)
		case p.rowsOf != nil:
			p.places(first, words)
		default:
			p.spans(first, nil, words)
		}
		if p.words.Valid == nil {
			continue
		}
		for i := range first {
			if !p.words.IsValid(begin + i) {
				first[i] = noRow
				if len(p.count) > 0 {
					p.count[begin+i] = 0
				}
			}
		}
	}
}

// places finds the rows of places.
func (p *hostProbe) places(first []uint32, words []uint64) {
	least, mask, rowsOf := p.least, p.mask, p.rowsOf
	for i, word := range words {
		row := uint32(noRow)
		if place := (word - least) & mask; place < uint64(len(rowsOf)) {
			row = rowsOf[place]
		}
		first[i] = row
	}
}

// markedPlaces finds the rows of places with marks.
func (p *hostProbe) markedPlaces(first []uint32, words []uint64) {
	least, mask, rowsOf, marks := p.least, p.mask, p.rowsOf, p.marks
	for i, word := range words {
		row := uint32(noRow)
		if place := (word - least) & mask; place < uint64(len(rowsOf)) && marks[place/64]>>(place%64)&1 != 0 {
			row = rowsOf[place]
		}
		first[i] = row
	}
}

// spans finds the rows or the spans of words. Count is nil for rows.
func (p *hostProbe) spans(first, count []uint32, words []uint64) {
	marks, shift := p.marks, p.shift
	if p.rowsOf != nil {
		marks = nil // those of places
	}
	for i, word := range words {
		value := uint64(empty)
		if bit := p.hash(word) >> shift; marks == nil || word == empty || marks[bit/64]>>(bit%64)&1 != 0 {
			value = p.value(word)
		}
		first[i] = uint32(value)
		if count != nil {
			count[i] = uint32(value>>32) - uint32(value)
		}
	}
}

// value returns the row or the span of a word, or empty.
func (t *hostTable) value(word uint64) uint64 {
	if t.rowsOf != nil {
		switch place := t.place(word); {
		case place >= uint64(len(t.rowsOf)):
			return empty
		case !t.distinct:
			return t.spanOf[place]
		case t.rowsOf[place] == noRow:
			return empty
		default:
			return uint64(t.rowsOf[place])
		}
	}
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

// block returns the words of rows, in memory for as many or that of the rows.
func (w *hostWords) block(to []uint64, begin int) []uint64 {
	if w.wide {
		return op.Elements[uint64](w.Values)[begin : begin+len(to)]
	}
	for i, word := range op.Elements[uint32](w.Values)[begin : begin+len(to)] {
		to[i] = uint64(word)
	}
	return to
}
