package memory

import (
	"context"
	"errors"
	"fmt"

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
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("memory: allocate %s: %w", humanize.Bytes(bytes), context.Cause(ctx))
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
	reserved := false
	for round := 0; ; round++ {
		frees := root.account.frees.Load()
		if failure == nil {
			if !reserved {
				if err := m.reserveShort(ctx, bytes, options, wait); err != nil {
					return nil, m.failed(err)
				}
			}
			var block *Block
			if block, failure = m.deliver(bytes, stream, options.Tag); failure == nil {
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
		if !wait || root.account.inUse.Load() == 0 {
			return nil, m.failed(m.resourceError(bytes, options.Tag, failure))
		}
		if err := m.tree.queue.wait(ctx, &m.account, bytes, options.Priority, &frees); err != nil {
			return nil, m.failed(err)
		}
		reserved, failure = true, nil
	}
}

// reserveShort reserves bytes that may not be there yet.
func (m *Manager) reserveShort(ctx context.Context, bytes uint64, options AllocateOptions, wait bool) error {
	for range reclaimRounds {
		short := m.reserve(bytes)
		if short == nil {
			return nil
		}
		never := m.account.cannotEver(bytes)
		if never != nil {
			return m.budgetError(never, bytes, options.Tag)
		}
		if manager := m.above(short); manager != nil && manager.reclaim(ctx, bytes) {
			continue
		}
		if !wait {
			return m.budgetError(short, bytes, options.Tag)
		}
		break
	}
	return m.tree.queue.wait(ctx, &m.account, bytes, options.Priority, nil)
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
