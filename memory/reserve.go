package memory

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"
)

// Primer is a resource that can get memory before it is asked for.
type Primer interface {
	Resource
	// Prime sees to it that so many bytes are cached, in pieces that serve any
	// one request of that size.
	Prime(bytes uint64) error
}

// Reserve sets bytes aside for a job. It returns a child whose budget they are:
// up to that, allocating from it does not fail for want of budget, whatever
// others do meanwhile. Where the resource is a [Primer] it gets the memory from
// the device at once. Closing the child gives back what is not in use.
func (m *Manager) Reserve(name string, bytes uint64) (*Manager, error) {
	return m.reserveJob(context.Background(), name, bytes, AllocateOptions{Tag: name}, false)
}

// ReserveWait is [Manager.Reserve] that waits for memory as
// [Manager.AllocateWait] does, until the budget has room. Where the device has
// none for a [Primer] it fails as Reserve does. Only the priority of the options
// counts.
func (m *Manager) ReserveWait(ctx context.Context, name string, bytes uint64, options AllocateOptions) (*Manager, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("memory: reserve %s for %q: %w", humanize.Bytes(bytes), name, contextError(ctx))
	}
	options.Tag = name
	return m.reserveJob(ctx, name, bytes, options, true)
}

func (m *Manager) reserveJob(ctx context.Context, name string, bytes uint64, options AllocateOptions, wait bool) (*Manager, error) {
	var w *waiter
	if wait {
		m.tree.queue.interested.Add(1)
		defer m.tree.queue.interested.Add(-1)
		w = m.newWaiter(bytes, options)
	}
	child, err := m.newChild(name, bytes, true)
	if err != nil {
		return nil, err
	}
	if err := m.reserveShort(ctx, bytes, options, w); err != nil {
		m.children.remove(child)
		return nil, m.failed(fmt.Errorf("memory: reserve for %q: %w", name, err))
	}
	if primer, ok := FindResource[Primer](m.resource); ok && bytes > 0 {
		if err := primeFrom(ctx, primer, bytes); err != nil {
			m.unreserve(bytes)
			m.children.remove(child)
			return nil, m.failed(fmt.Errorf("memory: reserve for %q: %w", name, m.resourceError(bytes, name, err)))
		}
	}
	return child, nil
}
