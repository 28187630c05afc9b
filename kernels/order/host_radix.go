package order

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/gpuframe/gpuframe/internal/op/parallel"
)

// pairs are keys with the numbers of their rows. rows may be nil: then only keys are
// sorted.
type pairs struct {
	keys []uint64
	rows []uint32
}

func (p pairs) slice(begin, end int) pairs {
	s := pairs{keys: p.keys[begin:end]}
	if p.rows != nil {
		s.rows = p.rows[begin:end]
	}
	return s
}

const (
	digitWidth = 8
	digits     = 1 << digitWidth
	// fewPairs is the largest number of pairs that insertion sorts.
	fewPairs = 48
)

// radixSort sorts pairs by their keys, stably, with spare memory of the same size. It
// sorts by the digits in which keys differ, the least significant one first. count is
// the number of goroutines.
func radixSort(ctx context.Context, p, spare pairs, count int) error {
	n := len(p.keys)
	if n <= fewPairs {
		p.insertionSort()
		return nil
	}
	differ, sorted, err := p.survey(ctx, count)
	if err != nil || sorted {
		return err
	}
	from, to := p, spare
	counters := make([][digits]int, count)
	for differ != 0 {
		shift := bits.TrailingZeros64(differ)
		differ &^= (digits - 1) << shift
		if err := scatter(ctx, from, to, shift, counters); err != nil {
			return err
		}
		from, to = to, from
	}
	if &from.keys[0] == &p.keys[0] {
		return nil
	}
	return parallel.Run(ctx, n, count, func(_, begin, end int) {
		copy(p.keys[begin:end], from.keys[begin:end])
		if p.rows != nil {
			copy(p.rows[begin:end], from.rows[begin:end])
		}
	})
}

func (p pairs) insertionSort() {
	for i := 1; i < len(p.keys); i++ {
		key := p.keys[i]
		j := i
		for ; j > 0 && p.keys[j-1] > key; j-- {
			p.keys[j] = p.keys[j-1]
		}
		p.keys[j] = key
		if p.rows != nil && j < i {
			row := p.rows[i]
			copy(p.rows[j+1:i+1], p.rows[j:i])
			p.rows[j] = row
		}
	}
}

// survey returns the bits in which keys differ, and whether the keys are sorted.
func (p pairs) survey(ctx context.Context, count int) (differ uint64, sorted bool, err error) {
	type found struct {
		differ uint64
		sorted bool
	}
	each := make([]found, count)
	err = parallel.Run(ctx, len(p.keys), count, func(part, begin, end int) {
		f := found{sorted: true}
		first, last := p.keys[0], p.keys[max(begin-1, 0)]
		for _, key := range p.keys[begin:end] {
			f.differ |= key ^ first
			f.sorted = f.sorted && last <= key
			last = key
		}
		each[part] = f
	})
	sorted = true
	for _, f := range each {
		differ |= f.differ
		sorted = sorted && f.sorted
	}
	return differ, sorted, err
}

// scatter moves pairs to the places of their digits. Each part counts its digits, and
// then writes to separate places.
func scatter(ctx context.Context, from, to pairs, shift int, counters [][digits]int) error {
	n, count := len(from.keys), len(counters)
	err := parallel.Run(ctx, n, count, func(part, begin, end int) {
		counts := &counters[part]
		clear(counts[:])
		for _, key := range from.keys[begin:end] {
			counts[uint8(key>>shift)]++
		}
	})
	if err != nil {
		return err
	}
	place := 0
	for digit := range digits {
		for part := range counters {
			counters[part][digit], place = place, place+counters[part][digit]
		}
	}
	return parallel.Run(ctx, n, count, func(part, begin, end int) {
		places := &counters[part]
		if from.rows == nil {
			for _, key := range from.keys[begin:end] {
				digit := uint8(key >> shift)
				to.keys[places[digit]] = key
				places[digit]++
			}
			return
		}
		rows := from.rows[begin:end]
		for i, key := range from.keys[begin:end] {
			digit := uint8(key >> shift)
			place := places[digit]
			places[digit] = place + 1
			to.keys[place], to.rows[place] = key, rows[i]
		}
	})
}

// sortByComparing sorts rows that come before one another as compare reports, stably if
// compare never returns 0 for different rows, or if rows are ascending.
func sortByComparing(rows []uint32, compare func(a, b int) int) {
	slices.SortFunc(rows, func(a, b uint32) int {
		if order := compare(int(a), int(b)); order != 0 {
			return order
		}
		return cmp.Compare(a, b)
	})
}
