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

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// queue holds the requests of a manager tree that wait for memory, ordered by
// priority and then by arrival.
//
// A request waits at the account that has too little budget. Requests that do not
// need that account continue. Of the requests that need it, smaller ones may
// overtake until the waiting request has aged. After that the bytes released at the
// account accumulate until the request fits, so that no request starves.
//
// The states of a request are in request_state.go.
type queue struct {
	stripes *stripes
	tree    *tree
	// interested counts the requests that wait or are about to wait. A release reads
	// it and takes the lock only if it is not zero. A request is counted before its
	// last attempt: either the attempt sees the released bytes, or the release sees
	// the request.
	interested atomic.Int64
	// length is the number of waiting requests.
	length atomic.Int64
	// releases counts the blocks that were released while requests waited.
	releases atomic.Uint64

	mu      sync.Mutex
	waiting []*waiter
	// overdrawn are the accounts with more bytes in use than their lowered budget.
	// Each of them counts as interested, because credit of tag caches, which may now
	// exceed the budget, must not be used.
	overdrawn []*account
	// marked are the accounts at which requests waited when grant last ran.
	marked []*account
	// tickets counts the requests that have entered.
	tickets uint64
	closed  bool
}

type waiter struct {
	account  *account
	bytes    uint64
	priority int
	mode     waitMode
	// agedAt is the time from which smaller requests must not overtake this one.
	agedAt int64
	// ticket orders requests by arrival. A request keeps its ticket when it is tried
	// again.
	ticket uint64
	// place is the state of the request. The queue's lock guards it.
	place placeState
	// shortAt is the account at which the request waits.
	shortAt *account
	// releases is the number of blocks that the tree had released when the device
	// had no memory for the request.
	releases uint64
	// keepsPlace is set once the device has refused the request: when its bytes are
	// reserved, its state becomes trying instead of granted.
	keepsPlace bool
	// decided is closed when the request is granted, trying or refused. If it is
	// refused, either err is set or tooSmall is the account with a total budget
	// smaller than the request.
	decided  chan struct{}
	err      error
	tooSmall *account
}

// errNoMemory ends the wait of a request with mode waitBehindOthers when it is first
// in line and there is too little memory.
var errNoMemory = errors.New("there is too little memory")

// become changes the state of a request. The queue is locked.
func (q *queue) become(w *waiter, place placeState) {
	if q.tree.observer.place != nil {
		q.tree.observer.place(w.place, place)
	}
	w.place = place
}

// wait waits until the bytes are reserved. A non-nil after means that the device has
// refused the request: it waits until the tree has released more blocks than *after,
// and keeps its place in the queue until it leaves. If an account has a total budget
// smaller than the request, wait returns it as tooSmall.
//
// again is called first, and then each time that the channel it returned fires.
func (q *queue) wait(ctx context.Context, w *waiter, after *uint64, again func() <-chan time.Time) (tooSmall *account, err error) {
	q.tree.pause("enter")
	if err := q.enter(w, after); err != nil {
		return nil, err
	}
	if step := q.tree.step; step != nil {
		step("wait", func() bool { return w.isDecided() || ctx.Err() != nil })
	}
	for timer := again(); !w.isDecided(); {
		select {
		case <-w.decided:
		case <-timer:
			timer = again()
		case <-ctx.Done():
			q.tree.pause("cancelled")
			if q.withdraw(w) {
				return nil, fmt.Errorf("memory: wait for %s: %w", humanize.IBytes(w.bytes), cancel.Error(ctx))
			}
		}
	}
	return w.tooSmall, w.err
}

// isDecided reports whether the request no longer waits.
func (w *waiter) isDecided() bool {
	select {
	case <-w.decided:
		return true
	default:
		return false
	}
}

