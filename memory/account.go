package memory

import (
	"sync/atomic"
)

// account keeps a manager's figures. Bytes are reserved before the resource is
// asked and booked when it has delivered, so that the peak is of memory that
// really was in use and a request that fails leaves no trace in it.
type account struct {
	budget   atomic.Uint64
	reserved atomic.Uint64

	inUse       atomic.Uint64
	peak        atomic.Uint64
	allocations atomic.Uint64
	frees       atomic.Uint64
	failures    atomic.Uint64
	// What the counts were when they were last reset. The counts themselves go
	// on, for their difference is the number of blocks that are held.
	allocationsBefore, freesBefore atomic.Uint64

	external       atomic.Uint64
	externalBlocks atomic.Uint64

	leaks          atomic.Uint64
	doubleReleases atomic.Uint64
}

// reserve takes bytes out of the budget, or reports what is reserved already.
// It never takes more than fits, not even for a moment, so a request that is too
// large cannot make a smaller one fail beside it.
func (a *account) reserve(bytes uint64) (reserved uint64, ok bool) {
	for {
		reserved = a.reserved.Load()
		budget := a.budget.Load()
		if bytes > budget || reserved > budget-bytes {
			return reserved, false
		}
		if a.reserved.CompareAndSwap(reserved, reserved+bytes) {
			return reserved + bytes, true
		}
	}
}

// unreserve gives back what a failed request had reserved.
func (a *account) unreserve(bytes uint64) {
	subtract(&a.reserved, bytes)
	a.failures.Add(1)
}

// book counts memory that the resource has delivered.
func (a *account) book(bytes uint64) {
	a.allocations.Add(1)
	raise(&a.peak, a.inUse.Add(bytes))
}

// unbook counts memory that was freed.
func (a *account) unbook(bytes uint64) {
	a.frees.Add(1)
	subtract(&a.inUse, bytes)
	subtract(&a.reserved, bytes)
}

func subtract(counter *atomic.Uint64, amount uint64) { counter.Add(-amount) }

// raise lifts a high-water mark to a value.
func raise(mark *atomic.Uint64, value uint64) {
	for {
		current := mark.Load()
		if value <= current || mark.CompareAndSwap(current, value) {
			return
		}
	}
}
