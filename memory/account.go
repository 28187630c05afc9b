package memory

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/gpuframe/gpuframe/memory/internal/atomics"
)

// account has the figures of one manager, those of the managers below included.
// Counts of blocks are in the tags.
//
// Bytes are reserved before the resource is asked and booked when it has
// delivered. So the peak is of memory that was in use, and a request that fails
// leaves no trace in it.
//
// Bytes in tag caches count as in use here. Fields that change often have cache
// lines of their own, so that reading the others does not miss.
type account struct {
	name   string
	parent *account
	kind   BudgetKind
	clock  *clock
	// guaranteed is set while the budget is reserved in the parent.
	guaranteed atomic.Bool
	// ended is set once the manager, or one above it, was closed.
	ended atomic.Bool
	// budget is unlimited for a child without a budget of its own.
	budget atomic.Uint64
	// waiting counts the requests in the queue that wait at this account. Other
	// requests pass them if they are smaller than passBelow bytes, the smallest
	// of them, and come before agedAt, when the first of them has aged. Otherwise
	// large requests would never get their bytes together.
	waiting   atomic.Int64
	passBelow atomic.Uint64
	agedAt    atomic.Int64

	_        atomics.CacheLine
	reserved atomic.Uint64

	_     atomics.CacheLine
	inUse atomic.Uint64
	peak  atomic.Uint64

	_        atomics.CacheLine
	failures atomic.Uint64
	// What the counts of allocations and frees were when they were last reset.
	allocationsBefore, freesBefore atomic.Uint64

	external       atomic.Uint64
	externalBlocks atomic.Uint64

	leaks          atomic.Uint64
	doubleReleases atomic.Uint64
}

// unlimited is the budget of an account that only the budgets above limit.
const unlimited = math.MaxUint64

// fits reports whether the account has room for the bytes now. For nothing there
// always is.
func (a *account) fits(bytes uint64) bool {
	budget, reserved := a.budget.Load(), a.reserved.Load()
	return bytes == 0 || bytes <= budget && reserved <= budget-bytes
}

// overdrawn reports whether more is taken than a lowered budget allows.
func (a *account) overdrawn() bool { return a.reserved.Load() > a.budget.Load() }

// mayPass reports whether a request that has not queued may take bytes here now,
// though others may wait for them.
func (a *account) mayPass(bytes uint64) bool {
	return a.waiting.Load() == 0 || bytes < a.passBelow.Load() && a.clock.now() < a.agedAt.Load()
}

// take takes bytes out of this account's budget. It never takes more than fits,
// not even for a moment, so a request that is too large cannot make a smaller one
// fail beside it.
func (a *account) take(bytes uint64) bool {
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

// refusal says why bytes could not be reserved: the account has too little room,
// or it has room but other requests wait for it.
type refusal struct {
	account *account
	ahead   bool
}

// reserve takes bytes out of the budgets of the account and of all above it, up
// to one that is guaranteed by its parent. If one refuses, nothing is taken.
// Requests from the queue have their turn and pass those that wait.
func (a *account) reserve(bytes uint64, queued bool) (refused refusal) {
	if bytes == 0 {
		return refusal{}
	}
	for level := a; level != nil; level = level.parent {
		ahead := !queued && !level.mayPass(bytes)
		if ahead || !level.take(bytes) {
			refused = refusal{level, ahead && level.fits(bytes)}
			for lower := a; lower != level; lower = lower.parent {
				subtract(&lower.reserved, bytes)
			}
			return refused
		}
		if level.guaranteed.Load() {
			break
		}
	}
	return refusal{}
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

// bookWithinPeak counts memory that the resource has delivered, unless that makes
// a new peak anywhere by what is counted as in use. A separate check and add would
// race, and could record a peak that includes credit.
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

// tooSmall returns an account whose whole budget is smaller than the request, or nil.
// Releasing memory does not help there.
func (a *account) tooSmall(bytes uint64) *account {
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

// lacks returns how many bytes have to be given back for a request to fit, and 1
// if it fits already.
func (a *account) lacks(bytes uint64) uint64 {
	budget, reserved := a.budget.Load(), a.reserved.Load()
	if room := budget - min(budget, reserved); bytes > room {
		return bytes - room + reserved - min(budget, reserved)
	}
	return 1
}

// lacksAnywhere returns the most that any account on the way up lacks. If none
// does the device is full, and it returns the size of the request.
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

// effective returns the account whose budget limits this one: the account itself,
// or the nearest above it that has a budget of its own.
func (a *account) effective() *account {
	for a.budget.Load() == unlimited && a.parent != nil {
		a = a.parent
	}
	return a
}

// remaining returns what the budget has left.
func (a *account) remaining() uint64 {
	budget, reserved := a.budget.Load(), a.reserved.Load()
	return budget - min(budget, reserved)
}

// root returns the account at the top.
func (a *account) root() *account {
	for a.parent != nil {
		a = a.parent
	}
	return a
}

// clock tells how old requests are. Tests replace what it reads.
type clock struct {
	start time.Time
	read  func() time.Time
}

func newClock() *clock { return &clock{start: time.Now(), read: time.Now} }

// now returns nanoseconds since the clock was made.
func (c *clock) now() int64 { return int64(c.read().Sub(c.start)) }