// enter adds a request, or makes a request that was trying wait again, and grants it
// immediately if possible.
func (q *queue) enter(w *waiter, after *uint64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return w.closedError()
	}
	w.decided, w.err = make(chan struct{}), nil
	if w.place != trying {
		q.insert(w)
	}
	if after != nil {
		w.keepsPlace, w.releases = true, *after
		q.become(w, waitingForRelease)
	} else {
		q.become(w, waitingForBudget)
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

// withdraw removes a request that still waits, and reports whether it did.
func (q *queue) withdraw(w *waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !w.place.queued() {
		return false
	}
	q.remove(w)
	return true
}

// leave removes a request that keeps its place, after the request has ended.
func (q *queue) leave(w *waiter) {
	if w != nil && w.keepsPlace {
		q.mu.Lock()
		defer q.mu.Unlock()
		if w.place == trying {
			q.remove(w)
		}
	}
}

// remove removes a request. The queue is locked.
func (q *queue) remove(w *waiter) {
	q.waiting = slices.DeleteFunc(q.waiting, func(other *waiter) bool { return other == w })
	w.shortAt = nil
	q.become(w, outside)
	q.serve()
}

// released is called after a block was released. wake is called after bytes were
// returned in another way.
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

// serve grants the requests that can be granted. The queue is locked. serve locks
// all stripes: a request that fails at a higher account has briefly reserved bytes
// at the accounts below, and a waiting request refused because of those bytes would
// not be tried again.
func (q *queue) serve() {
	q.stripes.lockAll()
	defer q.stripes.unlockAll()
	q.grant()
}

// grant grants requests in order. The queue and all stripes are locked.
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
		if w.place != trying && q.decide(w, ahead, now) {
			return true
		}
		ahead = append(ahead, w)
		return false
	})
	q.mark()
	q.length.Store(int64(len(q.waiting)))
}

// decide grants or refuses a waiting request if possible, and reports whether the
// request has left the queue. The queue and all stripes are locked.
func (q *queue) decide(w *waiter, ahead []*waiter, now int64) (left bool) {
	if w.isHopeless() {
		q.refuse(w)
		return true
	}
	if w.shortAt = w.behind(ahead, now); w.shortAt != nil {
		return false
	}
	switch w.shortAt = q.reserve(w); {
	case w.shortAt != nil && w.mode == waitBehindOthers:
		w.shortAt, w.err = nil, errNoMemory
		q.refuse(w)
		return true
	case w.shortAt != nil:
		return false
	case w.keepsPlace:
		w.shortAt = w.account.root()
		q.become(w, trying)
		close(w.decided)
		return false
	}
	q.become(w, granted)
	close(w.decided)
	return true
}

// refuse ends the wait of a request that has err or tooSmall set.
func (q *queue) refuse(w *waiter) {
	q.become(w, refused)
	close(w.decided)
}

// mark records at each account the requests that wait there, for requests that do
// not use the queue. The queue and all stripes are locked.
func (q *queue) mark() {
	for _, a := range q.marked {
		a.waiting.Store(0)
	}
	q.marked = q.marked[:0]
	for _, w := range q.waiting {
		a := w.shortAt
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

// isHopeless reports whether no release can help the request, and records the
// reason.
func (w *waiter) isHopeless() bool {
	if w.account.ended.Load() {
		w.err = w.closedError()
		return true
	}
	w.tooSmall = w.account.tooSmall(w.bytes)
	return w.tooSmall != nil
}

// reserve reserves the bytes of a request. On failure it returns the account without
// room, or the root if the request waits for a release. The queue and all stripes
// are locked.
func (q *queue) reserve(w *waiter) (short *account) {
	if w.place == waitingForRelease {
		if q.releases.Load() == w.releases {
			return w.account.root()
		}
		q.become(w, waitingForBudget)
	}
	return w.account.reserve(w.bytes, true).account
}

// behind returns the account at which the request must wait because a request ahead
// of it waits there, or nil.
func (w *waiter) behind(ahead []*waiter, now int64) *account {
	for level := w.account; level != nil && len(ahead) > 0; level = level.parent {
		for _, other := range ahead {
			if other.shortAt == level && !w.passes(other, now) {
				return level
			}
		}
		if level.guaranteed.Load() {
			break
		}
	}
	return nil
}

// passes reports whether a request may take memory that another request waits for.
func (w *waiter) passes(other *waiter, now int64) bool {
	return w.bytes < other.bytes && now < other.agedAt
}

// close refuses every waiting request.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, w := range q.waiting {
		if w.place == trying {
			q.become(w, outside)
			continue
		}
		w.err = w.closedError()
		q.refuse(w)
	}
	q.length.Store(0)
	q.waiting = nil
	q.mark()
}

func (w *waiter) closedError() error {
	return fmt.Errorf("memory: wait for %s: manager: %w", humanize.IBytes(w.bytes), ErrClosed)
}
