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
)

// queue holds the requests of a tree of managers that wait for memory, those of
// the highest priority first and among equals those that came first.
//
// A request waits at the account that is too small for it. Others pass it only if
// they do not need that account; so the bytes that are released there gather
// until they suffice, and nobody starves.
type queue struct {
	stripes *stripes
	// interested is how many wait, or are about to. Releasing memory asks for it
	// and leaves the lock alone where nobody does. A request is counted before it
	// tries for the last time, so either it finds what was released or who
	// released it finds it.
	interested atomic.Int64
	// length is how many wait.
	length atomic.Int64
	// releases counts blocks that were released while somebody waited.
	releases atomic.Uint64

	mu      sync.Mutex
	waiting []*waiter
	// overdrawn are the accounts whose budget was lowered below what is in use.
	// As long as there are any the tree counts as interested, for credit must not
	// be drawn then: it is no longer within the budget.
	overdrawn []*account
	// tickets is how many requests have come.
	tickets uint64
	closed  bool
}

type waiter struct {
	account  *account
	bytes    uint64
	priority int
	// ticket is when the request came. It stays the same however often the
	// request is tried.
	ticket uint64
	// short is the account that the request waits at.
	short *account
	// releases is how many blocks the whole tree had released when the device had
	// no room for the request: before another one is it need not try again.
	releases   uint64
	forRelease bool
	// stays says that the device has refused the request, trying that it asks
	// again. It keeps its place meanwhile, and whoever is behind it waits: the
	// memory that it needs would never come together otherwise.
	stays, trying bool
	// granted is closed once the bytes are reserved, or err says why they never
	// will be. Where that is an account whose budget is too small, never is it.
	granted chan struct{}
	err     error
	never   *account
}

// wait waits until the bytes are reserved. Where after is not nil they are
// not before the tree has released more blocks than that; then the request is in
// the queue until it leaves. Where a budget was made smaller than the request,
// never is it, and nothing is waited for.
// again is called at first and whenever what it returned has fired; nil never
// does.
func (q *queue) wait(ctx context.Context, w *waiter, after *uint64, again func() <-chan time.Time) (never *account, err error) {
	if err := q.enter(w, after); err != nil {
		return nil, err
	}
	for timer := again(); ; {
		select {
		case <-w.granted:
			return w.never, w.err
		case <-timer:
			timer = again()
			continue
		case <-ctx.Done():
		}
		break
	}
	if q.withdraw(w) || w.err != nil || w.never != nil {
		return nil, fmt.Errorf("memory: wait for %s: %w", humanize.Bytes(w.bytes), contextError(ctx))
	}
	// It was granted in the last moment.
	return nil, nil
}

// enter puts a request in, or back, and serves it at once where that is possible.
func (q *queue) enter(w *waiter, after *uint64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return w.closedError()
	}
	w.granted = make(chan struct{})
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

// leave takes out a request that came to its end.
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
	w.waitAt(nil)
	q.serve()
	return true
}

// released is called whenever a block was released, and wake whenever bytes were
// given back otherwise.
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

// serve grants what it can. The queue is locked, and all stripes are meanwhile: a
// request beside it that fails further up has taken from the budgets below for a
// moment, and who waits would not be asked again after that.
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
	var short []*account
	q.waiting = slices.DeleteFunc(q.waiting, func(w *waiter) bool {
		var at *account
		switch {
		case w.trying:
			at = w.account.root()
			short = append(short, at)
		case w.hopeless():
			close(w.granted)
		default:
			if at = w.behind(short); at != nil {
				break
			}
			if at = q.reserve(w); at == nil {
				close(w.granted)
				if !w.stays {
					break
				}
				w.trying, at = true, w.account.root()
			}
			short = append(short, at)
		}
		w.waitAt(at)
		return at == nil
	})
	q.length.Store(int64(len(q.waiting)))
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

// reserve reserves a request's bytes. Where that is not possible it returns the
// account that is too small, or the root if it is the device. All stripes are
// locked.
func (q *queue) reserve(w *waiter) (short *account) {
	if w.forRelease && q.releases.Load() == w.releases {
		return w.account.root()
	}
	w.forRelease = false
	return w.account.reserve(w.bytes, true)
}

// behind returns the first of some accounts that the request needs, too.
func (w *waiter) behind(short []*account) *account {
	for level := w.account; level != nil && len(short) > 0; level = level.parent {
		if slices.Contains(short, level) {
			return level
		}
		if level.guaranteed.Load() {
			break
		}
	}
	return nil
}

// waitAt moves the request's mark from one account to another.
func (w *waiter) waitAt(short *account) {
	if w.short == short {
		return
	}
	if w.short != nil {
		w.short.waiting.Add(-1)
	}
	if w.short = short; short != nil {
		short.waiting.Add(1)
	}
}

// close refuses everyone who waits.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, w := range q.waiting {
		w.waitAt(nil)
		if w.trying {
			w.trying = false
			continue
		}
		w.err = w.closedError()
		close(w.granted)
	}
	q.length.Store(0)
	q.waiting = nil
}

func (w *waiter) closedError() error {
	return fmt.Errorf("memory: wait for %s: manager: %w", humanize.Bytes(w.bytes), ErrClosed)
}

// contextError tells that a context is done, and why if that is known.
func contextError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// root returns the account at the top.
func (a *account) root() *account {
	for a.parent != nil {
		a = a.parent
	}
	return a
}
