package memory

import (
	"context"
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
	closed  bool
}

type waiter struct {
	account  *account
	bytes    uint64
	priority int
	// short is the account that the request waits at.
	short *account
	// releases is how many blocks the whole tree had released when the device had
	// no room for the request: before another one is it need not try again.
	releases   uint64
	forRelease bool
	// granted is closed once the bytes are reserved, or err says why they never
	// will be.
	granted chan struct{}
	err     error
}

// wait waits until the bytes are reserved. Where after is not nil they are
// not before the tree has released more blocks than that.
// again is called at first and whenever what it returned has fired; nil never
// does.
func (q *queue) wait(ctx context.Context, a *account, bytes uint64, priority int, after *uint64, again func() <-chan time.Time) error {
	w := &waiter{account: a, bytes: bytes, priority: priority, granted: make(chan struct{})}
	if after != nil {
		w.forRelease, w.releases = true, *after
	}
	if err := q.enter(w); err != nil {
		return err
	}
	q.grant()
	for timer := again(); ; {
		select {
		case <-w.granted:
			return w.err
		case <-timer:
			timer = again()
			continue
		case <-ctx.Done():
		}
		break
	}
	if q.leave(w) || w.err != nil {
		return fmt.Errorf("memory: wait for %s: %w", humanize.Bytes(bytes), context.Cause(ctx))
	}
	// It was granted in the last moment.
	return nil
}

func (q *queue) enter(w *waiter) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return fmt.Errorf("memory: wait for %s: manager: %w", humanize.Bytes(w.bytes), ErrClosed)
	}
	at, _ := slices.BinarySearchFunc(q.waiting, w, func(other, w *waiter) int {
		if other.priority >= w.priority {
			return -1
		}
		return 1
	})
	q.waiting = slices.Insert(q.waiting, at, w)
	q.length.Add(1)
	return nil
}

// leave takes a request out and reports whether it was still in.
func (q *queue) leave(w *waiter) bool {
	q.mu.Lock()
	at := slices.Index(q.waiting, w)
	if at >= 0 {
		q.waiting = slices.Delete(q.waiting, at, at+1)
		q.length.Add(-1)
		w.waitAt(nil)
	}
	q.mu.Unlock()
	q.wake()
	return at >= 0
}

// released is called whenever a block was released, and wake whenever bytes were
// given back otherwise.
func (q *queue) released() {
	if q.interested.Load() > 0 {
		q.releases.Add(1)
		q.grant()
	}
}

func (q *queue) wake() {
	if q.interested.Load() > 0 {
		q.grant()
	}
}

// grant serves everyone it can, in order.
func (q *queue) grant() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stripes.settle()
	var short []*account
	q.waiting = slices.DeleteFunc(q.waiting, func(w *waiter) bool {
		if at := w.behind(short); at != nil {
			w.waitAt(at)
			return false
		}
		if at := q.reserve(w); at != nil {
			w.waitAt(at)
			short = append(short, at)
			return false
		}
		w.waitAt(nil)
		q.length.Add(-1)
		close(w.granted)
		return true
	})
}

// reserve reserves a request's bytes. Where that is not possible it returns the
// account that is too small, or the root if it is the device.
func (q *queue) reserve(w *waiter) (short *account) {
	stripe := q.stripes.enter()
	defer stripe.mu.Unlock()
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
		w.err = fmt.Errorf("memory: wait for %s: manager: %w", humanize.Bytes(w.bytes), ErrClosed)
		close(w.granted)
	}
	q.length.Add(-int64(len(q.waiting)))
	q.waiting = nil
}

// root returns the account at the top.
func (a *account) root() *account {
	for a.parent != nil {
		a = a.parent
	}
	return a
}
