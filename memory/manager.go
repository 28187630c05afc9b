package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/callstack"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/memory/internal/staging"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Manager allocates blocks of memory on one device within a budget and keeps
// statistics. It is safe for concurrent use.
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
	// tree is the state that the manager shares with all managers of its tree.
	tree     *tree
	parent   *Manager
	children children
	closed   atomic.Bool
}

// NewManager returns a manager for the device. The caller closes it before the device.
func NewManager(dev *device.Device, options Options) (*Manager, error) {
	if dev == nil {
		return nil, fmt.Errorf("memory: new manager: the device is nil: %w", device.ErrInvalidValue)
	}
	if options.OnLeak == nil {
		options.OnLeak = logLeak
	}
	m := &Manager{device: dev, resource: options.Resource, stream: options.Stream, options: options}
	m.tree = newTree()
	m.tree.root = m
	if err := m.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("memory: new manager on %s: %w", dev, err), m.closeOwned())
	}
	return m, nil
}

func (m *Manager) open() (err error) {
	m.account.clock = m.tree.clock
	m.account.budget.Store(m.limit(m.options.Budget))
	m.account.name = m.options.Name
	m.tags.open(m)
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
	m.tree.neighbours = joinNeighbours(m.tree)
	return nil
}

// limit returns the byte limit of a budget. A zero budget limits the topmost manager to
// the device's memory, and a child only by the budgets above it.
func (m *Manager) limit(budget uint64) uint64 {
	switch {
	case budget > 0:
		return budget
	case m.parent == nil:
		return m.device.Info().TotalMemory
	}
	return unlimited
}

// Device returns the device of the manager's memory.
func (m *Manager) Device() *device.Device { return m.device }

// Stream returns the stream on which memory is allocated by default.
func (m *Manager) Stream() *device.Stream { return m.stream }

// Resource returns the resource that the manager's memory comes from.
func (m *Manager) Resource() Resource { return m.resource }

// Name returns the manager's name.
func (m *Manager) Name() string { return m.account.name }

// String formats the manager's name, device and statistics on one line.
func (m *Manager) String() string {
	if m == nil {
		return "nil memory manager"
	}
	return m.describe(m.Stats())
}

// GoString returns String: the fields of a Manager are not useful to its users.
func (m *Manager) GoString() string { return m.String() }

// Format formats the manager as String does. The verb %+v adds a line for each tag
// that holds memory and for each child.
func (m *Manager) Format(state fmt.State, verb rune) {
	if m == nil || verb != 'v' || !state.Flag('+') {
		_, _ = io.WriteString(state, m.String())
		return
	}
	s := m.Stats()
	_, _ = io.WriteString(state, m.describe(s)+s.tree("\t"))
}

func (m *Manager) describe(s Stats) string {
	s.Name = ""
	name := ""
	if m.account.name != "" {
		name = fmt.Sprintf(" %q", m.account.name)
	}
	return fmt.Sprintf("memory manager%s on %s: %s", name, m.device, s)
}

// Allocate returns a block of the given length, which may be zero. Its contents are
// undefined. The caller releases it.
//
// If a budget is exhausted, or the device has no memory left, Allocate calls the
// reclaimers. It does not wait for other memory to be released.
//
// # Errors
//
// A [*BudgetError] if the budget of the manager, or of one above it, has no room or
// other requests wait for it ([Manager.AllocateContext] waits behind them,
// [Manager.AllocateWait] also waits for room); an error that wraps
// device.ErrOutOfMemory if the device has no memory; [ErrClosed] if the manager, or one
// above it, is closed.
func (m *Manager) Allocate(bytes uint64, options AllocateOptions) (*Block, error) {
	stream, err := m.workStream(bytes, options)
	if err != nil {
		return nil, err
	}
	block, err := m.allocateNow(noContext, bytes, stream, options.Tag)
	if block == nil {
		return m.allocateShort(context.Background(), bytes, stream, options, failAtOnce, err)
	}
	return block, nil
}

