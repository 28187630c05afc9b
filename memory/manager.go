package memory

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/callstack"
	"github.com/gpuframe/gpuframe/memory/internal/staging"
)

// Manager makes blocks of memory on one device within a budget, and keeps the
// figures. It is safe for concurrent use.
type Manager struct {
	device       *device.Device
	resource     Resource
	ownsResource bool
	kind         device.MemoryKind
	stream       *device.Stream
	ownsStream   bool
	options      Options
	account      account
	tags         tagTable
	tracker      tracker
	transfers    *staging.Engine
	reclaimers   reclaimers
	// tree is what the manager shares with its children and theirs.
	tree     *tree
	parent   *Manager
	children children
	closed   atomic.Bool
}

// NewManager makes a manager for the device. The caller closes it before the
// device.
func NewManager(dev *device.Device, options Options) (*Manager, error) {
	if dev == nil {
		return nil, fmt.Errorf("memory: new manager: the device is nil: %w", device.ErrInvalidValue)
	}
	if options.OnLeak == nil {
		options.OnLeak = logLeak
	}
	m := &Manager{device: dev, resource: options.Resource, stream: options.Stream, options: options}
	m.tree = newTree()
	if err := m.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("memory: new manager on %s: %w", dev, err), m.closeOwned())
	}
	return m, nil
}

func (m *Manager) open() (err error) {
	budget := m.options.Budget
	if budget == 0 {
		budget = m.device.Info().TotalMemory
	}
	m.account.name = m.options.Name
	m.tags.open(&m.account)
	m.account.budget.Store(budget)
	if m.stream == nil {
		if m.stream, err = m.device.NewStream(); err != nil {
			return err
		}
		m.ownsStream = true
	}
	if !m.stream.Device().Same(m.device) {
		return fmt.Errorf("Options.Stream belongs to %s: %w", m.stream.Device(), device.ErrInvalidValue)
	}
	if m.resource == nil {
		if m.resource, err = NewCachingResource(m.device, CachingOptions{}); err != nil {
			return err
		}
		m.ownsResource = true
	}
	m.kind = m.resource.Kind()
	if !m.resource.Device().Same(m.device) {
		return fmt.Errorf("Options.Resource belongs to %s: %w", m.resource.Device(), device.ErrInvalidValue)
	}
	if m.transfers, err = staging.New(m.device, staging.Options(m.options.Staging)); err != nil {
		return fmt.Errorf("Options.Staging: %w", err)
	}
	return nil
}

// Device returns the device of the manager's memory.
func (m *Manager) Device() *device.Device { return m.device }

// Stream returns the stream on which memory is allocated by default.
func (m *Manager) Stream() *device.Stream { return m.stream }

// Resource returns where the manager's memory comes from.
func (m *Manager) Resource() Resource { return m.resource }

// Name returns what the manager was named.
func (m *Manager) Name() string { return m.account.name }

// Allocate returns a block of the given length, which may be zero. Its contents
// are undefined.
//
// Where the budget, or one above it, does not allow it, or the device has no
// room, the reclaimers are asked to give memory back. Where that does not help,
// the error is a [*BudgetError], or one that wraps device.ErrOutOfMemory. See
// [Manager.AllocateWait] for waiting instead.
func (m *Manager) Allocate(bytes uint64, options AllocateOptions) (*Block, error) {
	stream, err := m.workStream(bytes, options)
	if err != nil {
		return nil, err
	}
	leaf := m.tags.find(options.Tag)
	if block := m.draw(leaf, bytes); block != nil {
		if err = m.fill(block, leaf, bytes, stream); err == nil {
			return block, nil
		}
	} else {
		if m.reserve(bytes, false) != nil {
			return m.allocateShort(context.Background(), bytes, stream, options, false, nil)
		}
		if block, err = m.deliver(leaf, bytes, stream); err == nil {
			return block, nil
		}
	}
	return m.allocateShort(context.Background(), bytes, stream, options, false, err)
}

