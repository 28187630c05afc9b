package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/internal/cancel"
)

// queue holds the requests of a tree of managers that wait for memory, by priority
// and then by arrival.
//
// A request waits at the account that is too small for it. Requests that do not
// need that account go on. Of those that do, smaller ones may pass until the
// request has aged. From then on the bytes that are released there gather until
// they suffice, so that no request starves.
type queue struct {
	stripes *stripes
	tree    *tree
	// interested counts the requests that wait, or are about to. A release reads
	// it and leaves the lock alone if it is zero. A request is counted before it
	// tries for the last time: either it finds what was released, or the release
	// finds it.
	interested atomic.Int64
	// length is the number of requests that wait.
	length atomic.Int64
	// releases counts the blocks that were released while requests waited.
	releases atomic.Uint64

	mu      sync.Mutex
	waiting []*waiter
	// overdrawn are the accounts whose budget was lowered below what is in use.
	// While there are any the tree counts as interested: credit must not be drawn
	// then, because it is no longer within the budget.
	overdrawn []*account
	// marked are the accounts at which requests waited when requests were granted
	// last.
	marked []*account
	// tickets is how many requests have come.
	tickets uint64
	closed  bool
}

type waiter struct {
	account  *account
	bytes    uint64
	priority int
	mode     waitMode
	// agedAt is when smaller requests must no longer pass this one.
	agedAt int64
	// ticket orders requests by arrival. A request keeps it however often it is
	// tried.
	ticket uint64
	// short is the account that the request waits at.
	short *account
	// releases is how many blocks the tree had released when the device had no
	// room for the request. It is not tried again before the next release.
	releases   uint64
	forRelease bool
	// stays is set once the device has refused the request, and trying while it
	// asks the device again. It keeps its place meanwhile: the memory that it
	// needs would not come together otherwise.
	stays, trying bool
	// granted is closed once the request is decided: its bytes are reserved,
	// unless err is set or never is the account whose whole budget is too small.
	granted chan struct{}
	err     error
	never   *account
}

// errTurn says that a request has had its turn, and that there was too little
// memory.
var errTurn = errors.New("there is too little memory")

// wait waits until the bytes are reserved. If after is not nil that is not before
// the tree has released more blocks than it says, and the request stays in the
// queue until it leaves. If a budget was made smaller than the request, never is
// that account.
//
// again is called first, and then each time that the channel it returned fires.
func (q *queue) wait(ctx context.Context, w *waiter, after *uint64, again func() <-chan time.Time) (never *account, err error) {
	q.tree.pause("enter")
	if err := q.enter(w, after); err != nil {
		return nil, err
	}
	if step := q.tree.step; step != nil {
		step("wait", func() bool { return w.decided() || ctx.Err() != nil })
	}
	for timer := again(); !w.decided(); {
		select {
		case <-w.granted:
		case <-timer:
			timer = again()
		case <-ctx.Done():
			q.tree.pause("cancelled")
			if q.withdraw(w) {
				return nil, fmt.Errorf("memory: wait for %s: %w", humanize.Bytes(w.bytes), cancel.Error(ctx))
			}
		}
	}
	return w.never, w.err
}

// decided reports whether the request was granted or refused.
func (w *waiter) decided() bool {
	select {
	case <-w.granted:
		return true
	default:
		return false
	}
}

// enter puts a request in, or back, and grants it at once if possible.
func (q *queue) enter(w *waiter, after *uint64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return w.closedError()
	}
	w.granted, w.err = make(chan struct{}), nil
	if after != nil {
		w.stays, w.forRelease, w.releases = true, true, *after
	}
	if w.trying {
		w.trying = false
	} else {
		q.insert(w)
	}
	q.serve()
	return nil
}

func (q *queue) insert(w *waiter) {
	if w.ticket == 0 {
		q.tickets++
		w.ticket = q.tickets
	}
	at, _ := slices.BinarySearchFunc(q.waiting, w, func(other, w *waiter) int {
		return cmp.Or(cmp.Compare(w.priority, other.priority), cmp.Compare(other.ticket, w.ticket))
	})
	q.waiting = slices.Insert(q.waiting, at, w)
}

// withdraw takes a request out unless it was granted, and reports whether it did.
func (q *queue) withdraw(w *waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !w.trying && q.remove(w)
}

// leave takes out a request that has ended.
func (q *queue) leave(w *waiter) {
	if w != nil && w.stays {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.remove(w)
	}
}

// remove reports whether the request was in. The queue is locked.
func (q *queue) remove(w *waiter) bool {
	at := slices.Index(q.waiting, w)
	if at < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, at, at+1)
	w.short = nil
	q.serve()
	return true
}

