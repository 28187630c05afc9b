package observe

import (
	"slices"
	"sync"
)

// Distribution counts values by size.
type Distribution struct {
	// Bounds are upper bounds. Counts has the number of values up to and including each
	// bound, and above the one before, and at its end the number of larger values.
	Bounds []float64 `json:"bounds"`
	Counts []uint64  `json:"counts"`
	// Sum is the sum of all values.
	Sum float64 `json:"sum"`
}

// Count returns the number of values.
func (d Distribution) Count() (sum uint64) {
	for _, n := range d.Counts {
		sum += n
	}
	return sum
}

// histogram builds a distribution. It is safe for concurrent use.
type histogram struct {
	mu           sync.Mutex
	distribution Distribution
}

// waitBounds are the bounds of the distribution of waits, in seconds.
var waitBounds = []float64{0.0001, 0.001, 0.01, 0.1, 1, 10, 100}

func (h *histogram) open(bounds []float64) {
	h.distribution = Distribution{Bounds: bounds, Counts: make([]uint64, len(bounds)+1)}
}

func (h *histogram) add(value float64) {
	at, _ := slices.BinarySearch(h.distribution.Bounds, value)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.distribution.Counts[at]++
	h.distribution.Sum += value
}

func (h *histogram) read() Distribution {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.distribution
	d.Counts = slices.Clone(d.Counts)
	return d
}
