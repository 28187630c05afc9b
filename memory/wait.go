package memory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// AllocateContext is [Manager.Allocate] for callers with a context. If other
// requests wait for the memory that it needs, it waits for its turn behind them
// instead of failing. It does not wait for memory to be released: if there is too
// little when its turn comes, it fails.
//
// # Errors
//
// The errors of [Manager.Allocate]. If the context is done while it waits, the error
// wraps ctx.Err.
func (m *Manager) AllocateContext(ctx context.Context, bytes uint64, options AllocateOptions) (*Block, error) {
	return m.allocateWaiting(ctx, bytes, options, waitBehindOthers)
}

// AllocateWait is [Manager.Allocate] that waits, if there is too little memory,
// until enough was released or the context is done.
//
// Waiting requests are served by options.Priority, and at equal priority in order of
// arrival. During Options.PassingPeriod a smaller request that fits may overtake a
// waiting one; after that the released memory accumulates until the waiting request
// fits, so that it does not starve.
//
// It does not wait for memory that no release can provide: more than a total budget,
// or memory that the device lacks although nothing is in use, neither in this
// manager nor in another manager of the same resource.
//
// # Errors
//
// The errors of [Manager.Allocate]. If the context is done, the error wraps ctx.Err.
func (m *Manager) AllocateWait(ctx context.Context, bytes uint64, options AllocateOptions) (*Block, error) {
	return m.allocateWaiting(ctx, bytes, options, waitForMemory)
}

// waitMode selects the behaviour of a request if there is too little memory.
type waitMode uint8

const (
	failAtOnce waitMode = iota
	// waitBehindOthers waits while other waiting requests are ahead.
	waitBehindOthers
	// waitForMemory also waits for memory to be released.
	waitForMemory
)

func (m *Manager) allocateWaiting(ctx context.Context, bytes uint64, options AllocateOptions, mode waitMode) (*Block, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("memory: allocate %s: %w", humanize.IBytes(bytes), cancel.Error(ctx))
	}
	stream, err := m.workStream(bytes, options)
	if err != nil {
		return nil, err
	}
	block, err := m.allocateNow(ctx, bytes, stream, options.Tag)
	if block == nil {
		return m.allocateShort(ctx, bytes, stream, options, mode, err)
	}
	return block, nil
}

// allocateShort allocates if memory is short. It calls the reclaimers and then waits
// if the mode allows. failure is the error of the resource, or nil if a budget
// refused.
func (m *Manager) allocateShort(ctx context.Context, bytes uint64, stream *device.Stream, options AllocateOptions, mode waitMode, failure error) (*Block, error) {
	a := &attempt{Manager: m, ctx: ctx, bytes: bytes, stream: stream, options: options, mode: mode}
	if mode != failAtOnce {
		m.tree.pause("interested")
		m.tree.queue.interested.Add(1)
		defer m.tree.queue.interested.Add(-1)
		a.waiter = m.newWaiter(bytes, options, mode)
		defer m.tree.queue.leave(a.waiter)
	}
	defer a.stopListening()
	block, err := a.run(failure)
	if err != nil && (options.Retried || options.Spare || IsRetrying(ctx)) {
		m.account.retry()
		return nil, err
	}
	if err != nil {
		return nil, m.failed(bytes, options.Tag, err)
	}
	return block, nil
}

// attempt is a request that found too little memory.
type attempt struct {
	*Manager
	ctx     context.Context
	bytes   uint64
	stream  *device.Stream
	options AllocateOptions
	mode    waitMode
	// waiter is the request in the queue; nil if the request does not wait.
	waiter *waiter
	// listening is set while releases in other trees are reported to this one.
	listening bool
	// rounds counts the waits for other requests in progress.
	rounds int
	// reclaimed stops calling reclaimers that have no effect.
	reclaimed *progress

	// releases is the number of blocks released in the tree, and before the use of
	// the memory, both read before the last reservation or allocation.
	releases uint64
	before   holding
	// refusal is the error of the device that had no memory.
	refusal error
	// block is the result.
	block *Block
}

// run drives the request from state to state until it has succeeded or failed.
// failure is the error of the resource, or nil if a budget refused.
func (a *attempt) run(failure error) (*Block, error) {
	a.reclaimed = newProgress()
	a.note(false)
	state := reserving
	if failure != nil {
		// The caller has already reserved the bytes and called the resource.
		state, failure = a.answered(nil, failure)
		if state == failed {
			return nil, failure
		}
	}
	for {
		next, err := a.step(state)
		if a.tree.observer.request != nil {
			a.tree.observer.request(state, next)
		}
		switch state = next; state {
		case succeeded:
			return a.block, nil
		case failed:
			return nil, err
		}
	}
}