// released is called after a block was released, and wake after bytes were given
// back in another way.
func (q *queue) released() {
	if q.interested.Load() > 0 {
		q.releases.Add(1)
		q.wake()
	}
}

func (q *queue) wake() {
	if q.interested.Load() > 0 {
		q.mu.Lock()
		defer q.mu.Unlock()
		if len(q.waiting)+len(q.overdrawn) > 0 {
			q.serve()
		}
	}
}

// setBudget changes the budget of an account.
func (q *queue) setBudget(a *account, budget uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stripes.lockAll()
	defer q.stripes.unlockAll()
	a.budget.Store(budget)
	if a.overdrawn() && !slices.Contains(q.overdrawn, a) {
		q.overdrawn = append(q.overdrawn, a)
		q.interested.Add(1)
	}
	q.grant()
}

// serve grants what it can. The queue is locked. It locks all stripes: a request
// that fails further up has taken from the budgets below for a moment, and a
// waiting request that was refused because of that would not be tried again.
func (q *queue) serve() {
	q.stripes.lockAll()
	defer q.stripes.unlockAll()
	q.grant()
}

// grant grants what it can, in order. The queue and all stripes are locked.
func (q *queue) grant() {
	q.overdrawn = slices.DeleteFunc(q.overdrawn, func(a *account) bool {
		within := !a.overdrawn()
		if within {
			q.interested.Add(-1)
		}
		return within
	})
	now := q.tree.clock.now()
	var ahead []*waiter
	q.waiting = slices.DeleteFunc(q.waiting, func(w *waiter) bool {
		if w.trying {
			ahead = append(ahead, w)
			return false
		}
		if w.hopeless() {
			close(w.granted)
			return true
		}
		w.short = w.behind(ahead, now)
		if w.short == nil {
			if w.short = q.reserve(w); w.short == nil || w.mode == waitForTurn {
				if w.short != nil {
					w.short, w.err = nil, errTurn
				}
				close(w.granted)
				if !w.stays {
					return true
				}
				w.trying, w.short = true, w.account.root()
			}
		}
		ahead = append(ahead, w)
		return false
	})
	q.mark()
	q.length.Store(int64(len(q.waiting)))
}

// mark notes at the accounts which requests wait there, for those that do not
// queue. The queue and all stripes are locked.
func (q *queue) mark() {
	for _, a := range q.marked {
		a.waiting.Store(0)
	}
	q.marked = q.marked[:0]
	for _, w := range q.waiting {
		a := w.short
		if a.waiting.Add(1) == 1 {
			a.passBelow.Store(w.bytes)
			a.agedAt.Store(w.agedAt)
			q.marked = append(q.marked, a)
			continue
		}
		a.passBelow.Store(min(a.passBelow.Load(), w.bytes))
		a.agedAt.Store(min(a.agedAt.Load(), w.agedAt))
	}
}

// hopeless reports whether no release can help, and notes why.
func (w *waiter) hopeless() bool {
	if w.account.ended.Load() {
		w.err = w.closedError()
		return true
	}
	w.never = w.account.cannotEver(w.bytes)
	return w.never != nil
}

// reserve reserves a request's bytes. If that is not possible it returns the
// account that is too small, or the root if it is the device. All stripes are
// locked.
func (q *queue) reserve(w *waiter) (short *account) {
	if w.forRelease && q.releases.Load() == w.releases {
		return w.account.root()
	}
	w.forRelease = false
	return w.account.reserve(w.bytes, true).account
}

// behind returns the account at which the request has to wait because another one
// that is ahead of it waits there, or nil.
func (w *waiter) behind(ahead []*waiter, now int64) *account {
	for level := w.account; level != nil && len(ahead) > 0; level = level.parent {
		for _, other := range ahead {
			if other.short == level && !w.passes(other, now) {
				return level
			}
		}
		if level.guaranteed.Load() {
			break
		}
	}
	return nil
}

// passes reports whether a request may take memory that another one waits for.
func (w *waiter) passes(other *waiter, now int64) bool {
	return w.bytes < other.bytes && now < other.agedAt
}

// close refuses every request that waits.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, w := range q.waiting {
		if w.trying {
			w.trying = false
			continue
		}
		w.err = w.closedError()
		close(w.granted)
	}
	q.length.Store(0)
	q.waiting = nil
	q.mark()
}

func (w *waiter) closedError() error {
	return fmt.Errorf("memory: wait for %s: manager: %w", humanize.Bytes(w.bytes), ErrClosed)
}
