package memory

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
)

// Manager makes blocks of memory on one device within a budget, and keeps the
// figures. It is safe for concurrent use.
type Manager struct {
	device       *device.Device
	resource     Resource
	ownsResource bool
	stream       *device.Stream
	ownsStream   bool
	options      Options
	account      account
	tags         tagTable
	tracker      tracker
	staging      staging
	reclaimers   reclaimers
	closed       atomic.Bool
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
		if m.resource, err = defaultResource(m.device); err != nil {
			return err
		}
		m.ownsResource = true
	}
	if !m.resource.Device().Same(m.device) {
		return fmt.Errorf("Options.Resource belongs to %s: %w", m.resource.Device(), device.ErrInvalidValue)
	}
	return m.staging.open(m.device, m.options.Staging)
}

func defaultResource(dev *device.Device) (Resource, error) {
	resource, err := NewStreamOrderedResource(dev, StreamOrderedOptions{})
	if errors.Is(err, device.ErrNotSupported) {
		return NewDriverResource(dev), nil
	}
	if err != nil {
		return nil, err
	}
	return resource, nil
}

// Device returns the device of the manager's memory.
func (m *Manager) Device() *device.Device { return m.device }

// Stream returns the stream on which memory is allocated by default.
func (m *Manager) Stream() *device.Stream { return m.stream }

// Resource returns where the manager's memory comes from.
func (m *Manager) Resource() Resource { return m.resource }

// Allocate returns a block of the given length, which may be zero. Its contents
// are undefined. The error is a [*BudgetError] where the budget does not allow
// it, and wraps device.ErrOutOfMemory where the device has no room.
func (m *Manager) Allocate(bytes uint64, options AllocateOptions) (*Block, error) {
	if m.closed.Load() {
		return nil, fmt.Errorf("memory: allocate %s: manager: %w", humanize.Bytes(bytes), ErrClosed)
	}
	stream := options.Stream
	if stream == nil {
		stream = m.stream
	} else if !stream.Device().Same(m.device) {
		return nil, fmt.Errorf("memory: allocate on %s: the stream belongs to %s: %w", m.device, stream.Device(), device.ErrInvalidValue)
	}
	if reserved, ok := m.account.reserve(bytes); !ok {
		m.account.failures.Add(1)
		return nil, m.budgetError(bytes, reserved, options.Tag)
	}
	allocation := Allocation{Stream: stream}
	if bytes > 0 {
		var err error
		if allocation, err = m.resource.Allocate(bytes, stream); err != nil {
			m.account.unreserve(bytes)
			return nil, fmt.Errorf("memory: allocate %s on %s for %q with %s in use: %w",
				humanize.Bytes(bytes), m.device, options.Tag, humanize.Bytes(m.account.inUse.Load()), err)
		}
	}
	m.account.book(bytes)
	tag := m.tags.find(options.Tag)
	tag.book(bytes)
	block := newBlock(Block{
		manager: m, allocation: allocation, kind: m.resource.Kind(), origin: Owned, ordered: true, tag: tag,
	}, nil)
	m.track(block)
	return block, nil
}

func (m *Manager) track(block *Block) {
	if m.options.TrackAllocations {
		m.tracker.add(block.state, captureCallSite(2))
	}
}

func (m *Manager) budgetError(asked, inUse uint64, tag string) *BudgetError {
	const named = 5
	return &BudgetError{
		Asked: asked, InUse: inUse, Budget: m.account.budget.Load(), Tag: tag, Largest: m.tags.holders(named),
	}
}

// Check returns the error that allocating so many bytes would give for want of
// budget, without allocating anything. Memory that Check found may be gone by
// the time it is asked for.
func (m *Manager) Check(bytes uint64) error {
	reserved, budget := m.account.reserved.Load(), m.account.budget.Load()
	if bytes > budget || reserved > budget-bytes {
		return m.budgetError(bytes, reserved, "")
	}
	return nil
}

// Stats returns the figures of this moment. Figures that other goroutines change
// meanwhile may be of slightly different moments.
func (m *Manager) Stats() Stats {
	a := &m.account
	frees := a.frees.Load()
	s := Stats{
		Budget: a.budget.Load(), InUse: a.inUse.Load(), Peak: a.peak.Load(),
		Allocations: a.allocations.Load() - a.allocationsBefore.Load(), Frees: frees - a.freesBefore.Load(),
		Failures: a.failures.Load(), Blocks: a.allocations.Load() - frees,
		External: a.external.Load(), ExternalBlocks: a.externalBlocks.Load(),
		Leaks: a.leaks.Load(), DoubleReleases: a.doubleReleases.Load(),
		Tags: m.tags.stats(),
	}
	if reserved := a.reserved.Load(); reserved < s.Budget {
		s.Remaining = s.Budget - reserved
	}
	return s
}

// ResetPeak sets the peak, and that of every tag, to what is in use now.
func (m *Manager) ResetPeak() {
	m.account.peak.Store(m.account.inUse.Load())
	m.tags.resetPeaks()
}

// ResetCounts begins to count allocations, frees and failures anew. What is in
// use stays as it is.
func (m *Manager) ResetCounts() {
	a := &m.account
	a.allocationsBefore.Store(a.allocations.Load())
	a.freesBefore.Store(a.frees.Load())
	a.failures.Store(0)
}

// Close gives back the manager's staging memory, its resource and its stream.
// Where memory is still held, or was released too often, it returns a
// [*LeakError]; that memory stays valid and may still be released. It waits for
// the manager's own stream, and no allocation and no transfer may be under way.
// Closing twice returns [ErrClosed].
func (m *Manager) Close() error {
	if m.closed.Swap(true) {
		return fmt.Errorf("memory: close manager: %w", ErrClosed)
	}
	return errors.Join(m.held(), m.closeOwned())
}

func (m *Manager) held() error {
	s := m.Stats()
	if s.Blocks == 0 && s.ExternalBlocks == 0 && s.DoubleReleases == 0 {
		return nil
	}
	return &LeakError{
		Blocks: s.Blocks, Bytes: s.InUse, ExternalBlocks: s.ExternalBlocks, DoubleReleases: s.DoubleReleases,
		Tags: m.tags.holders(len(s.Tags)), Sites: m.tracker.held(),
	}
}

func (m *Manager) closeOwned() error {
	var failures []error
	failures = append(failures, m.staging.close())
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