// step performs the step of a state and returns the next state.
func (a *attempt) step(state requestState) (next requestState, err error) {
	switch state {
	case reserving:
		return a.next(asking, a.reserveShort(a.ctx, a.bytes, a.options, a.waiter))
	case asking:
		return a.answered(a.deliver(a.ctx, a.tags.find(a.options.Tag), a.bytes, a.stream))
	case shortOnDevice:
		return a.decide()
	case awaitingRelease:
		err := a.wait(a.ctx, a.waiter, a.options, &a.releases)
		a.note(err == nil)
		return a.next(asking, err)
	case awaitingOthers:
		err := a.awaitOthers()
		a.note(false)
		return a.next(reserving, err)
	}
	return failed, fmt.Errorf("memory: a request is in state %d, which has no step: %w", state, device.ErrInvalidValue)
}

// next returns the state, or failed after an error.
func (a *attempt) next(state requestState, err error) (requestState, error) {
	if err != nil {
		return failed, err
	}
	return state, nil
}

// again returns to reserving.
func (a *attempt) again() (requestState, error) {
	a.note(false)
	return reserving, nil
}

// note records the number of releases and the current use of the memory. Later
// releases are then detected if the device has no memory.
func (a *attempt) note(reserved bool) {
	a.releases = a.tree.queue.releases.Load()
	a.before = a.holding(reserved)
}

// answered returns the next state after the resource has answered.
func (a *attempt) answered(block *Block, err error) (requestState, error) {
	switch {
	case err == nil:
		a.block = block
		return succeeded, nil
	case errors.Is(err, device.ErrOutOfMemory), errors.Is(err, ErrBudget):
		a.refusal = err
		return shortOnDevice, nil
	}
	return failed, a.resourceError(a.bytes, a.options.Tag, err)
}

// decide chooses the next step of a request for which the device had no memory:
// first the reclaimers; then another attempt, because a block may have been released
// before this request listened to other trees; then a wait for a release or for the
// requests in progress.
func (a *attempt) decide() (requestState, error) {
	root := a.root()
	a.tree.stripes.flush()
	if !a.options.Spare && a.reclaimed.advances(root.account.inUse.Load()) && root.reclaim(a.ctx, a.bytes) {
		return a.again()
	}
	if a.mode == waitForMemory && a.listen() {
		return a.again()
	}
	if a.mode != waitForMemory {
		return failed, a.resourceError(a.bytes, a.options.Tag, a.refusal)
	}
	// If no manager had memory before the attempt, none has now, and none got any in
	// between, then no release can help.
	switch now := a.holding(false); {
	case a.before.inUse || now.inUse:
		return awaitingRelease, nil
	case now.allocations != a.before.allocations:
		return a.again()
	case a.before.inProgress || now.inProgress:
		return awaitingOthers, nil
	}
	return failed, a.resourceError(a.bytes, a.options.Tag, a.refusal)
}

// holding returns the current use of the memory. Before the request listens for
// releases the result is not needed and is not computed.
func (a *attempt) holding(reserved bool) holding {
	if !a.listening {
		return holding{inUse: true}
	}
	own := uint64(0)
	if reserved {
		own = a.bytes
	}
	return a.tree.neighbours.holding(a.tree, own)
}

// awaitOthers waits until the requests in progress have got their memory or failed.
// Nothing else is in use, so there is no release to wait for. After eight rounds the
// request fails, so that two requests that keep failing each other end.
func (a *attempt) awaitOthers() error {
	const rounds, interval = 8, time.Millisecond
	if a.rounds++; a.rounds > rounds {
		return a.resourceError(a.bytes, a.options.Tag, a.refusal)
	}
	ended := func() bool {
		now := a.tree.neighbours.holding(a.tree, 0)
		return now.inUse || !now.inProgress
	}
	if step := a.tree.step; step != nil {
		step("others", func() bool { return ended() || a.ctx.Err() != nil })
	}
	for !ended() {
		select {
		case <-a.ctx.Done():
			return fmt.Errorf("memory: allocate %s: %w", humanize.IBytes(a.bytes), cancel.Error(a.ctx))
		case <-time.After(interval):
		}
	}
	return nil
}

// listen makes other trees report releases to this one. It returns false if they
// already do.
func (a *attempt) listen() (began bool) {
	if a.listening {
		return false
	}
	a.tree.neighbours.waiting.Add(1)
	a.listening = true
	return true
}

func (a *attempt) stopListening() {
	if a.listening {
		a.tree.neighbours.waiting.Add(-1)
	}
}

