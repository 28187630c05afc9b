package hashtable

import (
	"context"
	"errors"
	"math/bits"
	"sync"

	"github.com/gpuframe/gpuframe/internal/op/parallel"
)

// Many groups are found in partitions by the high bits of the hashes, whose tables fit the
// cache of a processor. Rows stay in order, so that the first row that a table meets is the first
// one of the group.

const (
	// partitionRows is the number of rows of a partition at most, if the hashes differ, and
	// mostPartitions that of partitions: each goroutine writes to all of them at once.
	partitionRows  = 1 << 13
	mostPartitions = 1 << 10
	// mostKept is the number of rows up to which the memory is used again: 100 MB.
	mostKept = 1 << 22
)

// partitions is the rows by their hashes. Its memory is used again.
type partitions struct {
	// words are the words of all rows. moved and rows are the words and the rows by partition.
	words, moved []uint64
	rows         []uint32
	// firsts has the first row of each row's group, and noRow for nulls.
	firsts []uint32
	// ends has the ends of the partitions.
	ends []uint32
}

var partitionPool = sync.Pool{New: func() any { return new(partitions) }}

// resized returns a slice with a length, and any elements.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// partitionsFor returns memory for the first rows of the groups of n rows.
func partitionsFor(n int) *partitions {
	p := partitionPool.Get().(*partitions)
	p.firsts = resized(p.firsts, n)
	return p
}

// release keeps the memory for other groups.
func (p *partitions) release() {
	if cap(p.firsts) <= mostKept {
		partitionPool.Put(p)
	}
}

// findPartitions finds the groups by partitions. It returns false if rows of equal words differ.
func (f *finder) findPartitions(ctx context.Context, n int) (ok bool, err error) {
	p := partitionsFor(n)
	defer p.release()
	p.words, p.moved, p.rows = resized(p.words, n), resized(p.moved, n), resized(p.rows, n)
	firstNull, err := f.divide(ctx, p, n)
	if err != nil {
		return false, err
	}
	count := parallel.Parts(n)
	if err := parallel.Run(ctx, 64*count, count, func(i, _, _ int) {
		var t partitionTable
		for number := i; number < len(p.ends); number += count {
			begin := uint32(0)
			if number > 0 {
				begin = p.ends[number-1]
			}
			t.group(f.seeds, p.moved[begin:p.ends[number]], p.rows[begin:p.ends[number]], p.firsts)
		}
	}); err != nil {
		return false, err
	}
	if f.hashes {
		equal := make([]bool, count)
		if err := parallel.Run(ctx, n, count, func(i, begin, end int) { equal[i] = f.equal(begin, p.firsts[begin:end]) }); err != nil {
			return false, err
		}
		for _, ok := range equal {
			if !ok {
				return false, nil
			}
		}
	}
	return true, f.number(ctx, p.firsts, firstNull)
}

// divide moves the rows to partitions, and returns the first null, or noRow.
func (f *finder) divide(ctx context.Context, p *partitions, n int) (firstNull uint32, err error) {
	shift := 64 - min(bits.Len(uint(n/partitionRows)), bits.Len(mostPartitions)-1)
	count := parallel.Parts(n)
	counts, firstNulls, errs := make([][]uint32, count), make([]uint32, count), make([]error, count)
	if err := parallel.Run(ctx, n, count, func(i, begin, end int) {
		counts[i] = make([]uint32, 1<<(64-shift))
		firstNulls[i], errs[i] = f.countPartitions(p, counts[i], shift, begin, end)
	}); err != nil {
		return noRow, err
	}
	if err := errors.Join(errs...); err != nil {
		return noRow, err
	}
	p.ends = resized(p.ends, len(counts[0]))
	sum := uint32(0)
	for number := range p.ends {
		for _, c := range counts { // becomes where the part's rows begin
			c[number], sum = sum, sum+c[number]
		}
		p.ends[number] = sum
	}
	firstNull = noRow
	for _, row := range firstNulls {
		firstNull = min(firstNull, row)
	}
	nullable := firstNull != noRow
	return firstNull, parallel.Run(ctx, n, count, func(i, begin, end int) {
		next := counts[i]
		for row := begin; row < end; row++ {
			if nullable && p.firsts[row] == noRow {
				continue
			}
			to := &next[f.seeds.hash(p.words[row])>>shift]
			p.moved[*to], p.rows[*to] = p.words[row], uint32(row)
			*to++
		}
	})
}

// countPartitions loads the words of rows, and counts those of each partition.
func (f *finder) countPartitions(p *partitions, counts []uint32, shift, from, end int) (firstNull uint32, err error) {
	firstNull = noRow
	nullable := f.nullable()
	for begin := from; begin < end; begin += hostBlock {
		words := p.words[begin:min(begin+hostBlock, end)]
		if err := f.load(words, begin); err != nil {
			return firstNull, err
		}
		for i, word := range words {
			if nullable {
				p.firsts[begin+i] = 0
				if f.isNull(begin+i, word) {
					firstNull = min(firstNull, uint32(begin+i))
					p.firsts[begin+i] = noRow
					continue
				}
			}
			counts[f.seeds.hash(word)>>shift]++
		}
	}
	return firstNull, nil
}

// partitionTable is a hash table of the words of a partition.
type partitionTable struct {
	// slots has the position of the first row of each group plus 1, or 0.
	slots []uint32
}

// group writes the first row of each row's group.
func (t *partitionTable) group(seeds seeds, words []uint64, rows, firsts []uint32) {
	if t.slots == nil {
		t.slots = make([]uint32, 2*partitionRows)
	} else {
		clear(t.slots)
	}
	slots, mask, groups := t.slots, uint64(len(t.slots)-1), 0
	rows = rows[:len(words)]
	for i, word := range words {
		at := seeds.hash(word) & mask
		for slots[at] != 0 && words[slots[at]-1] != word {
			at = (at + 1) & mask
		}
		if s := slots[at]; s != 0 {
			firsts[rows[i]] = rows[s-1]
			continue
		}
		slots[at], firsts[rows[i]] = uint32(i+1), rows[i]
		if groups++; 2*groups > len(slots) {
			t.grow(seeds, words)
			slots, mask = t.slots, uint64(len(t.slots)-1)
		}
	}
}

// grow makes a table of four times as many slots.
func (t *partitionTable) grow(seeds seeds, words []uint64) {
	old := t.slots
	t.slots = make([]uint32, 4*len(old))
	mask := uint64(len(t.slots) - 1)
	for _, s := range old {
		if s == 0 {
			continue
		}
		at := seeds.hash(words[s-1]) & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = s
	}
}