// noContext stands for the context of calls that take none; they use the resource's
// plain Allocate.
var noContext context.Context

// allocateNow allocates if the budgets have room and the device has memory. If a budget
// refuses, both results are nil. A nil ctx means one that is never done.
func (m *Manager) allocateNow(ctx context.Context, bytes uint64, stream *device.Stream, tag string) (block *Block, err error) {
	leaf := m.tags.find(tag)
	if block = m.draw(leaf, bytes); block != nil {
		if err = m.fill(ctx, block, leaf, bytes, stream); err != nil {
			return nil, err
		}
		return block, nil
	}
	if m.reserve(bytes, false).account != nil {
		return nil, nil
	}
	return m.deliver(ctx, leaf, bytes, stream)
}

// draw takes bytes from a tag cache and returns a block without memory for them, or
// nil. It is the fast path, and is disabled while requests wait for memory.
func (m *Manager) draw(leaf *tagTotals, bytes uint64) *Block {
	stripe := m.tree.stripes.enter()
	state := m.drawFrom(stripe, leaf, bytes)
	if state == nil {
		stripe.mu.Unlock()
		if m.tree.queue.interested.Load() > 0 || !m.tree.stripes.lend(leaf, bytes) {
			return nil
		}
		stripe = m.tree.stripes.enter()
		if state = m.drawFrom(stripe, leaf, bytes); state == nil {
			stripe.mu.Unlock()
			return nil
		}
	}
	block := m.newBlock(stripe, state, bytes)
	if ring := m.tree.events.Load(); ring != nil && bytes > 0 {
		ring.expect(stripe, state, block.generation)
	}
	stripe.mu.Unlock()
	return block
}

// drawFrom checks the conditions under the stripe's lock: a call that lowers a budget
// or closes a manager holds the locks of all stripes.
func (m *Manager) drawFrom(stripe *stripe, leaf *tagTotals, bytes uint64) *blockState {
	if m.tree.queue.interested.Load() > 0 || m.account.ended.Load() {
		return nil
	}
	return stripe.draw(leaf, bytes)
}

// fill allocates the memory of a drawn block. If it fails, it discards the block.
func (m *Manager) fill(ctx context.Context, block *Block, leaf *tagTotals, bytes uint64, stream *device.Stream) error {
	m.tree.pause("fill")
	allocation, err := m.obtain(ctx, bytes, stream)
	if err != nil {
		m.undraw(block, leaf, bytes)
		return err
	}
	state := block.state
	// Readers of events find the fields set once the answer is recorded.
	state.set(allocation, leaf, m.kind)
	state.allocated = m.tree.eventTime()
	if state.answered(block.generation) {
		if err := m.bookRecalled(leaf, allocation); err != nil {
			m.discard(block)
			return err
		}
	}
	m.track(block)
	return nil
}

// undraw undoes draw.
func (m *Manager) undraw(block *Block, leaf *tagTotals, bytes uint64) {
	// The generation ends first: readers of events take a block that has been answered for
	// as one with memory.
	block.state.life.Store(newLife(block.generation + 1))
	stripe := m.tree.stripes.enter()
	if block.state.answered(block.generation) {
		m.account.unreserve(bytes)
	} else {
		stripe.undraw(leaf, bytes)
	}
	stripe.mu.Unlock()
	m.discard(block)
	// A request may have started to wait since the bytes were drawn.
	m.tree.pause("undrawn")
	m.tree.queue.wake()
}

// discard ends a block that never had memory.
func (m *Manager) discard(block *Block) {
	block.state.sampled = nil
	block.state.life.Store(newLife(block.generation + 1))
	stripe := m.tree.stripes.home(block.state)
	stripe.put(block.state)
	stripe.mu.Unlock()
}

