package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// ErrBusy is wrapped by the error of a job that must not wait, if it would have to.
var ErrBusy = errors.New("other queries use the memory")

// Level is a budget, and the jobs that share it: its own and those of the levels below it.
// It is safe for concurrent use.
type Level struct {
	queue  *queue
	parent *Level
	budget func() uint64

	// The lock of the queue guards the fields below.

	// running counts the turns at this level and below it, promised is the sum of their least
	// bytes, and expected that of the bytes that they are expected to use.
	running            int
	promised, expected uint64
	// entered counts all turns that there have been.
	entered uint64
	// alone is set while a job runs alone at this level.
	alone  bool
	closed bool
}

// queue is the state that the levels of a tree share.
type queue struct {
	mu      sync.Mutex
	waiting []*Turn
	// changes counts the turns that have begun and ended.
	changes uint64
	// left is signalled when a turn ends.
	left sync.Cond
}

// New returns the topmost level. budget is called for each decision and must not block.
func New(budget func() uint64) *Level {
	q := &queue{}
	q.left.L = &q.mu
	return &Level{queue: q, budget: budget}
}

// Child returns a level below another one.
func (l *Level) Child(budget func() uint64) *Level {
	return &Level{queue: l.queue, parent: l, budget: budget}
}

// Request describes a job.
type Request struct {
	// Bytes are the bytes that the job needs at least, Expected those that it uses if it has them.
	// It is admitted when what it is expected to use fits.
	Bytes, Expected uint64
	// Stalled, if it is not nil, returns a channel that receives after some time. A job that waits, and
	// no turn has begun or ended in that time, is admitted when the bytes that it needs at least fit:
	// those that run may wait for it.
	Stalled func() <-chan time.Time
	// Alone, if it is not nil, is the level of the job or one above it: the job waits
	// until no other job runs there, and none is admitted there until it ends.
	Alone *Level
	// NoWait refuses a job that would have to wait for the bytes that it needs at least.
	NoWait bool
	// Waiting, if it is not nil, is called before the job waits.
	Waiting func()
}

// Turn is the permission to run.
type Turn struct {
	level   *Level
	request Request
	// hurries is set if the job is admitted when the bytes that it needs at least fit.
	hurries bool
	// changes is the number of turns that had begun or ended when the job began to wait.
	changes uint64
	// admitted is closed when a waiting job gets its turn, or when its level is closed.
	admitted chan struct{}
	// refusal is why a waiting job gets no turn. It is set before admitted is closed.
	refusal error
	// others is the number of turns that began at each level of the path, the job's own
	// included, when this one began, and shared reports whether others ran then.
	others []uint64
	shared []bool
}

// Enter waits for a turn. The caller ends it with [Turn.Leave].
//
// # Errors
//
// The error wraps the cause of ctx if it ends first, [ErrBusy] for a job that must not
// wait, and device.ErrClosed after [Level.Close].
func (l *Level) Enter(ctx context.Context, request Request) (*Turn, error) {
	if err := cancel.Error(ctx); err != nil {
		return nil, err
	}
	request.Expected = max(request.Expected, request.Bytes)
	t := &Turn{level: l, request: request, hurries: request.NoWait}
	q := l.queue
	q.mu.Lock()
	if err := l.refusal(); err != nil {
		q.mu.Unlock()
		return nil, err
	}
	if t.obstacle(q.blocked()) == nil {
		t.begin()
		q.mu.Unlock()
		return t, nil
	}
	if request.NoWait {
		err := fmt.Errorf("%d run and %d wait: %w", l.top().running, len(q.waiting), ErrBusy)
		q.mu.Unlock()
		return nil, err
	}
	t.admitted, t.changes = make(chan struct{}), q.changes
	q.waiting = append(q.waiting, t)
	q.mu.Unlock()
	if request.Waiting != nil {
		request.Waiting()
	}
	return t.wait(ctx)
}

// wait waits until the job is admitted or refused.
func (t *Turn) wait(ctx context.Context) (*Turn, error) {
	changes, stalled := t.changes, t.stalled()
	for {
		select {
		case <-t.admitted:
			if t.refusal != nil {
				return nil, t.refusal
			}
			return t, nil
		case <-stalled:
			if changes = t.hurry(changes); t.hurries {
				stalled = nil
			} else {
				stalled = t.stalled()
			}
		case <-ctx.Done():
			t.cancel()
			return nil, cancel.Error(ctx)
		}
	}
}

