package memory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
)

// AllocateWait is [Manager.Allocate] that waits, where there is no memory, until
// enough of it was released or the context is done. Those who wait are served by
// options.Priority, and among equals in the order in which they came. Until the
// first of them is served, nobody else gets of the memory that it waits for: an
// Allocate beside it fails.
//
// What no release can help is not waited for: a request beyond a whole budget, or
// one that the device has no room for while nothing is in use.
func (m *Manager) AllocateWait(ctx context.Context, bytes uint64, options AllocateOptions) (*Block, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("memory: allocate %s: %w", humanize.Bytes(bytes), contextError(ctx))
	}
	stream, err := m.workStream(bytes, options)
	if err != nil {
		return nil, err
	}
	return m.allocateShort(ctx, bytes, stream, options, true, nil)
}

// reclaimRounds bounds how often reclaimers are asked for one request.
const reclaimRounds = 64

// allocateShort allocates where memory is short: it asks the reclaimers and then,
// if that is wanted, waits. failure is why the resource had no memory, or nil if
// it was not asked yet.
func (m *Manager) allocateShort(ctx context.Context, bytes uint64, stream *device.Stream, options AllocateOptions, wait bool, failure error) (*Block, error) {
	root := m.root()
	var w *waiter
	if wait {
		m.tree.queue.interested.Add(1)
		defer m.tree.queue.interested.Add(-1)
		w = m.newWaiter(bytes, options)
		defer m.tree.queue.leave(w)
	}
	reserved := false
	for round := 0; ; round++ {
		releases := m.tree.queue.releases.Load()
		if failure == nil {
			if !reserved {
				if err := m.reserveShort(ctx, bytes, options, w); err != nil {
					return nil, m.failed(err)
				}
			}
			var block *Block
			if block, failure = m.deliver(m.tags.find(options.Tag), bytes, stream); failure == nil {
				return block, nil
			}
			reserved = false
		}
		if !errors.Is(failure, device.ErrOutOfMemory) && !errors.Is(failure, ErrBudget) {
			return nil, m.failed(m.resourceError(bytes, options.Tag, failure))
		}
		if round < reclaimRounds && root.reclaim(ctx, bytes) {
			failure = nil
			continue
		}
		m.tree.stripes.settle()
		if !wait || root.account.inUse.Load() == 0 {
			return nil, m.failed(m.resourceError(bytes, options.Tag, failure))
		}
		if err := m.wait(ctx, w, options, &releases); err != nil {
			return nil, m.failed(err)
		}
		reserved, failure = true, nil
	}
}

func (m *Manager) newWaiter(bytes uint64, options AllocateOptions) *waiter {
	return &waiter{account: &m.account, bytes: bytes, priority: options.Priority}
}

// reserveShort reserves bytes that may not be there yet. It waits for them where
// w is not nil.
func (m *Manager) reserveShort(ctx context.Context, bytes uint64, options AllocateOptions, w *waiter) error {
	for range reclaimRounds {
		// Who was let try has its turn.
		short := m.reserve(bytes, w != nil && w.stays)
		if short == nil {
			return nil
		}
		never := m.account.cannotEver(bytes)
		if never != nil {
			return m.budgetError(never, bytes, options.Tag)
		}
		if manager := m.above(short); manager != nil && manager.reclaim(ctx, short.lacks(bytes)) {
			continue
		}
		if w == nil {
			return m.budgetError(short, bytes, options.Tag)
		}
		break
	}
	return m.wait(ctx, w, options, nil)
}

// wait waits in the queue. What can be reclaimed may be other things by and by:
// a table that is in use now can be moved once it is not, though nobody releases
// memory then. So the reclaimers are asked anew from time to time.
func (m *Manager) wait(ctx context.Context, w *waiter, options AllocateOptions, after *uint64) error {
	const shortest, longest = time.Millisecond, 100 * time.Millisecond
	pause := shortest
	never, err := m.tree.queue.wait(ctx, w, after, func() <-chan time.Time {
		root := m.root()
		if !root.anyReclaimers() {
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
	e := &BudgetError{Asked: asked, Tag: tag, Manager: short.name, Budget: short.budget.Load(), Waiting: int(short.waiting.Load())}
	if manager := m.above(short); manager != nil {
		s := manager.Stats()
		e.InUse, e.Largest = s.InUse, holders(s.Tags, named)
		if free := s.Budget - min(s.Budget, s.InUse); s.Remaining < free {
			e.SetAside = free - s.Remaining
		}
	}
	return e
}
