// Package atomics has what several packages below memory need for shared counters.
package atomics

import "sync/atomic"

// CacheLine is padding that keeps its neighbours two cache lines apart, because
// processors fetch lines in pairs.
type CacheLine [128]byte

// Raise lifts a high-water mark to a value.
func Raise(mark *atomic.Uint64, value uint64) {
	for {
		current := mark.Load()
		if value <= current || mark.CompareAndSwap(current, value) {
			return
		}
	}
}
