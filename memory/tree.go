package memory

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/gpuframe/gpuframe/device"
)

// tree is the state that a manager and its descendants share.
type tree struct {
	stripes   stripes
	queue     queue
	clock     *clock
	root      *Manager
	closed    atomic.Bool
	observers observers
	// events is set while events are recorded.
	events             atomic.Pointer[EventRing]
	uploads, downloads transferCounter
	// neighbours are the manager trees on the same device.
	neighbours *neighbours
	// step is nil outside tests. Tests use it to stop a goroutine while others run.
	// ready, if it is not nil, reports whether the goroutine could continue.
	step func(point string, ready func() bool)
	// observer is called for the transitions of requests, in tests.
	observer observer
}

// pause lets a test interleave goroutines. No lock is held.
func (t *tree) pause(point string) {
	if t.step != nil {
		t.step(point, nil)
	}
}

// eventTime returns the time for events, or zero if none are recorded.
func (t *tree) eventTime() eventTime {
	if ring := t.events.Load(); ring != nil {
		return ring.clock.now()
	}
	return 0
}

// released is called after a block was released.
func (t *tree) released() {
	t.pause("deposited")
	t.queue.released()
	if t.neighbours.waiting.Load() > 0 {
		t.neighbours.released(t)
	}
}

func newTree() *tree {
	t := new(tree)
	t.clock = newClock()
	t.stripes.open()
	t.queue.stripes, t.queue.tree = &t.stripes, t
	t.watchCollector()
	return t
}

// watchCollector drops the partly used groups of handles after each garbage
// collection. Otherwise the collector would not find leaks in them.
func (t *tree) watchCollector() {
	type sentinel struct{ _ [16]byte }
	runtime.AddCleanup(new(sentinel), func(tree weak.Pointer[tree]) {
		if t := tree.Value(); t != nil && !t.closed.Load() {
			t.stripes.dropRows()
			t.watchCollector()
		}
	}, weak.Make(t))
}

func (t *tree) close() {
	t.closed.Store(true)
	t.stripes.dropRows()
	t.queue.close()
	t.neighbours.leave(t)
}

// children are the child managers of a manager. A closed child stays in the list
// while it holds memory, because its statistics are part of its parent's.
type children struct {
	mu  sync.Mutex
	all []*Manager
}

func (c *children) add(child *Manager) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(slices.Clip(c.all), child)
}

// remove reports whether the child was there.
func (c *children) remove(child *Manager) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := len(c.all)
	c.all = slices.DeleteFunc(slices.Clone(c.all), func(other *Manager) bool { return other == child })
	return len(c.all) < before
}

// unique returns the name, with a number appended if a child already has it.
func (c *children) unique(name string) string {
	if name == "" {
		return name
	}
	taken := make(map[string]bool)
	for _, child := range c.list() {
		taken[child.account.name] = true
	}
	candidate := name
	for number := 2; taken[candidate]; number++ {
		candidate = fmt.Sprintf("%s %d", name, number)
	}
	return candidate
}

func (c *children) list() []*Manager {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}

// Child creates a manager for a tenant or for a stage of a program. The child's
// memory counts against this manager's budget and against its own. It uses the
// resource, stream and staging memory of this manager, and its memory is part of
// this manager's statistics.
//
// A budget of zero means that the child has no budget: only the budgets of its
// ancestors limit it.
//
// The names of siblings are unique, so that statistics and errors are unambiguous:
// if the name is taken, the child is named "name 2", and so on. [Manager.Name]
// returns the name. Children with an empty name keep it.
//
// # Ownership
//
// The caller must close the child before its parent.
func (m *Manager) Child(name string, budget uint64) (*Manager, error) {
	return m.newChild(name, budget, false)
}

// newChild adds a child. If it is guaranteed, its budget is already reserved.
func (m *Manager) newChild(name string, budget uint64, guaranteed bool) (*Manager, error) {
	child := &Manager{
		device: m.device, resource: m.resource, kind: m.kind, stream: m.stream, options: m.options, transfers: m.transfers,
		tree: m.tree, parent: m,
	}
	a := &child.account
	a.parent, a.clock, a.kind = &m.account, m.tree.clock, ChildBudget
	a.budget.Store(child.limit(budget))
	if guaranteed {
		a.kind = ReservationBudget
		a.budget.Store(budget)
	}
	a.guaranteed.Store(guaranteed)
	child.tags.open(child)
	m.tree.pause("new child")
	m.tree.stripes.lockAll()
	defer m.tree.stripes.unlockAll()
	if m.account.ended.Load() {
		return nil, fmt.Errorf("memory: new child %q: manager %q: %w", name, m.account.name, ErrClosed)
	}
	m.forget(m.children.list()...)
	a.name = m.children.unique(name)
	m.children.add(child)
	return child, nil
}

// Parent returns the parent manager, or nil for a root.
func (m *Manager) Parent() *Manager { return m.parent }

// Budget returns the number of bytes that may be in use at a time. For a child without
// a budget it is that of the nearest ancestor that has one.
func (m *Manager) Budget() uint64 { return m.account.effective().budget.Load() }

// SetBudget changes the budget. Zero has the same meaning as in [NewManager] and
// [Manager.Child]: the memory of the device, or no budget for a child. If more
// memory is in use than the new budget allows, requests fail or wait until enough is
// released.
//
// # Errors
//
// device.ErrInvalidValue for a reservation, which has a fixed budget.
func (m *Manager) SetBudget(budget uint64) error {
	if m.account.kind == ReservationBudget {
		return fmt.Errorf("memory: set budget of %q: it is a reservation; reserve anew: %w", m.account.name, device.ErrInvalidValue)
	}
	m.tree.queue.setBudget(&m.account, m.limit(budget))
	return nil
}

// closeChild ends a child. Requests that wait for memory in it or below it are
// refused.
func (m *Manager) closeChild() error {
	m.tree.pause("close")
	m.tree.stripes.lockAll()
	m.end()
	s, _ := m.stats()
	m.parent.forget(m)
	m.tree.stripes.unlockAll()
	m.tree.pause("closed")
	m.tree.queue.wake()
	return m.held(s)
}

// end makes the manager and its descendants refuse requests. It returns the unused
// part of a guarantee; the bytes in use stay reserved in the parent until they are
// released. All stripes are locked.
func (m *Manager) end() {
	for _, child := range m.children.list() {
		child.end()
	}
	m.account.ended.Store(true)
	if m.account.guaranteed.Load() {
		m.account.parent.unreserve(m.account.budget.Load() - m.account.reserved.Load())
		m.account.guaranteed.Store(false)
	}
}

// forget removes closed children that hold nothing from the tree and keeps their
// counts. A child with a request in progress stays, because its bytes are in the
// parent's statistics. All stripes are locked.
func (m *Manager) forget(closed ...*Manager) {
	for _, child := range closed {
		if !child.closed.Load() {
			continue
		}
		below, tags := child.stats()
		if below.Blocks == 0 && below.ExternalBlocks == 0 && child.account.reserved.Load() == 0 && m.children.remove(child) {
			m.tags.absorb(tags)
		}
	}
}