// deliver allocates memory for reserved bytes. If it fails, it cancels the reservation.
func (m *Manager) deliver(ctx context.Context, leaf *tagTotals, bytes uint64, stream *device.Stream) (*Block, error) {
	m.tree.pause("deliver")
	allocation, err := m.obtain(ctx, bytes, stream)
	if err != nil {
		m.unreserve(bytes)
		return nil, err
	}
	return m.book(leaf, allocation)
}

// workStream validates a request and returns its stream.
func (m *Manager) workStream(bytes uint64, options AllocateOptions) (*device.Stream, error) {
	if m.account.ended.Load() {
		return nil, m.closedError(bytes)
	}
	stream := options.Stream
	if stream == nil {
		return m.stream, nil
	}
	if !stream.Device().Same(m.device) {
		return nil, fmt.Errorf("memory: allocate on %s: the stream belongs to %s: %w", m.device, stream.Device(), device.ErrInvalidValue)
	}
	if stream.Closed() {
		return nil, fmt.Errorf("memory: allocate %s on %v: %w", humanize.IBytes(bytes), stream, ErrClosed)
	}
	return stream, nil
}

func (m *Manager) closedError(bytes uint64) error {
	return fmt.Errorf("memory: allocate %s: manager %q: %w", humanize.IBytes(bytes), m.account.name, ErrClosed)
}

// reserve reserves bytes in the budgets, or returns the refusal of the first budget
// without room. A request from the queue passes the requests that wait.
func (m *Manager) reserve(bytes uint64, queued bool) refusal {
	// A request that fails at a higher level has briefly reserved bytes at the lower
	// ones. The answer is exact only with all stripes locked.
	stripe := m.tree.stripes.enter()
	refused := m.account.reserve(bytes, queued)
	stripe.mu.Unlock()
	if refused.account == nil {
		return refused
	}
	m.tree.pause("refused")
	m.tree.stripes.lockAll()
	defer m.tree.stripes.unlockAll()
	return m.account.reserve(bytes, queued)
}

func (m *Manager) unreserve(bytes uint64) {
	stripe := m.tree.stripes.enter()
	m.account.unreserve(bytes)
	stripe.mu.Unlock()
	m.tree.pause("unreserved")
	m.tree.queue.wake()
}

// book returns a block for memory that the resource delivered for reserved bytes. If
// the manager was closed meanwhile, book frees the memory.
func (m *Manager) book(leaf *tagTotals, allocation resource.Allocation) (*Block, error) {
	stripe := m.count(leaf, allocation.Bytes)
	if stripe == nil {
		return nil, m.refuse(allocation)
	}
	state := stripe.state()
	state.set(allocation, leaf, m.kind)
	block := m.newBlock(stripe, state, allocation.Bytes)
	if ring := m.tree.events.Load(); ring == nil || allocation.Bytes == 0 {
		state.allocated = 0
	} else {
		ring.recordAllocation(stripe, state, block.generation)
	}
	stripe.mu.Unlock()
	m.track(block)
	return block, nil
}

// bookRecalled counts the memory that the resource delivered for a recalled block.
func (m *Manager) bookRecalled(leaf *tagTotals, allocation resource.Allocation) error {
	stripe := m.count(leaf, allocation.Bytes)
	if stripe == nil {
		return m.refuse(allocation)
	}
	stripe.mu.Unlock()
	return nil
}

// count counts reserved bytes as in use and returns a locked stripe. If the manager is
// closed, it counts nothing and returns nil.
func (m *Manager) count(leaf *tagTotals, bytes uint64) *stripe {
	m.tree.pause("count")
	all := &m.tree.stripes
	stripe := all.enter()
	if m.account.ended.Load() {
		stripe.mu.Unlock()
		return nil
	}
	if leaf.bookWithinPeak(bytes) || stripe.bookPeak(leaf, bytes) {
		return stripe
	}
	stripe.mu.Unlock()
	// Most often the credit of other stripes is what would make a new peak. To empty their caches, one at a time, stops
	// no other goroutine for long.
	all.flush()
	m.tree.pause("flushed")
	stripe = all.enter()
	if m.account.ended.Load() {
		stripe.mu.Unlock()
		return nil
	}
	if leaf.bookWithinPeak(bytes) || stripe.bookPeak(leaf, bytes) {
		return stripe
	}
	stripe.mu.Unlock()
	all.lockAll()
	ended := m.account.ended.Load()
	if !ended {
		leaf.raiseTo(leaf.add(nil, bytes))
	}
	all.unlockAll()
	if ended {
		return nil
	}
	return all.enter()
}

