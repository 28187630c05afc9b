package memory

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Reserve sets bytes aside for a job. It returns a child with that budget:
// allocations from the child up to that amount do not fail because of a budget. If
// the resource is a [resource.Primer], Reserve also obtains the memory from the
// device immediately. Closing the child returns the bytes that are not in use.
//
// A reservation of zero bytes reserves nothing; only empty blocks fit into it. The
// name follows the rules of [Manager.Child].
//
// # Errors
//
// The errors of [Manager.Allocate]. After an error nothing is reserved.
func (m *Manager) Reserve(name string, bytes uint64) (*Manager, error) {
	return m.reserveJob(context.Background(), name, bytes, AllocateOptions{Tag: name}, failAtOnce)
}

// ReserveWait is [Manager.Reserve] that waits until the budget has room, as
// [Manager.AllocateWait] does. It does not wait for the device: if the device has no
// memory for a [resource.Primer], ReserveWait fails as Reserve does. It uses only
// the Priority of the options.
func (m *Manager) ReserveWait(ctx context.Context, name string, bytes uint64, options AllocateOptions) (*Manager, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("memory: reserve %s for %q: %w", humanize.IBytes(bytes), name, cancel.Error(ctx))
	}
	options.Tag = name
	return m.reserveJob(ctx, name, bytes, options, waitForMemory)
}

// reserveJob reserves the bytes first and creates the child afterwards. Otherwise
// the child could be closed before the bytes are reserved, and would return bytes
// that were never reserved.
func (m *Manager) reserveJob(ctx context.Context, name string, bytes uint64, options AllocateOptions, mode waitMode) (*Manager, error) {
	failed := func(err error) (*Manager, error) {
		return nil, m.failed(bytes, name, fmt.Errorf("memory: reserve %s for %q: %w", humanize.IBytes(bytes), name, err))
	}
	if m.account.ended.Load() {
		return nil, fmt.Errorf("memory: reserve %s for %q: manager %q: %w", humanize.IBytes(bytes), name, m.account.name, ErrClosed)
	}
	if err := m.reserveBytes(ctx, bytes, options, mode); err != nil {
		return failed(err)
	}
	m.tree.pause("prime")
	if primer, ok := resource.Find[resource.Primer](m.resource); ok && bytes > 0 {
		if err := resource.PrimeFrom(ctx, primer, bytes); err != nil {
			m.unreserve(bytes)
			return failed(m.resourceError(bytes, name, err))
		}
	}
	child, err := m.newChild(name, bytes, true)
	if err != nil {
		m.unreserve(bytes)
		return failed(err)
	}
	return child, nil
}

// reserveBytes reserves bytes in the budgets, and waits for them if the mode allows.
func (m *Manager) reserveBytes(ctx context.Context, bytes uint64, options AllocateOptions, mode waitMode) error {
	if mode != failAtOnce {
		m.tree.queue.interested.Add(1)
		defer m.tree.queue.interested.Add(-1)
	}
	return m.reserveShort(ctx, bytes, options, m.newWaiter(bytes, options, mode))
}
