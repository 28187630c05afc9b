package rowkey

import (
	"math/bits"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/memory"
)

// FewRows is the most rows that [Device.SortFew] sorts.
const FewRows = fewRows

// Few are rows to be sorted by what follows a place in a plan.
type Few struct {
	Rows DeviceRows
	// Segment and Word are the place: rows are equal by earlier segments and words. Behind the
	// last word of a segment is its tail.
	Segment, Word int
	// Runs, if it is not empty, are numbers that ascend and are compared first.
	Runs memory.Slice[uint32]
	// Slots, if it is not empty, are the places of the sorted rows in Order. Otherwise they are
	// written from the first place on.
	Slots, Order memory.Slice[uint32]
	// Words has the size of FewBytes.
	Words memory.Slice[uint8]
}

// fewTailBytes is the most bytes of the tail of a row, on average. A thread compares them one word after
// the other, in each of some 70 comparisons: texts of 10,000 bytes that are equal would take 50 ms.
const fewTailBytes = 256

// SortsFew reports whether SortFew takes rows of the plan.
func (p *Plan) SortsFew() bool {
	_, pieces, tails := p.few(0, 0)
	if pieces > mostFewPieces || tails > mostFewTails {
		return false
	}
	for i := range p.Segments {
		if t := p.Segments[i].Tail; t != nil && p.Sources[t.Source].tailBytes() > fewTailBytes {
			return false
		}
	}
	return true
}

// tailBytes returns the bytes of a row of strings or ranks of a list, on average. A part of a column
// counts all bytes of it.
func (s *Source) tailBytes() uint64 {
	rows := uint64(max(s.Column.Len(), 1))
	switch {
	case s.Storage == Symbols && s.Ranks != nil:
		return 4 * uint64(s.Ranks.Len()) / rows
	case s.Layout.Kind == layout.Fixed:
		return uint64(s.Layout.Width)
	}
	total := uint64(0)
	for i := 2; i < s.Column.NumBuffers(); i++ {
		total += s.Column.Buffer(i).Bytes()
	}
	return total / rows
}

// few counts the words, the pieces of each word, and the tails from a place on.
func (p *Plan) few(segment, word int) (words, pieces, tails int) {
	for i := range p.Segments[segment:] {
		s := &p.Segments[segment+i]
		for ; word < s.Words(); word++ {
			words++
			for j := range s.Pieces {
				if _, ok := s.Shift(&s.Pieces[j], word); ok && s.Pieces[j].Content != Prefix {
					pieces++
				}
			}
		}
		word = 0
		if s.Tail != nil {
			tails++
		}
	}
	return words, pieces, tails
}

// FewBytes returns the size of the words of n rows from a place on. The first words need no memory.
func (p *Plan) FewBytes(n, segment, word int) uint64 {
	words, _, _ := p.few(segment, word)
	return uint64(n) * 8 * uint64(max(words-1, 0))
}

// SortFew writes the numbers of at most [FewRows] rows in the order of their words and tails. Rows that
// are equal keep their order. It is one launch of one block: its time is that of some 70
// comparisons one after the other.
func (d *Device) SortFew(few Few) error {
	l := new(fewLayout)
	word := few.Word
	for i := range d.plan.Segments[few.Segment:] {
		s := &d.plan.Segments[few.Segment+i]
		for ; word < s.Words(); word++ {
			d.addFew(l, s, word)
		}
		word = 0
		if s.Tail != nil {
			d.addTail(l, s)
		}
	}
	f, err := d.call.Kernel(&set, "few", "rowkey_sort_few")
	if err != nil {
		return err
	}
	threads := min(max(1<<bits.Len(uint(max(few.Rows.Rows-1, 0)))/2, 32), fewRows/2)
	argument := kernelset.NewWords(l.used())
	l.addTo(argument)
	return f.Launch(d.call.Stream, device.Dim3{X: 1}, device.Dim3{X: uint32(threads)}, 0, few.Order, few.Rows.argument(), few.Runs, few.Slots, few.Words, argument)
}

// used is the number of words up to the last piece or tail.
func (l *fewLayout) used() int {
	if l.tails > 0 {
		return fewLayoutWords
	}
	return int(l.pieces)*fewPieceLayoutWords + 3
}

// addFew adds a word of a segment.
func (d *Device) addFew(l *fewLayout, s *Segment, word int) {
	for i := range s.Pieces {
		p := &s.Pieces[i]
		if left, ok := s.Shift(p, word); ok && p.Content != Prefix {
			l.piece[l.pieces] = fewPieceLayout{piece: d.leaves[p.Source].piece(p, left), to: l.words, mask: ones(s.WordLength(word))}
			l.pieces++
		}
	}
	l.words++
}

// addTail adds the tail of a segment, with its prefix if the last word of the segment was added.
func (d *Device) addTail(l *fewLayout, s *Segment) {
	leaf := &d.leaves[s.Tail.Source]
	t := fewTailLayout{texts: leaf.textsLayout(), words: l.words, sign: int64(d.sign(s.Tail)), skip: uint64(s.Tail.Skip)}
	last := s.Words() - 1
	if p := &s.Pieces[len(s.Pieces)-1]; l.words > 0 {
		left, _ := s.Shift(p, last)
		t.prefix, t.bits, t.flip, t.left = 1, uint64(p.Bits), p.Flip, int64(left)
	}
	l.tail[l.tails] = t
	l.tails++
}
