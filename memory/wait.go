package memory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/cancel"
)

// AllocateContext is [Manager.Allocate] for callers with a context. If other
// requests wait for the memory that it needs, it waits for its turn behind them
// instead of failing. It does not wait for memory to be released: if there is too
// little when its turn comes, it fails.
//
// # Errors
//
// Those of [Manager.Allocate]; one that wraps ctx.Err if the context is done while
// it waits.
func (m *Manager) AllocateContext(ctx context.Context, bytes uint64, options AllocateOptions) (*Block, error) {
	return m.allocateWaiting(ctx, bytes, options, waitForTurn)
}

// AllocateWait is [Manager.Allocate] that waits, if there is too little memory,
// until enough was released or the context is done.
//
// Requests that wait are served by options.Priority, and among equals in the order
// in which they came. A smaller request that fits may pass one that waits for
// Options.PassingPeriod; after that the released memory gathers until the waiting
// request fits, so that it does not starve.
//
// It does not wait for what no release can bring: more than a whole budget, or
// memory that the device lacks while nothing is in use, neither here nor in
// another manager of the same resource.
//
// # Errors
//
// Those of [Manager.Allocate]; one that wraps ctx.Err if the context is done.
func (m *Manager) AllocateWait(ctx context.Context, bytes uint64, options AllocateOptions) (*Block, error) {
	return m.allocateWaiting(ctx, bytes, options, waitForMemory)
}

// waitMode is what a request does if there is too little memory.
type waitMode uint8

const (
	failAtOnce waitMode = iota
	// waitForTurn waits while others that wait are ahead.
	waitForTurn
	// waitForMemory also waits for memory to be released.
	waitForMemory
)

func (m *Manager) allocateWaiting(ctx context.Context, bytes uint64, options AllocateOptions, mode waitMode) (*Block, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("memory: allocate %s: %w", humanize.Bytes(bytes), cancel.Error(ctx))
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

// allocateShort allocates if memory is short. It asks the reclaimers and then, if
// the mode says so, waits. failure is why the resource had no memory, or nil if a
// budget refused.
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
	if err != nil {
		return nil, m.failed(err)
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
	// waiter is the request in the queue; nil if it does not wait.
	waiter *waiter
	// listening is set while releases in other trees are reported to this one.
	listening bool
	// rounds counts how often it waited for other requests in progress.
	rounds int
}

func (a *attempt) run(failure error) (*Block, error) {
	root, reserved := a.root(), false
	reclaimed := newProgress()
	for {
		// A release after this point is noticed, if the device has no memory.
		releases := a.tree.queue.releases.Load()
		before := a.holding(reserved)
		if failure == nil {
			if !reserved {
				if err := a.reserveShort(a.ctx, a.bytes, a.options, a.waiter); err != nil {
					return nil, err
				}
			}
			var block *Block
			if block, failure = a.deliver(a.ctx, a.tags.find(a.options.Tag), a.bytes, a.stream); failure == nil {
				return block, nil
			}
			reserved = false
		}
		if !errors.Is(failure, device.ErrOutOfMemory) && !errors.Is(failure, ErrBudget) {
			return nil, a.resourceError(a.bytes, a.options.Tag, failure)
		}
		a.tree.stripes.settle()
		if reclaimed.made(root.account.inUse.Load()) && root.reclaim(a.ctx, a.bytes) {
			failure = nil
			continue
		}
		if a.mode == waitForMemory && a.listen() {
			failure = nil // something may have been released since the attempt
			continue
		}
		if a.mode != waitForMemory {
			return nil, a.resourceError(a.bytes, a.options.Tag, failure)
		}
		// If nobody had memory before the attempt, nobody has now, and nobody got any
		// in between, then no release can help.
		switch now := a.holding(false); {
		case before.inUse || now.inUse:
		case now.allocations != before.allocations:
			failure = nil
			continue
		case !before.inProgress && !now.inProgress:
			return nil, a.resourceError(a.bytes, a.options.Tag, failure)
		default:
			if err := a.awaitOthers(failure); err != nil {
				return nil, err
			}
			failure = nil
			continue
		}
		if err := a.wait(a.ctx, a.waiter, a.options, &releases); err != nil {
			return nil, err
		}
		reserved, failure = true, nil
	}
}

// holding says what the memory is used for. Before the first attempt that notices
// releases it does not matter, and is not asked for.
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

// awaitOthers waits until the requests that are in progress have got their memory
// or failed. Nothing else is in use, so there is no release to wait for. The second
// of two that keep failing beside each other gives up.
func (a *attempt) awaitOthers(failure error) error {
	const rounds, interval = 8, time.Millisecond
	if a.rounds++; a.rounds > rounds {
		return a.resourceError(a.bytes, a.options.Tag, failure)
	}
	settled := func() bool {
		now := a.tree.neighbours.holding(a.tree, 0)
		return now.inUse || !now.inProgress
	}
	if step := a.tree.step; step != nil {
		step("others", func() bool { return settled() || a.ctx.Err() != nil })
	}
	for !settled() {
		select {
		case <-a.ctx.Done():
			return fmt.Errorf("memory: allocate %s: %w", humanize.Bytes(a.bytes), cancel.Error(a.ctx))
		case <-time.After(interval):
		}
	}
	return nil
}

// listen has releases in other trees reported to this one, and returns false if
// they are already.
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

// progress ends what is repeated in vain.
type progress struct {
	least uint64
	vain  int
}

// vainRounds bounds how often reclaimers are asked for one request without any
// effect. Other requests may take what they release.
const vainRounds = 64

func newProgress() *progress { return &progress{least: math.MaxUint64} }

// made reports whether it makes sense to go on, given what is lacking, or in use,
// by now.
func (p *progress) made(now uint64) bool {
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

// reserveShort reserves bytes that may not be there yet. It waits for them as the
// waiter's mode says; a nil waiter does not wait.
func (m *Manager) reserveShort(ctx context.Context, bytes uint64, options AllocateOptions, w *waiter) error {
	reclaimed := newProgress()
	for {
		refused := m.reserve(bytes, w != nil && w.stays)
		short := refused.account
		if short == nil {
			return nil
		}
		if never := m.account.cannotEver(bytes); never != nil {
			return m.budgetError(never, bytes, options.Tag)
		}
		if !refused.ahead {
			lacks := short.lacks(bytes)
			if manager := m.above(short); reclaimed.made(lacks) && manager != nil && manager.reclaim(ctx, lacks) {
				continue
			}
		}
		if w == nil || w.mode == waitForTurn && !refused.ahead {
			return m.budgetError(short, bytes, options.Tag)
		}
		if err := m.wait(ctx, w, options, nil); !errors.Is(err, errTurn) {
			return err
		}
	}
}

// wait waits in the queue. What reclaimers can release may change over time: a
// table that is in use now can be moved later, and nothing is released when it
// becomes idle. So they are asked again from time to time.
func (m *Manager) wait(ctx context.Context, w *waiter, options AllocateOptions, after *uint64) error {
	const shortest, longest = time.Millisecond, 100 * time.Millisecond
	pause := shortest
	never, err := m.tree.queue.wait(ctx, w, after, func() <-chan time.Time {
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
	if never != nil {
		return m.budgetError(never, w.bytes, options.Tag)
	}
	return err
}

// above returns the manager of an account on the way up.
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
func (m *Manager) failed(err error) error {
	stripe := m.tree.stripes.enter()
	defer stripe.mu.Unlock()
	m.account.fail()
	return err
}

// resourceError adds to a resource's error what the resource does not know.
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
