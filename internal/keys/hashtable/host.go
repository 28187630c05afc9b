package hashtable

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/memory"
)

// The host finds groups in three steps, each in parallel.
//
// 1. Each goroutine finds the groups of part of the rows, with a table for the part.
// 2. The groups of all parts are merged, those of some of the hashes by each goroutine. A
// group begins in the first part that has it.
// 3. The number of a group is the number of first rows before its own: those of the bits
// before it. The numbers of rows in their parts become those of the groups.

// noRow is no row, and the number of the group of nulls that have none.
const noRow = math.MaxUint32

// hostPart is part of the rows and its groups.
type hostPart struct {
	begin, end int
	table      *hostTable
	// null is the number of the group of nulls, or −1.
	null int
	// words are the keys of the groups, and firsts the first rows of the same groups in all
	// parts.
	words  []uint64
	firsts []uint32
	// before is the number of first rows in the parts before.
	before uint32
	err    error
}

// hostBlock is the number of rows that are loaded at a time.
const hostBlock = 512

// rowsOnHost returns the number of rows.
func (g *Groups) rowsOnHost() (int, error) {
	if g.rows.Len() == 0 {
		return g.column.Len(), nil
	}
	rows, err := g.rows.Host()
	if err != nil {
		return 0, err
	}
	return int(min(max(rows[0], 0), int64(g.column.Len()))), nil
}

// finder finds the groups on the host.
type finder struct {
	keys hostKeys
	// last is the largest word that is a key; larger ones are nulls.
	last uint64
	// valid is the bitmap of the rows, or nil, and bit the bit of row 0.
	valid []byte
	bit   int
	// nullKey is set if nulls are a group.
	nullKey bool
	// codes has the number of each row's group, or is empty. marks has a bit for each row.
	codes []uint32
	marks []byte
	seeds seeds
	parts []hostPart
}

// findFirstsOnHost marks the first row of each group and, if codes are requested, writes
// them.
func (g *Groups) findFirstsOnHost(ctx context.Context, k keys) error {
	n, err := g.rowsOnHost()
	if err != nil {
		return err
	}
	f := finder{bit: g.bit, nullKey: g.nullKey(), last: math.MaxUint64, seeds: seeds{rand.Uint64(), rand.Uint64() | 1}}
	var validErr, keyErr, codesErr, marksErr error
	if g.valid.Len() > 0 {
		f.valid, validErr = g.valid.Host()
	}
	f.keys, keyErr = k.onHost()
	f.codes, codesErr = g.codes.Host()
	f.marks, marksErr = g.firstBits.Host()
	if err := errors.Join(validErr, keyErr, codesErr, marksErr); err != nil {
		return err
	}
	if k.kind == keyFixed && k.width <= 8 {
		f.last = k.last
	}
	clear(f.codes[min(n, len(f.codes)):])
	clear(f.marks)
	return f.find(ctx, n)
}

func (f *finder) find(ctx context.Context, n int) error {
	count := parallel.Parts(n)
	f.parts = make([]hostPart, count)
	if err := parallel.Run(ctx, n, count, func(i, begin, end int) {
		f.parts[i] = hostPart{begin: begin, end: end, table: newHostTable(f.seeds, f.keys.same, 0), null: -1}
		f.parts[i].err = f.fill(&f.parts[i])
	}); err != nil {
		return err
	}
	for i := range f.parts {
		if err := f.parts[i].err; err != nil {
			return err
		}
	}
	if count > 1 {
		f.mergeNulls()
		if err := parallel.Run(ctx, 64*count, count, func(i, _, _ int) { f.merge(i, count) }); err != nil {
			return err
		}
	}
	if err := f.each(ctx, f.mark); err != nil {
		return err
	}
	if len(f.codes) == 0 || count == 1 {
		return nil
	}
	ranks := make([]uint32, (len(f.marks)+7)/8)
	before := uint32(0)
	for i := range f.parts {
		f.parts[i].before, before = before, before+f.parts[i].before
	}
	if err := f.each(ctx, func(p *hostPart) { f.rank(p, ranks) }); err != nil {
		return err
	}
	return f.each(ctx, func(p *hostPart) { f.number(p, ranks) })
}

// each runs a step for all parts.
func (f *finder) each(ctx context.Context, step func(p *hostPart)) error {
	return parallel.Run(ctx, 64*len(f.parts), len(f.parts), func(i, _, _ int) { step(&f.parts[i]) })
}

