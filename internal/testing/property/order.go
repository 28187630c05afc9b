package property

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// InOrder yields the entries of a map in the order of their keys. A test whose cases share a
// generator of random values ranges over it, because a range over the map would draw other
// values for a case in every run.
func InOrder[K cmp.Ordered, V any](entries map[K]V) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			if !yield(key, entries[key]) {
				return
			}
		}
	}
}
