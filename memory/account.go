package memory

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/gpuframe/gpuframe/memory/internal/atomics"
)

// account holds the byte counters of one manager and all managers below it. The tags
// count blocks.
//
// A request reserves its bytes before it calls the resource, and books them as in use
// after the resource has delivered. The peak therefore covers only memory that was in
// use, and a failed request does not change it.
//
// Bytes in tag caches count as in use here. Padding puts fields that change often on
// separate cache lines, so that reading the other fields does not miss.
type account struct {
	name   string
	parent *account
	kind   BudgetKind
	clock  *clock
	// guaranteed is set while the budget is reserved in the parent.
	guaranteed atomic.Bool
	// ended is set when the manager, or one above it, is closed.
	ended atomic.Bool
	// budget is unlimited for a child that was given no budget.
	budget atomic.Uint64
	// waiting counts the queued requests that wait at this account. A request that has
	// not queued may pass them only if it is smaller than passBelow, the size of the
	// smallest queued request, and comes before agedAt, the time when the first of them
	// has aged. Without this rule large requests would never collect their bytes.
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
	retries  atomic.Uint64
	// allocationsBefore and freesBefore are the counts at the last reset.
	allocationsBefore, freesBefore atomic.Uint64

	external       atomic.Uint64
	externalBlocks atomic.Uint64

	leaks          atomic.Uint64
	doubleReleases atomic.Uint64
}

// unlimited is the budget of an account that is limited only by the budgets above it.
const unlimited = math.MaxUint64

// fits reports whether the account has room for the bytes now. Zero bytes always fit.
func (a *account) fits(bytes uint64) bool {
	budget, reserved := a.budget.Load(), a.reserved.Load()
	return bytes == 0 || bytes <= budget && reserved <= budget-bytes
}

// overdrawn reports whether more bytes are reserved than the budget allows, which
// happens after the budget was lowered.
func (a *account) overdrawn() bool { return a.reserved.Load() > a.budget.Load() }

// mayPass reports whether a request that has not queued may take bytes here now,
// although other requests may wait for them.
func (a *account) mayPass(bytes uint64) bool {
	return a.waiting.Load() == 0 || bytes < a.passBelow.Load() && a.clock.now() < a.agedAt.Load()
}

// take reserves bytes in this account's budget. It never exceeds the budget, not even
// briefly, so a request that is too large cannot make a smaller concurrent one fail.
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

// refusal is the reason why bytes could not be reserved: the account has too little
// room, or it has room that other requests wait for.
type refusal struct {
	account *account
	ahead   bool
}

// reserve reserves bytes in the account and in all accounts above it, up to and
// including the first one with a budget that its parent guarantees. If one refuses,
// nothing stays reserved. A request from the queue passes the requests that wait.
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

// unreserve undoes reserve.
func (a *account) unreserve(bytes uint64) {
	for level := a; level != nil; level = level.parent {
		subtract(&level.reserved, bytes)
		if level.guaranteed.Load() {
			break
		}
	}
}

// bookWithinPeak counts delivered memory as in use in every account up to the root. If
// that would exceed a recorded peak, it counts nothing and reports false. A separate
// check and add would race and could record a peak that includes credit.
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

// retry counts a request that got no memory and is repeated.
func (a *account) retry() {
	for level := a; level != nil; level = level.parent {
		level.retries.Add(1)
	}
}

// fail counts a failed request.
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

// abandon counts adopted memory that was returned to its owner.
func (a *account) abandon(bytes uint64) {
	for level := a; level != nil; level = level.parent {
		subtract(&level.external, bytes)
		subtract(&level.externalBlocks, 1)
	}
}

// leak counts a block that was collected without having been released.
func (a *account) leak() {
	for level := a; level != nil; level = level.parent {
		level.leaks.Add(1)
	}
}

// misuse counts a block that was released once too often.
func (a *account) misuse() {
	for level := a; level != nil; level = level.parent {
		level.doubleReleases.Add(1)
	}
}

// tooSmall returns the nearest account with a budget that can never hold the request,
// or nil. Releasing memory does not help such a request.
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

// lacks returns how many bytes must be released before the request fits, or 1 if it
// fits now.
func (a *account) lacks(bytes uint64) uint64 {
	budget, reserved := a.budget.Load(), a.reserved.Load()
	if room := budget - min(budget, reserved); bytes > room {
		return bytes - room + reserved - min(budget, reserved)
	}
	return 1
}

// lacksAnywhere returns the largest lack of any account on the way up. If the request
// fits all of them, the device is full, and lacksAnywhere returns the size of the
// request.
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

// addUpTo adds an amount to a counter unless the sum would exceed a mark.
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

// effective returns the account that limits this one: the account itself, or the
// nearest one above that was given a budget.
func (a *account) effective() *account {
	for a.budget.Load() == unlimited && a.parent != nil {
		a = a.parent
	}
	return a
}

// remaining returns the bytes of the budget that are not reserved.
func (a *account) remaining() uint64 {
	budget, reserved := a.budget.Load(), a.reserved.Load()
	return budget - min(budget, reserved)
}

// root returns the topmost account.
func (a *account) root() *account {
	for a.parent != nil {
		a = a.parent
	}
	return a
}

// clock measures the age of requests. Tests replace read.
type clock struct {
	start time.Time
	read  func() time.Time
}

func newClock() *clock { return &clock{start: time.Now(), read: time.Now} }

// now returns the nanoseconds since the clock was created.
func (c *clock) now() int64 { return int64(c.read().Sub(c.start)) }