// stalled returns the next channel of the request, or nil.
func (t *Turn) stalled() <-chan time.Time {
	if t.request.Stalled == nil {
		return nil
	}
	return t.request.Stalled()
}

// hurry lets the job enter when the bytes that it needs at least fit, if no turn has begun or ended since
// a number of changes. It returns their number.
func (t *Turn) hurry(since uint64) (changes uint64) {
	q := t.level.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.changes == since {
		t.hurries = true
		q.admit()
	}
	return q.changes
}

// refusal is the error of a closed level. The lock is held.
func (l *Level) refusal() error {
	for ; l != nil; l = l.parent {
		if l.closed {
			return device.ErrClosed
		}
	}
	return nil
}

func (l *Level) top() *Level {
	for l.parent != nil {
		l = l.parent
	}
	return l
}

// cancel ends the wait of a job. It may have got its turn meanwhile.
func (t *Turn) cancel() {
	q := t.level.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if at := slices.Index(q.waiting, t); at >= 0 {
		q.waiting = slices.Delete(q.waiting, at, at+1)
		q.admit()
		return
	}
	if t.refusal == nil {
		t.end()
	}
}

// blocked returns the levels that the waiting jobs wait for. The lock is held.
func (q *queue) blocked() []*Level {
	var levels []*Level
	for _, t := range q.waiting {
		if at := t.obstacle(levels); at != nil {
			levels = append(levels, at)
		}
	}
	return levels
}

// admit gives their turns to waiting jobs. The lock is held.
func (q *queue) admit() {
	var blocked []*Level
	q.waiting = slices.DeleteFunc(q.waiting, func(t *Turn) bool {
		if at := t.obstacle(blocked); at != nil {
			blocked = append(blocked, at)
			return false
		}
		t.begin()
		close(t.admitted)
		return true
	})
}

// obstacle returns the level that a job has to wait for, or nil. Others wait for the given
// levels and come first. The lock is held.
func (t *Turn) obstacle(blocked []*Level) *Level {
	if alone := t.request.Alone; alone != nil && alone.running > 0 {
		return alone
	}
	for l := t.level; l != nil; l = l.parent {
		if l.alone || slices.Contains(blocked, l) || l.running > 0 && !l.fits(t) {
			return l
		}
	}
	return nil
}

// fits reports whether a job fits together with those that run. The lock is held.
func (l *Level) fits(t *Turn) bool {
	taken, bytes := l.expected, t.request.Expected
	if t.hurries {
		taken, bytes = l.promised, t.request.Bytes
	}
	budget := l.budget()
	return taken <= budget && bytes <= budget-taken
}

// begin counts a job as running. The lock is held.
func (t *Turn) begin() {
	t.level.queue.changes++
	for l := t.level; l != nil; l = l.parent {
		t.shared = append(t.shared, l.running > 0)
		l.running++
		l.promised += t.request.Bytes
		l.expected += t.request.Expected
		l.entered++
		t.others = append(t.others, l.entered)
	}
	if t.request.Alone != nil {
		t.request.Alone.alone = true
	}
}

// end undoes begin. The lock is held.
func (t *Turn) end() {
	t.level.queue.changes++
	for l := t.level; l != nil; l = l.parent {
		l.running--
		l.promised -= t.request.Bytes
		l.expected -= t.request.Expected
	}
	if t.request.Alone != nil {
		t.request.Alone.alone = false
	}
	q := t.level.queue
	q.admit()
	q.left.Broadcast()
}

// Leave ends the turn. It must be called once.
func (t *Turn) Leave() {
	q := t.level.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	t.end()
}

// Shared reports whether other jobs ran at a level, that of the job or one above it, at
// any time since the turn began.
func (t *Turn) Shared(at *Level) bool {
	q := t.level.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	i := 0
	for l := t.level; l != at; l = l.parent {
		i++
	}
	return t.shared[i] || at.entered != t.others[i]
}

// Close ends a level: jobs that wait at it or below it, and later ones, get device.ErrClosed. It
// waits until those that run have ended.
func (l *Level) Close() {
	q := l.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	l.closed = true
	q.waiting = slices.DeleteFunc(q.waiting, func(t *Turn) bool {
		t.refusal = t.level.refusal()
		if t.refusal != nil {
			close(t.admitted)
		}
		return t.refusal != nil
	})
	q.admit()
	for l.running > 0 {
		q.left.Wait()
	}
}
