package memory

import (
	"context"
	"log/slog"
	"slices"
	"sync"
)

// Reclaimer releases memory when a manager is short of it, for example by moving
// data to the host or by dropping data that can be recomputed.
type Reclaimer interface {
	// Reclaim tries to release blocks of the manager until at least the given number
	// of bytes is free, and returns the number of bytes that it released. It must
	// not allocate from the manager, and it must not wait for code that waits for
	// memory.
	Reclaim(ctx context.Context, bytes uint64) (released uint64, err error)
}

// reclaimers are called in the order in which they were added.
type reclaimers struct {
	mu  sync.Mutex
	all []Reclaimer
}

// AddReclaimer registers a Reclaimer. The manager calls it before a request fails
// because of too little memory. The caller must call remove before closing the
// Reclaimer. r must be comparable, for example a pointer.
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

// reclaim calls the reclaimers of the manager and its descendants until they have
// released enough bytes, and reports whether any memory was released.
func (m *Manager) reclaim(ctx context.Context, bytes uint64) bool {
	var total uint64
	for _, r := range m.reclaimers.list() {
		released, err := r.Reclaim(ctx, bytes-total)
		if err != nil && ctx.Err() == nil { // the error of the context is the caller's
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