// draw makes a block without memory of bytes that are in a purse, or returns nil.
// It is the quick way: where others wait for memory it is closed.
func (m *Manager) draw(leaf *tagTotals, bytes uint64) *Block {
	stripe := m.tree.stripes.enter()
	if !m.drawFrom(stripe, leaf, bytes) {
		stripe.mu.Unlock()
		if m.tree.queue.interested.Load() > 0 || !m.tree.stripes.lend(leaf, bytes) {
			return nil
		}
		stripe = m.tree.stripes.enter()
		if !m.drawFrom(stripe, leaf, bytes) {
			stripe.mu.Unlock()
			return nil
		}
	}
	block := m.newBlock(stripe, stripe.state())
	stripe.mu.Unlock()
	return block
}

// drawFrom asks whether anybody waits under the stripe's lock: who lowers a budget
// holds all of them.
func (m *Manager) drawFrom(stripe *stripe, leaf *tagTotals, bytes uint64) bool {
	return m.tree.queue.interested.Load() == 0 && stripe.draw(leaf, bytes)
}

// fill gives a drawn block its memory. Where that fails there is no block.
func (m *Manager) fill(block *Block, leaf *tagTotals, bytes uint64, stream *device.Stream) error {
	allocation := Allocation{Stream: stream}
	if bytes > 0 {
		var err error
		if allocation, err = m.obtain(bytes, stream); err != nil {
			m.undraw(block, leaf, bytes)
			return err
		}
	}
	block.state.set(allocation, leaf, m.kind)
	m.track(block)
	return nil
}

// undraw undoes draw.
func (m *Manager) undraw(block *Block, leaf *tagTotals, bytes uint64) {
	stripe := m.tree.stripes.enter()
	stripe.undraw(leaf, bytes)
	block.state.life.Store(newLife(block.generation + 1))
	stripe.put(block.state)
	stripe.mu.Unlock()
	// Somebody may have begun to wait since the bytes were drawn.
	m.tree.queue.wake()
}

// deliver gets memory from the resource for bytes that are reserved. Where that
// fails they are reserved no more.
func (m *Manager) deliver(leaf *tagTotals, bytes uint64, stream *device.Stream) (*Block, error) {
	allocation := Allocation{Stream: stream}
	if bytes > 0 {
		var err error
		if allocation, err = m.obtain(bytes, stream); err != nil {
			m.unreserve(bytes)
			return nil, err
		}
	}
	return m.book(leaf, allocation), nil
}

// workStream checks a request and returns its stream.
func (m *Manager) workStream(bytes uint64, options AllocateOptions) (*device.Stream, error) {
	if m.account.ended.Load() {
		return nil, fmt.Errorf("memory: allocate %s: manager: %w", humanize.Bytes(bytes), ErrClosed)
	}
	stream := options.Stream
	if stream == nil {
		return m.stream, nil
	}
	if !stream.Device().Same(m.device) {
		return nil, fmt.Errorf("memory: allocate on %s: the stream belongs to %s: %w", m.device, stream.Device(), device.ErrInvalidValue)
	}
	return stream, nil
}

// reserve takes bytes out of the budgets. Where one is too small it returns that
// one. Only who has its turn in the queue passes those who wait.
func (m *Manager) reserve(bytes uint64, queued bool) (short *account) {
	// A request that fails further up has taken from the budgets below for a
	// moment. Under a stripe's lock nobody sees that who decides exactly.
	stripe := m.tree.stripes.enter()
	short = m.account.reserve(bytes, queued)
	stripe.mu.Unlock()
	if short == nil {
		return nil
	}
	m.tree.stripes.lockAll()
	defer m.tree.stripes.unlockAll()
	return m.account.reserve(bytes, queued)
}

func (m *Manager) unreserve(bytes uint64) {
	stripe := m.tree.stripes.enter()
	m.account.unreserve(bytes)
	stripe.mu.Unlock()
	m.tree.queue.wake()
}

