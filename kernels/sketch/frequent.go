package sketch

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// The limits of the logarithm of the size of a sketch of frequent items.
const (
	leastLgItems = 3
	mostLgItems  = 26
	LeastItems   = 1 << leastLgItems
	MostItems    = 1 << mostLgItems
)

// frequent counts the most frequent items: every item that occurs more often than offset has a counter. The number of an item
// is between its counter and its counter plus offset.
type frequent[T cmp.Ordered] struct {
	lgItems  int // a table of 2^lgItems places, of which three quarters are used
	counts   map[T]int64
	n        int64 // of all items
	offset   int64
	counters []int64 // scratch of purge
}

func newFrequent[T cmp.Ordered](lgItems int) *frequent[T] {
	return &frequent[T]{lgItems: lgItems, counts: map[T]int64{}}
}

// lgItemsOf is the logarithm of the size of a sketch, a power of two.
func lgItemsOf(items int) (lg int) {
	for lg = leastLgItems; 1<<lg < items; lg++ {
	}
	return lg
}

// mostCounters is the number of counters that a sketch keeps.
func (f *frequent[T]) mostCounters() int { return 3 << f.lgItems >> 2 }

func (f *frequent[T]) add(item T, count int64) {
	f.n += count
	f.counts[item] += count
	if len(f.counts) > f.mostCounters() {
		f.purge()
	}
}

// purge subtracts the median of the counters from all of them, and removes those that are not above 0: half of them or more.
func (f *frequent[T]) purge() {
	f.counters = f.counters[:0]
	for _, count := range f.counts {
		f.counters = append(f.counters, count)
	}
	slices.Sort(f.counters)
	median := f.counters[len(f.counters)/2]
	f.offset += median
	for item, count := range f.counts {
		if count <= median {
			delete(f.counts, item)
			continue
		}
		f.counts[item] = count - median
	}
}

// merge adds the items of another sketch, of which the size is at least as great.
func (f *frequent[T]) merge(other *frequent[T]) error {
	if f.n > math.MaxInt64-other.n {
		return fmt.Errorf("%w: %d and %d, expected at most %d", errTooMany, f.n, other.n, int64(math.MaxInt64))
	}
	n := f.n + other.n
	for _, item := range other.items() {
		f.add(item.value, item.lower)
	}
	f.n = n
	f.offset += other.offset
	return nil
}

// item is a frequent item: its number is lower or more, and upper or less, which is the estimate.
type item[T cmp.Ordered] struct {
	value        T
	lower, upper int64
}

// items returns the items with counters, the most frequent ones first, and equally frequent ones in order.
func (f *frequent[T]) items() []item[T] {
	list := make([]item[T], 0, len(f.counts))
	for value, count := range f.counts {
		list = append(list, item[T]{value, count, count + f.offset})
	}
	slices.SortFunc(list, func(a, b item[T]) int { return cmp.Or(cmp.Compare(b.lower, a.lower), cmp.Compare(a.value, b.value)) })
	return list
}
