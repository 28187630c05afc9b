package memory

import (
	"context"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/streamwork"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// ForeignMemory describes memory that another library owns.
type ForeignMemory struct {
	// Pointer and Bytes say where it is. Bytes may be zero.
	Pointer device.Pointer
	Bytes   uint64
	// Kind is what the other library claims the memory to be. It is checked.
	Kind device.MemoryKind
	// Origin says by which door it comes; zero means [Foreign].
	Origin Origin
	// ReadOnly forbids writing through gpuframe.
	ReadOnly bool
	// Stream is the stream the block shall belong to. Nil means the manager's.
	Stream *device.Stream
	// Ready marks the point after which the contents may be used; Stream is
	// made to wait for it. The caller keeps the event and may close it at once.
	Ready *device.Event
	// Ordered says that work on Stream finds the contents ready without an
	// event.
	Ordered bool
	// Release is called exactly once, when the last reference is gone and the
	// work that was recorded on the block is done; on which goroutine is
	// undefined. It may be nil.
	Release func() error
}

// Adopt makes a block of memory that another library owns. The driver is asked
// whether the memory is what it is claimed to be: device memory must lie on this
// manager's device and be at least as long as claimed, as far as the driver can
// tell: an allocation that follows at once counts as its continuation, for
// memory that is mapped in pieces looks the same. The memory counts as external
// and is in no budget. Releasing the block waits for the work that was
// recorded on it.
//
// On an error nothing is adopted and Release is not called.
func (m *Manager) Adopt(foreign ForeignMemory) (*Block, error) {
	if m.account.ended.Load() {
		return nil, m.adoptClosed()
	}
	if foreign.Origin == Owned {
		foreign.Origin = Foreign
	}
	if foreign.Stream == nil {
		foreign.Stream = m.stream
	}
	if err := m.verify(foreign); err != nil {
		return nil, fmt.Errorf("memory: adopt %s at %v from %v: %w", humanize.Bytes(foreign.Bytes), foreign.Pointer, foreign.Origin, err)
	}
	if foreign.Ready != nil {
		if err := foreign.Stream.Wait(foreign.Ready); err != nil {
			return nil, fmt.Errorf("memory: adopt: wait for the memory's event: %w", err)
		}
	}
	return m.adopt(foreign)
}

func (m *Manager) adoptClosed() error {
	return fmt.Errorf("memory: adopt: manager %q, or one above it: %w", m.account.name, ErrClosed)
}

func (m *Manager) adopt(foreign ForeignMemory) (*Block, error) {
	stripe := m.tree.stripes.enter()
	defer stripe.mu.Unlock()
	if m.account.ended.Load() {
		return nil, m.adoptClosed()
	}
	state := stripe.state()
	state.allocation = resource.Allocation{Pointer: foreign.Pointer, Bytes: foreign.Bytes, Stream: foreign.Stream}
	state.kind, state.origin, state.readOnly = foreign.Kind, foreign.Origin, foreign.ReadOnly
	state.ordered = foreign.Ordered || foreign.Ready != nil
	state.tag, state.release = nil, foreign.Release
	block := m.newBlock(stripe, state)
	if foreign.Ready == nil {
		state.uses.settle(block.generation, 1) // nothing of ours is enqueued on it yet
	}
	m.account.adopt(foreign.Bytes)
	m.track(block)
	return block, nil
}

// verify checks a claim about foreign memory against what the driver knows.
func (m *Manager) verify(foreign ForeignMemory) error {
	if !foreign.Stream.Device().Same(m.device) {
		return fmt.Errorf("the stream belongs to %s, the manager to %s: %w", foreign.Stream.Device(), m.device, device.ErrInvalidValue)
	}
	if foreign.Bytes == 0 {
		return nil
	}
	if foreign.Pointer == 0 {
		return fmt.Errorf("the pointer is null but the length is not zero: %w", device.ErrInvalidValue)
	}
	if foreign.Pointer.Add(foreign.Bytes) < foreign.Pointer {
		return fmt.Errorf("the length: %w", ErrOverflow)
	}
	if m.device.Kind() == device.Host {
		// The host's driver knows its own memory only, and any other memory of
		// the process is as good.
		if !foreign.Kind.HostAccessible() {
			return fmt.Errorf("%v memory cannot be used on %s: %w", foreign.Kind, m.device, device.ErrInvalidValue)
		}
		return nil
	}
	info, err := m.device.Driver().PointerInfo(foreign.Pointer)
	if err != nil {
		return fmt.Errorf("ask the driver about the pointer: %w", err)
	}
	if info.Kind != foreign.Kind {
		return fmt.Errorf("it is claimed to be %v memory, the driver says %v: %w", foreign.Kind, info.Kind, device.ErrInvalidValue)
	}
	if info.Kind == device.MemoryDevice && info.Ordinal != m.device.Info().Ordinal {
		return fmt.Errorf("it lies on device %d, the manager is on %s: %w", info.Ordinal, m.device, device.ErrInvalidValue)
	}
	if info.Kind == device.MemoryUnknown {
		return fmt.Errorf("the driver does not know the memory, and %s cannot reach it: %w", m.device, device.ErrInvalidValue)
	}
	return m.verifyExtent(foreign.Pointer, foreign.Bytes)
}

// verifyExtent follows the driver's allocations from the pointer on until they
// cover the bytes: memory that was mapped in pieces is several allocations in a
// row.
func (m *Manager) verifyExtent(pointer device.Pointer, bytes uint64) error {
	end := pointer.Add(bytes)
	for at := pointer; at < end; {
		base, length, err := m.device.Driver().AddressRange(at)
		if err != nil && !errors.Is(err, device.ErrInvalidValue) {
			return fmt.Errorf("ask the driver about the allocation: %w", err)
		}
		if err != nil || base.Add(length) <= at {
			return fmt.Errorf("only %s of it are allocated: %w", humanize.Bytes(uint64(at-pointer)), device.ErrInvalidValue)
		}
		at = base.Add(length)
	}
	return nil
}

// releaseForeign gives adopted memory back to its owner once nothing of ours
// uses it any more. The owner does not know our streams, so this waits. Where a
// wait fails, which is the end of a device as a rule, the owner gets it back all
// the same, for it must get it once.
func (s *blockState) releaseForeign(generation uint64) error {
	var err error
	if streams, _, pending := s.uses.pending(generation, s.allocation.Stream); pending {
		for _, stream := range streams {
			err = errors.Join(err, streamwork.SynchronizeUncaptured(stream, context.Background()))
		}
	}
	if s.release != nil {
		if failure := s.release(); err == nil {
			err = failure
		}
	}
	return err
}