// book makes a block of what the resource delivered for reserved bytes.
func (m *Manager) book(leaf *tagTotals, allocation Allocation) *Block {
	all := &m.tree.stripes
	stripe := all.enter()
	if !leaf.bookWithinPeak(allocation.Bytes) && !stripe.bookPeak(leaf, allocation.Bytes) {
		stripe.mu.Unlock()
		all.lockAll()
		leaf.raiseTo(leaf.add(nil, allocation.Bytes))
		all.unlockAll()
		stripe = all.enter()
	}
	state := stripe.state()
	state.set(allocation, leaf, m.kind)
	block := m.newBlock(stripe, state)
	stripe.mu.Unlock()
	m.track(block)
	return block
}

// set fills the state for memory of the manager's own. It writes only what
// differs from the state's last block.
func (s *blockState) set(allocation Allocation, tag *tagTotals, kind device.MemoryKind) {
	a := &s.allocation
	a.Pointer, a.Bytes = allocation.Pointer, allocation.Bytes
	if a.Stream != allocation.Stream {
		a.Stream = allocation.Stream
	}
	a.Private = allocation.Private
	if s.tag != tag {
		s.tag = tag
	}
	s.kind, s.origin, s.readOnly, s.ordered = kind, Owned, false, true
}

func (m *Manager) track(block *Block) {
	if m.options.TrackAllocations {
		m.tracker.add(block.state, callstack.Capture(2, deepestCallSite))
	}
}

// Check returns the error that allocating so many bytes would give for want of
// budget, without allocating anything. Memory that Check found may be gone by
// the time it is asked for.
func (m *Manager) Check(bytes uint64) error {
	m.tree.stripes.settle()
	for level := &m.account; level != nil; level = level.parent {
		if !level.fits(bytes) {
			return m.budgetError(level, bytes, "")
		}
		if level.guaranteed.Load() {
			break
		}
	}
	return nil
}

// Close gives back the manager's staging memory, its resource and its stream.
// Where memory is still held, or was released too often, it returns a
// [*LeakError]; that memory stays valid and may still be released. It waits for
// the manager's own stream, and no allocation and no transfer may be under way.
// A child gives back its budget only; what it still holds counts in its parent
// until it is released. Closing a parent closes its children. Closing twice
// returns [ErrClosed].
func (m *Manager) Close() error {
	if m.closed.Swap(true) {
		return fmt.Errorf("memory: close manager: %w", ErrClosed)
	}
	if m.parent != nil {
		return m.closeChild()
	}
	m.device.RunLater()
	m.tree.stripes.lockAll()
	m.end()
	m.tree.stripes.unlockAll()
	m.tree.close()
	return errors.Join(m.held(), m.closeOwned())
}

func (m *Manager) held() error {
	s := m.Stats()
	if s.Blocks == 0 && s.ExternalBlocks == 0 && s.DoubleReleases == 0 {
		return nil
	}
	return &LeakError{
		Manager: m.account.name,
		Blocks:  s.Blocks, Bytes: s.InUse, ExternalBlocks: s.ExternalBlocks, DoubleReleases: s.DoubleReleases,
		Tags: holders(s.Tags, len(s.Tags)), Sites: m.sites(),
	}
}

// sites returns where what the manager and its children hold was allocated.
func (m *Manager) sites() []string {
	sites := m.tracker.held()
	for _, child := range m.children.list() {
		sites = append(sites, child.sites()...)
	}
	return sites
}

func (m *Manager) closeOwned() error {
	var failures []error
	if m.transfers != nil {
		failures = append(failures, m.transfers.Close())
	}
	if m.ownsStream {
		failures = append(failures, m.stream.Synchronize(context.Background()))
	}
	if m.ownsResource {
		failures = append(failures, m.resource.Close())
	}
	if m.ownsStream {
		failures = append(failures, m.stream.Close())
	}
	return errors.Join(failures...)
}