// fill finds the groups of a part. Codes get the numbers of groups in the part.
func (f *finder) fill(p *hostPart) error {
	var block [hostBlock]uint64
	codes := len(f.codes) > 0
	for begin := p.begin; begin < p.end; begin += hostBlock {
		words := block[:min(hostBlock, p.end-begin)]
		if err := f.words(words, begin); err != nil {
			return err
		}
		for i, word := range words {
			row := begin + i
			group := uint32(0)
			if at := f.bit + row; word > f.last || f.valid != nil && f.valid[at/8]>>(at%8)&1 == 0 {
				group = f.null(p, row)
			} else {
				group = p.table.find(word, uint32(row))
				if int(group) == len(p.words) {
					p.words = append(p.words, word)
				}
			}
			if codes {
				f.codes[row] = group
			}
		}
	}
	p.firsts = p.table.rows
	if len(f.parts) > 1 {
		p.firsts = slices.Clone(p.table.rows)
	}
	return nil
}

// words loads the words of rows. Nulls may have any bytes, but offsets of strings that
// cannot be read are an error for values only.
func (f *finder) words(to []uint64, begin int) error {
	err := f.keys.words(to, begin)
	if err == nil || f.valid == nil {
		return err
	}
	for i := range to {
		to[i] = 0
		if at := f.bit + begin + i; f.valid[at/8]>>(at%8)&1 != 0 {
			if err := f.keys.words(to[i:i+1], begin+i); err != nil {
				return err
			}
		}
	}
	return nil
}

// null returns the number of the group of nulls in a part. Without one it is replaced by 0
// in the end.
func (f *finder) null(p *hostPart, row int) uint32 {
	switch {
	case !f.nullKey && len(f.parts) == 1:
		return 0
	case !f.nullKey:
		return noRow
	}
	if p.null < 0 {
		p.null = len(p.table.rows)
		p.table.rows = append(p.table.rows, uint32(row))
		p.words = append(p.words, 0)
	}
	return uint32(p.null)
}

// mergeNulls finds the first null of all parts.
func (f *finder) mergeNulls() {
	first := uint32(noRow)
	for i := range f.parts {
		p := &f.parts[i]
		if p.null < 0 {
			continue
		}
		first = min(first, p.firsts[p.null])
		p.firsts[p.null] = first
	}
}

// merge finds the first rows of the groups with some of the hashes: every count-th one.
func (f *finder) merge(number, count int) {
	most := 0
	for i := range f.parts {
		most = max(most, len(f.parts[i].words))
	}
	all := newHostTable(f.seeds, f.keys.same, most/count)
	for i := range f.parts {
		p := &f.parts[i]
		for group, word := range p.words {
			if high, _ := bits.Mul64(f.seeds.hash(word), uint64(count)); int(high) != number || group == p.null {
				continue
			}
			p.firsts[group] = all.rows[all.find(word, p.firsts[group])]
		}
	}
}

// mark sets the bits of the first rows of a part. Parts share no byte.
func (f *finder) mark(p *hostPart) {
	for group, row := range p.table.rows {
		if p.firsts[group] == row {
			f.marks[row/8] |= 1 << (row % 8)
			p.before++
		}
	}
}

// rank writes the number of first rows before each 64 rows of a part.
func (f *finder) rank(p *hostPart, ranks []uint32) {
	before := p.before
	for i := p.begin / 64; i < (p.end+63)/64; i++ {
		ranks[i] = before
		for _, byte := range f.marks[8*i : min(8*i+8, len(f.marks))] {
			before += uint32(bits.OnesCount8(byte))
		}
	}
}

// number replaces the numbers of groups in a part by those of the groups.
func (f *finder) number(p *hostPart, ranks []uint32) {
	for group, row := range p.firsts {
		number := ranks[row/64]
		begin := row / 64 * 8
		for at := begin; at < row/8; at++ {
			number += uint32(bits.OnesCount8(f.marks[at]))
		}
		p.firsts[group] = number + uint32(bits.OnesCount8(f.marks[row/8]&(1<<(row%8)-1)))
	}
	codes := f.codes[p.begin:p.end]
	for i, group := range codes {
		codes[i] = 0
		if group != noRow {
			codes[i] = p.firsts[group]
		}
	}
}

func (g *Groups) countCodesOnHost(ctx context.Context, counts memory.Slice[int64]) error {
	n, err := g.rowsOnHost()
	if err != nil {
		return err
	}
	if err := g.call.WaitIdle(ctx); err != nil {
		return err
	}
	codes, codesErr := g.codes.Host()
	numbers, numbersErr := counts.Host()
	if err := errors.Join(codesErr, numbersErr); err != nil {
		return err
	}
	for _, code := range codes[:n] {
		numbers[code]++
	}
	return nil
}
