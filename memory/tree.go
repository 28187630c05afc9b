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

// tree is what a manager and all below it share.
type tree struct {
	stripes stripes
	queue   queue
	closed  atomic.Bool
}

func newTree() *tree {
	t := new(tree)
	t.stripes.open()
	t.queue.stripes = &t.stripes
	t.watchCollector()
	return t
}

// watchCollector lets go of the rows of handles that are not all given out, each
// time the collector has run: it would not find leaks in them otherwise.
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
}

// children are the managers below one. A child that was closed stays among them
// as long as it holds memory, for its figures belong to its parent's.
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

func (c *children) list() []*Manager {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}

// Child makes a manager for a tenant, or for a stage of a program: it takes its
// memory out of this manager's budget, of which it never holds more than its own.
// Its resource, stream and staging memory are this manager's, and what it holds
// is in this manager's figures too. A budget of zero is that of the parent.
//
// The caller closes the child before its parent.
func (m *Manager) Child(name string, budget uint64) (*Manager, error) {
	if budget == 0 {
		budget = m.account.budget.Load()
	}
	return m.newChild(name, budget, false)
}

func (m *Manager) newChild(name string, budget uint64, guaranteed bool) (*Manager, error) {
	child := &Manager{
		device: m.device, resource: m.resource, kind: m.kind, stream: m.stream, options: m.options, transfers: m.transfers,
		tree: m.tree, parent: m,
	}
	child.account.name, child.account.parent = name, &m.account
	child.account.budget.Store(budget)
	child.tags.open(&child.account)
	child.account.guaranteed.Store(guaranteed)
	m.tree.stripes.lockAll()
	defer m.tree.stripes.unlockAll()
	if m.account.ended.Load() {
		return nil, fmt.Errorf("memory: new child %q: manager: %w", name, ErrClosed)
	}
	m.forget(m.children.list()...)
	m.children.add(child)
	return child, nil
}

// Parent returns the manager whose child this one is, or nil.
func (m *Manager) Parent() *Manager { return m.parent }

// SetBudget changes the budget. Where more is in use already, nothing is
// allocated until enough was released. The budget of a reservation cannot be
// changed.
func (m *Manager) SetBudget(budget uint64) error {
	if m.account.guaranteed.Load() {
		return fmt.Errorf("memory: set budget of %q: it is a reservation: %w", m.account.name, device.ErrInvalidValue)
	}
	m.tree.queue.setBudget(&m.account, budget)
	return nil
}

// closeChild ends a child. Who waits for memory below it is refused.
func (m *Manager) closeChild() error {
	err := m.held()
	m.tree.stripes.lockAll()
	m.end()
	m.parent.forget(m)
	m.tree.stripes.unlockAll()
	m.tree.queue.wake()
	return err
}

// end makes the manager, and all below it, refuse requests. A guarantee is given
// back but for what is in use, which goes on being reserved in the parent until
// it is released. All stripes are locked.
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

// forget takes closed children that hold nothing any more out of the tree, and
// keeps what they have counted. All stripes are locked.
func (m *Manager) forget(closed ...*Manager) {
	for _, child := range closed {
		if !child.closed.Load() {
			continue
		}
		below, tags := child.stats()
		if below.Blocks == 0 && below.ExternalBlocks == 0 && m.children.remove(child) {
			m.tags.absorb(tags)
		}
	}
}
