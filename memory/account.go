package memory

import (
	"sync/atomic"
)

// account keeps the figures of one manager and, with them, of all below it. What
// is only counted, the tags count.
// Bytes are reserved before the resource is asked and booked when it has
// delivered, so that the peak is of memory that really was in use and a request
// that fails leaves no trace in it.
//
// What is in purses counts as in use here. What changes often lies on cache lines
// of its own, so that the rest can be read undisturbed.
type account struct {
	name   string
	parent *account
	// guaranteed says that the budget is reserved in the parent already.
	guaranteed atomic.Bool
	// ended says that the manager, or one above it, was closed.
	ended  atomic.Bool
	budget atomic.Uint64
	// waiting counts requests in the queue that this account is too small for.
	// Who is not in the queue gets nothing meanwhile, or large requests would
	// wait for ever.
	waiting atomic.Int64

	_        cacheLine
	reserved atomic.Uint64

	_     cacheLine
	inUse atomic.Uint64
	peak  atomic.Uint64

	_        cacheLine
	failures atomic.Uint64
	// What the counts of allocations and frees were when they were last reset.
	allocationsBefore, freesBefore atomic.Uint64

	external       atomic.Uint64
	externalBlocks atomic.Uint64

	leaks          atomic.Uint64
	doubleReleases atomic.Uint64
}

// cacheLine keeps its neighbours two lines apart, since processors fetch lines in
// pairs.
type cacheLine [128]byte

// fits reports whether the account has room for the bytes now. For nothing there
// always is.
func (a *account) fits(bytes uint64) bool {
	budget, reserved := a.budget.Load(), a.reserved.Load()
	return bytes == 0 || bytes <= budget && reserved <= budget-bytes
}

// overdrawn reports whether more is taken than a lowered budget allows.
func (a *account) overdrawn() bool { return a.reserved.Load() > a.budget.Load() }

// take takes bytes out of this account's budget. It never takes more than fits,
// not even for a moment, so a request that is too large cannot make a smaller one
// fail beside it. Only requests from the queue may pass those who wait.
func (a *account) take(bytes uint64, queued bool) bool {
	if bytes == 0 {
		return true
	}
	if !queued && a.waiting.Load() > 0 {
		return false
	}
	for {
		reserved := a.reserved.Load()
		budget := a.budget.Load()
		if bytes > budget || reserved > budget-bytes {
			return false
		}
		if a.reserved.CompareAndSwap(reserved, reserved+bytes) {
			return true
		}
	}
}

// reserve takes bytes out of the budgets of the account and of all above it, up
// to one that has them already. Where one is too small nothing is taken and short
// is that one.
func (a *account) reserve(bytes uint64, queued bool) (short *account) {
	for level := a; level != nil; level = level.parent {
		if !level.take(bytes, queued) {
			for lower := a; lower != level; lower = lower.parent {
				subtract(&lower.reserved, bytes)
			}
			return level
		}
		if level.guaranteed.Load() {
			break
		}
	}
	return nil
}

// unreserve gives back what reserve took.
func (a *account) unreserve(bytes uint64) {
	for level := a; level != nil; level = level.parent {
		subtract(&level.reserved, bytes)
		if level.guaranteed.Load() {
			break
		}
	}
}

// bookWithinPeak counts memory that the resource has delivered unless that would
// be a new peak anywhere, going by what is counted as in use. To look first and add then would not do: two that do it
// at once would make a peak of credit.
func (a *account) bookWithinPeak(bytes uint64) bool {
	for level := a; level != nil; level = level.parent {
		if !addUpTo(&level.inUse, bytes, &level.peak) {
			for lower := a; lower != level; lower = lower.parent {
				subtract(&lower.inUse, bytes)
			}
			return false
		}
	}
	return true
}

// unbook counts memory that was freed.
func (a *account) unbook(bytes uint64) {
	for level := a; level != nil; level = level.parent {
		subtract(&level.inUse, bytes)
	}
	a.unreserve(bytes)
}

// fail counts a request that got no memory.
func (a *account) fail() {
	for level := a; level != nil; level = level.parent {
		level.failures.Add(1)
	}
}

// adopt counts memory that another library owns.
func (a *account) adopt(bytes uint64) {
	for level := a; level != nil; level = level.parent {
		level.external.Add(bytes)
		level.externalBlocks.Add(1)
	}
}

// abandon counts that such memory has gone back to its owner.
func (a *account) abandon(bytes uint64) {
	for level := a; level != nil; level = level.parent {
		subtract(&level.external, bytes)
		subtract(&level.externalBlocks, 1)
	}
}

// leak counts a block that was collected, and misuse one that was released once
// too often.
func (a *account) leak() {
	for level := a; level != nil; level = level.parent {
		level.leaks.Add(1)
	}
}

func (a *account) misuse() {
	for level := a; level != nil; level = level.parent {
		level.doubleReleases.Add(1)
	}
}

// cannotEver returns the account whose budget is smaller than a request, if there
// is one: for that no release helps.
func (a *account) cannotEver(bytes uint64) *account {
	for level := a; level != nil; level = level.parent {
		if bytes > level.budget.Load() {
			return level
		}
		if level.guaranteed.Load() {
			break
		}
	}
	return nil
}

// lacks returns how many bytes have to be given back for a request to fit. It is
// one where there is room but for those who wait.
func (a *account) lacks(bytes uint64) uint64 {
	budget, reserved := a.budget.Load(), a.reserved.Load()
	if room := budget - min(budget, reserved); bytes > room {
		return bytes - room + reserved - min(budget, reserved)
	}
	return 1
}

// lacksAnywhere is the most that any account on the way up lacks, but at least
// the request where none does: then it is the device that is full.
func (a *account) lacksAnywhere(bytes uint64) uint64 {
	most := uint64(1)
	for level := a; level != nil; level = level.parent {
		most = max(most, level.lacks(bytes))
		if level.guaranteed.Load() {
			break
		}
	}
	if most == 1 {
		return bytes
	}
	return most
}

// addUpTo adds to a counter unless that would lift it above a mark.
func addUpTo(counter *atomic.Uint64, amount uint64, mark *atomic.Uint64) bool {
	for {
		current, most := counter.Load(), mark.Load()
		if amount > most || current > most-amount {
			return false
		}
		if counter.CompareAndSwap(current, current+amount) {
			return true
		}
	}
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