// refuse frees memory that was delivered after the manager was closed.
func (m *Manager) refuse(allocation resource.Allocation) error {
	var err error
	if allocation.Bytes > 0 {
		err = m.resource.Free(allocation, nil)
	}
	m.unreserve(allocation.Bytes)
	return errors.Join(m.closedError(allocation.Bytes), err)
}

// set initializes the state for the manager's own memory. It skips the stream and the
// tag if they equal those of the state's last block.
func (s *blockState) set(allocation resource.Allocation, tag *tagTotals, kind device.MemoryKind) {
	a := &s.allocation
	a.Pointer, a.Bytes = allocation.Pointer, allocation.Bytes
	if a.Stream != allocation.Stream {
		a.Stream = allocation.Stream
	}
	a.Private = allocation.Private
	if s.tag != tag {
		s.tag = tag
	}
	s.kind, s.origin, s.readOnly, s.ordered, s.arrival = kind, Owned, false, true, 0
}

func (m *Manager) track(block *Block) {
	if m.options.TrackAllocations {
		m.tracker.add(block.state, callstack.Capture(2, deepestCallSite))
	}
	if block.state.sampled != nil {
		m.reportSample(block.state, block.generation)
	}
}

// Check returns the [*BudgetError] that an allocation of that size would return now, or
// nil. It allocates nothing. Another request may take the room before the caller does.
func (m *Manager) Check(bytes uint64) error {
	m.tree.stripes.flush()
	for level := &m.account; level != nil; level = level.parent {
		if !level.fits(bytes) || bytes > 0 && !level.mayPass(bytes) {
			return m.budgetError(level, bytes, "")
		}
		if level.guaranteed.Load() {
			break
		}
	}
	return nil
}

// Close frees the manager's staging memory and the resource and stream that it created,
// and closes its children. Closing a child releases only its budget; blocks that it
// still holds count in its parent until they are released.
//
// Requests of a child that are in progress or waiting fail with [ErrClosed]. In the
// topmost manager no allocation may be in progress. A transfer that is in progress
// there fails with [ErrClosed] at its next step, and its staging memory is freed when
// it returns.
//
// # Errors
//
// A [*LeakError] if blocks are still referenced or were released too often. Blocks that
// are still referenced stay valid and may be released later. [ErrClosed] if the manager
// was closed before.
//
// # Waiting
//
// The topmost manager waits for its own stream.
func (m *Manager) Close() error {
	if m.closed.Swap(true) {
		return fmt.Errorf("memory: close manager: %w", ErrClosed)
	}
	if m.parent != nil {
		return m.closeChild()
	}
	streamwork.RunLater(m.device)
	streamwork.AwaitDone(m.device)
	m.tree.stripes.lockAll()
	m.end()
	s, _ := m.stats()
	m.tree.stripes.unlockAll()
	m.tree.close()
	return errors.Join(m.held(s), m.closeOwned())
}

// held returns a LeakError if the statistics count live blocks or double releases.
func (m *Manager) held(s Stats) error {
	if s.Blocks == 0 && s.ExternalBlocks == 0 && s.DoubleReleases == 0 {
		return nil
	}
	return &LeakError{
		Manager: m.account.name,
		Blocks:  s.Blocks, Bytes: s.InUse, ExternalBlocks: s.ExternalBlocks, DoubleReleases: s.DoubleReleases,
		Tags: holders(s.Tags, len(s.Tags)), Sites: m.sites(),
	}
}

// sites returns the call stacks of the live allocations of the manager and its
// children.
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
