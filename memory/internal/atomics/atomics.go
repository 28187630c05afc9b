// Package atomics contains helpers for shared counters.
package atomics

import "sync/atomic"

// CacheLine is padding that separates the fields around it by two cache lines, because
// processors fetch lines in pairs.
type CacheLine [128]byte

// Raise raises a high-water mark to a value. It never lowers the mark.
func Raise(mark *atomic.Uint64, value uint64) {
	for {
		current := mark.Load()
		if value <= current || mark.CompareAndSwap(current, value) {
			return
		}
	}
}