// progress stops repetitions that have no effect.
type progress struct {
	least uint64
	vain  int
}

// vainRounds limits how often reclaimers are called for one request without effect.
// Other requests may take the memory that the reclaimers release.
const vainRounds = 64

func newProgress() *progress { return &progress{least: math.MaxUint64} }

// advances reports whether to continue, given the number of bytes that are lacking or in
// use now.
func (p *progress) advances(now uint64) bool {
	if now < p.least {
		p.least, p.vain = now, 0
		return true
	}
	p.vain++
	return p.vain <= vainRounds
}

func (m *Manager) newWaiter(bytes uint64, options AllocateOptions, mode waitMode) *waiter {
	if mode == failAtOnce {
		return nil
	}
	return &waiter{
		account: &m.account, bytes: bytes, priority: options.Priority, mode: mode,
		agedAt: m.account.clock.now() + int64(m.options.passingPeriod()),
	}
}

// reserveShort reserves bytes that may not be available yet. It waits for them
// according to the waiter's mode; with a nil waiter it does not wait.
func (m *Manager) reserveShort(ctx context.Context, bytes uint64, options AllocateOptions, w *waiter) error {
	reclaimed := newProgress()
	for {
		refused := m.reserve(bytes, w != nil && w.keepsPlace)
		short := refused.account
		if short == nil {
			return nil
		}
		if tooSmall := m.account.tooSmall(bytes); tooSmall != nil {
			return m.budgetError(tooSmall, bytes, options.Tag)
		}
		if !refused.ahead && !options.Spare {
			lacks := short.lacks(bytes)
			if manager := m.above(short); reclaimed.advances(lacks) && manager != nil && manager.reclaim(ctx, lacks) {
				continue
			}
		}
		if w == nil || w.mode == waitBehindOthers && !refused.ahead {
			return m.budgetError(short, bytes, options.Tag)
		}
		if err := m.wait(ctx, w, options, nil); !errors.Is(err, errNoMemory) {
			return err
		}
	}
}

// wait waits in the queue. The memory that reclaimers can release may change over
// time: a table that is in use now can be moved later, and no release happens when
// it becomes idle. So wait calls the reclaimers again periodically.
func (m *Manager) wait(ctx context.Context, w *waiter, options AllocateOptions, after *uint64) error {
	const shortest, longest = time.Millisecond, 100 * time.Millisecond
	pause := shortest
	if len(m.tree.observers.current()) > 0 {
		defer m.reportWait(time.Now())
	}
	tooSmall, err := m.tree.queue.wait(ctx, w, after, func() <-chan time.Time {
		root := m.root()
		if w.mode != waitForMemory || !root.anyReclaimers() {
			return nil
		}
		if pause > shortest {
			root.reclaim(ctx, m.account.lacksAnywhere(w.bytes))
		}
		pause = min(2*pause, longest)
		return time.After(pause / 2)
	})
	if tooSmall != nil {
		return m.budgetError(tooSmall, w.bytes, options.Tag)
	}
	return err
}

// above returns the manager of an account among m and its ancestors, or nil.
func (m *Manager) above(a *account) *Manager {
	for m != nil && &m.account != a {
		m = m.parent
	}
	return m
}

func (m *Manager) root() *Manager {
	for m.parent != nil {
		m = m.parent
	}
	return m
}

// failed counts a request that got no memory.
func (m *Manager) failed(bytes uint64, tag string, err error) error {
	stripe := m.tree.stripes.enter()
	m.account.fail()
	stripe.mu.Unlock()
	m.tree.reportFailure(Failure{Manager: m, Tag: tag, Bytes: bytes, Err: err})
	return err
}

// resourceError wraps a resource's error with the tag and the statistics of the root
// manager.
func (m *Manager) resourceError(bytes uint64, tag string, err error) error {
	const named = 5
	s := m.root().Stats()
	return &AllocationError{
		Asked: bytes, Tag: tag, Device: m.device.Name(), InUse: s.InUse, Peak: s.Peak,
		Largest: holders(s.Tags, named), Err: err,
	}
}

func (m *Manager) budgetError(short *account, asked uint64, tag string) *BudgetError {
	const named = 5
	short = short.effective()
	e := &BudgetError{
		Asked: asked, Tag: tag, Manager: short.name, Kind: short.kind, Budget: short.budget.Load(), Waiting: int(short.waiting.Load()),
	}
	if manager := m.above(short); manager != nil {
		s := manager.Stats()
		e.InUse, e.Largest = s.InUse, holders(s.Tags, named)
		if free := s.Budget - min(s.Budget, s.InUse); s.Remaining < free {
			e.SetAside = free - s.Remaining
		}
	}
	return e
}
