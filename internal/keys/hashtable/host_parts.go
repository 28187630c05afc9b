package hashtable

import (
	"context"
	"math/bits"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/internal/op/parallel"
)

// Few groups are found in three steps, each in parallel.
//
// 1. Each goroutine finds the groups of part of the rows, with a table for the part.
// 2. The groups of all parts are merged, those of some of the hashes by each goroutine. A
// group begins in the first part that has it.
// 3. The numbers of rows in their parts become those of the groups.

const (
	// mostPartGroups is the number of groups in a part from which on rows go to partitions, if
	// there are fewer than rowsOfGroup rows for each. A table of 4,096 groups takes 256 KiB. On two
	// shared processors, 10⁶ rows with 10⁴, 10⁵ and 10⁶ different keys took a third to a half of
	// the time of tables of parts.
	mostPartGroups = 1 << 12
	rowsOfGroup    = 16
	// fewestPartitioned is the number of rows from which on they may go to partitions.
	fewestPartitioned = 1 << 15
)

// hostPart is part of the rows and its groups.
type hostPart struct {
	begin, end int
	table      *hostTable
	// firstNull is the first null of the part, or noRow.
	firstNull uint32
	// words are the keys of the groups, and firsts the first rows of the same groups in all
	// parts.
	words  []uint64
	firsts []uint32
	// equal is set if rows of equal words have equal keys.
	equal bool
	err   error
}

// partFinder finds groups by parts.
type partFinder struct {
	*finder
	parts []hostPart
	// many is set if a part has more groups than its table should have.
	many      atomic.Bool
	mayGiveUp bool
}

// findParts finds the groups by parts. It returns false if there are many, or if rows of equal words
// differ.
func (f *finder) findParts(ctx context.Context, n int) (ok bool, err error) {
	count := parallel.Parts(n)
	p := partFinder{finder: f, parts: make([]hostPart, count), mayGiveUp: !f.exact && n >= fewestPartitioned}
	var same func(a, b uint32) bool
	if f.exact {
		same = f.sameRows
	}
	if err := parallel.Run(ctx, n, count, func(i, begin, end int) {
		p.parts[i] = hostPart{begin: begin, end: end, table: newHostTable(f.seeds, same, 0), firstNull: noRow, equal: true}
		p.parts[i].err = p.fill(&p.parts[i])
	}); err != nil {
		return false, err
	}
	for i := range p.parts {
		if err := p.parts[i].err; err != nil {
			return false, err
		}
	}
	if p.many.Load() {
		return false, nil
	}
	for i := range p.parts {
		p.parts[i].firsts = append([]uint32(nil), p.parts[i].table.rows...)
	}
	if count > 1 {
		if err := parallel.Run(ctx, 64*count, count, func(i, _, _ int) { p.merge(i, count) }); err != nil {
			return false, err
		}
	}
	for i := range p.parts {
		if !p.parts[i].equal || !p.verify(&p.parts[i]) {
			return false, nil
		}
	}
	return true, p.number(ctx, n)
}

// fill finds the groups of a part. Codes get the numbers of groups in the part, and noRow for nulls.
func (f *partFinder) fill(p *hostPart) error {
	var block [hostBlock]uint64
	var numbers, firsts [hostBlock]uint32
	nullable, verified := f.nullable(), f.hashes && !f.exact
	for begin := p.begin; begin < p.end && !f.many.Load(); begin += hostBlock {
		words := block[:min(hostBlock, p.end-begin)]
		if err := f.load(words, begin); err != nil {
			return err
		}
		f.group(p, words, numbers[:len(words)], begin, nullable)
		if len(f.codes) > 0 {
			copy(f.codes[begin:], numbers[:len(words)])
		}
		if verified {
			for i, group := range numbers[:len(words)] {
				firsts[i] = noRow
				if group != noRow {
					firsts[i] = p.table.rows[group]
				}
			}
			p.equal = p.equal && f.equal(begin, firsts[:len(words)])
		}
		if groups := len(p.words); f.mayGiveUp && groups > mostPartGroups && rowsOfGroup*groups > begin-p.begin || !p.equal {
			f.many.Store(true)
		}
	}
	return nil
}

// group finds the groups of the rows of a block.
func (f *partFinder) group(p *hostPart, words []uint64, numbers []uint32, begin int, nullable bool) {
	t := p.table
	slots, mask, exact := t.slots, uint64(len(t.slots)-1), t.same != nil
	for i, word := range words {
		if nullable && f.isNull(begin+i, word) {
			p.firstNull = min(p.firstNull, uint32(begin+i))
			numbers[i] = noRow
			continue
		}
		if s := &slots[t.seeds.hash(word)&mask]; s.key == word && s.group != 0 && !exact {
			numbers[i] = s.group - 1
			continue
		}
		numbers[i] = t.find(word, uint32(begin+i))
		if int(numbers[i]) == len(p.words) {
			p.words = append(p.words, word)
			slots, mask = t.slots, uint64(len(t.slots)-1)
		}
	}
}

// merge finds the first rows of the groups with some of the hashes: every count-th one.
func (f *partFinder) merge(number, count int) {
	most := 0
	for i := range f.parts {
		most = max(most, len(f.parts[i].words))
	}
	all := newHostTable(f.seeds, f.parts[0].table.same, most/count)
	for i := range f.parts {
		p := &f.parts[i]
		for group, word := range p.words {
			if high, _ := bits.Mul64(f.seeds.hash(word), uint64(count)); int(high) == number {
				p.firsts[group] = all.rows[all.find(word, p.firsts[group])]
			}
		}
	}
}

// verify reports whether the first rows of groups in a part have the keys of those in all parts.
func (f *partFinder) verify(p *hostPart) bool {
	if !f.hashes || f.exact {
		return true
	}
	for group, row := range p.table.rows {
		if p.firsts[group] != row && !f.sameRows(row, p.firsts[group]) {
			return false
		}
	}
	return true
}

// number marks the first rows and replaces the numbers of groups in their parts.
func (f *partFinder) number(ctx context.Context, n int) error {
	m, firstNull := newNumbering(n), uint32(noRow)
	for i := range f.parts {
		p := &f.parts[i]
		firstNull = min(firstNull, p.firstNull)
		for _, row := range p.firsts {
			m.firsts[row/64] |= 1 << (row % 64)
		}
	}
	null := f.markNull(&m, firstNull)
	m.write(f.marks)
	if len(f.codes) == 0 {
		return nil
	}
	return parallel.Run(ctx, n, len(f.parts), func(i, begin, end int) {
		numbers := f.parts[i].firsts
		for group, row := range numbers {
			numbers[group] = m.number(row)
		}
		for row, group := range f.codes[begin:end] {
			if group == noRow {
				f.codes[begin+row] = null
			} else {
				f.codes[begin+row] = numbers[group]
			}
		}
	})
}
