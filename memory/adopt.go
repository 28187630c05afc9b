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
	// Pointer and Bytes are the address and the length of the memory. Bytes may be
	// zero.
	Pointer device.Pointer
	Bytes   uint64
	// Kind is the kind of memory that the other library claims. Adopt verifies it.
	Kind device.MemoryKind
	// Origin is the interface through which the memory came; zero means [Foreign].
	Origin Origin
	// ReadOnly forbids writing through gpuframe.
	ReadOnly bool
	// Stream is the stream that the block will belong to. Nil means the manager's
	// stream.
	Stream *device.Stream
	// Ready marks the point after which the contents may be used. Adopt makes Stream
	// wait for it. The caller keeps the event and may close it as soon as Adopt
	// returns.
	Ready *device.Event
	// Ordered declares that work on Stream finds the contents ready without an event.
	Ordered bool
	// Release is called exactly once, after the last reference was released and the
	// work recorded on the block has completed. It may run on any goroutine. It may be
	// nil.
	Release func() error
}

// Adopt returns a block for memory that another library owns. The memory counts as
// external and uses no budget. Releasing the block waits for the work recorded on it.
//
// Adopt verifies the claims with the driver: device memory must lie on this manager's
// device and be at least as long as claimed. Adjacent allocations count as one, because
// memory that is mapped in pieces looks the same to the driver.
//
// # Errors
//
// After an error nothing is adopted and Release is not called.
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
		return nil, fmt.Errorf("memory: adopt %s at %v from %v: %w", humanize.IBytes(foreign.Bytes), foreign.Pointer, foreign.Origin, err)
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
	if m.account.ended.Load() {
		stripe.mu.Unlock()
		return nil, m.adoptClosed()
	}
	state := stripe.state()
	state.allocation = resource.Allocation{Pointer: foreign.Pointer, Bytes: foreign.Bytes, Stream: foreign.Stream}
	state.kind, state.origin, state.readOnly = foreign.Kind, foreign.Origin, foreign.ReadOnly
	state.ordered = foreign.Ordered || foreign.Ready != nil
	state.tag, state.release = nil, foreign.Release
	block := m.newBlock(stripe, state, foreign.Bytes)
	if foreign.Ready == nil {
		state.uses.settle(block.generation, 1) // gpuframe has enqueued no work on it yet
	}
	m.account.adopt(foreign.Bytes)
	stripe.mu.Unlock()
	m.track(block)
	return block, nil
}

// verify compares the claims about foreign memory with the driver's information.
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
		// The host's driver knows only its own allocations, but any other memory of the
		// process can be used too.
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

// verifyExtent walks the driver's allocations from the pointer until they cover the
// bytes. Memory that was mapped in pieces consists of several adjacent allocations.
func (m *Manager) verifyExtent(pointer device.Pointer, bytes uint64) error {
	end := pointer.Add(bytes)
	for at := pointer; at < end; {
		base, length, err := m.device.Driver().AddressRange(at)
		if err != nil && !errors.Is(err, device.ErrInvalidValue) {
			return fmt.Errorf("ask the driver about the allocation: %w", err)
		}
		if err != nil || base.Add(length) <= at {
			return fmt.Errorf("only %s of it are allocated: %w", humanize.IBytes(uint64(at-pointer)), device.ErrInvalidValue)
		}
		at = base.Add(length)
	}
	return nil
}

// releaseForeign returns adopted memory to its owner after gpuframe's work on it has
// completed. It waits, because the owner does not know gpuframe's streams. If a wait
// fails, usually because the device is lost, it calls the owner's release anyway: that
// call must happen exactly once.
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
