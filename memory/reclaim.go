package memory

import (
	"context"
	"log/slog"
	"slices"
	"sync"
)

// Reclaimer can give memory back when a manager is short of it: by moving it to
// the host, or by dropping what can be made again.
type Reclaimer interface {
	// Reclaim tries to release blocks of the manager's until at least so many
	// bytes are free, and returns how many it released. It must not allocate
	// from the manager, and it must not wait for what waits for memory.
	Reclaim(ctx context.Context, bytes uint64) (released uint64, err error)
}

// reclaimers are asked in the order in which they were added.
type reclaimers struct {
	mu  sync.Mutex
	all []Reclaimer
}

// AddReclaimer registers who is asked, before a request fails for want of
// memory, to give some back. The caller removes it before it is closed. r must
// be comparable, as a pointer is.
func (m *Manager) AddReclaimer(r Reclaimer) (remove func()) {
	m.reclaimers.mu.Lock()
	defer m.reclaimers.mu.Unlock()
	m.reclaimers.all = append(slices.Clip(m.reclaimers.all), r)
	return func() {
		m.reclaimers.mu.Lock()
		defer m.reclaimers.mu.Unlock()
		m.reclaimers.all = slices.DeleteFunc(slices.Clone(m.reclaimers.all), func(other Reclaimer) bool { return other == r })
	}
}

// reclaim asks the reclaimers of the manager and of all below it for bytes, and
// reports whether any released something.
func (m *Manager) reclaim(ctx context.Context, bytes uint64) bool {
	var total uint64
	for _, r := range m.reclaimers.list() {
		released, err := r.Reclaim(ctx, bytes-total)
		if err != nil {
			slog.Warn("gpuframe: memory could not be reclaimed", "manager", m.account.name, "error", err)
		}
		if total += released; total >= bytes {
			return true
		}
	}
	for _, child := range m.children.list() {
		if child.reclaim(ctx, bytes-total) {
			return true
		}
	}
	return total > 0
}

func (m *Manager) anyReclaimers() bool {
	return len(m.reclaimers.list()) > 0 || slices.ContainsFunc(m.children.list(), (*Manager).anyReclaimers)
}

func (r *reclaimers) list() []Reclaimer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}
