package memory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
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
	// Arrival states when the contents are ready, if Ready is nil. The zero value suits
	// producers that copy with cuMemcpyHtoD or on a default stream.
	Arrival Arrival
	// Ordered declares that Arrival is known to be right. A strict module refuses memory
	// that has neither it nor Ready.
	Ordered bool
	// Release is called exactly once, after the last reference was released, the work
	// recorded on the block has completed, and the contents are ready, also if nothing has
	// read them. It may run on any goroutine. It may be nil.
	Release func() error
}

// Arrival states when the contents of foreign memory are ready.
type Arrival uint8

const (
	// AfterDefaultStreams means after the work that is on the default streams of the
	// device when the memory is first used: on the legacy default stream, the default
	// streams of all threads, and streams that are not non-blocking. cuMemcpyHtoD from
	// pageable memory may return before the copy is done, and only these streams wait for
	// it.
	AfterDefaultStreams Arrival = iota
	// AfterStream means after the work that is on Stream now: it waits for the producer.
	AfterStream
	// Arrived means that the contents are ready, or that the caller orders all work on
	// them.
	Arrived
)

// Adopt returns a block for memory that another library owns. The memory counts as
// external and uses no budget.
//
// # Waiting
//
// Adopt does not wait. Releasing the block waits for the work recorded on it. If no work
// was recorded and the contents may still be on their way, Release returns immediately and
// the owner gets the memory back later: at the latest before the manager or the device is
// closed.
//
// The first use on a stream of memory without an event costs a mark on the default stream
// and a wait for it, for all memory that has come until then.
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
	state.arrival = 0
	if foreign.Ready == nil && foreign.Bytes > 0 && foreign.Arrival == AfterDefaultStreams {
		state.arrival = streamwork.Arrive(m.device)
	}
	if foreign.Ready == nil && foreign.Arrival != AfterStream {
		state.uses.complete(block.generation, 1) // gpuframe has enqueued no work on it yet
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
	if stream := s.unread(generation); stream != nil {
		return s.releaseUnread(stream)
	}
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

// unread returns the stream that has the producer's work on memory on which gpuframe has
// enqueued none: its owner may still copy to it. Otherwise it returns nil.
func (s *blockState) unread(generation uint64) *device.Stream {
	switch {
	case s.release == nil || s.uses.used(generation):
		return nil
	case s.arrival != 0:
		return s.manager.device.DefaultStream()
	}
	if _, _, pending := s.uses.pending(generation, s.allocation.Stream); pending {
		return streamwork.Past(s.allocation.Stream)
	}
	return nil
}

// releaseUnread returns memory to its owner when the work that is on the stream now has
// run. It does not wait: if the work has not run, the owner gets the memory later.
func (s *blockState) releaseUnread(stream *device.Stream) error {
	manager, bytes, release := s.manager, s.allocation.Bytes, s.release
	logged := func(err error) {
		if err != nil {
			slog.Error("gpuframe: memory could not be given back to its owner", "manager", manager.account.name, "bytes", bytes, "error", err)
		}
	}
	if mayBreakCapture(stream) {
		streamwork.Later(manager.device, func() {
			logged(errors.Join(streamwork.SynchronizeUncaptured(stream, context.Background()), release()))
		})
		return nil
	}
	event, done, err := streamwork.Mark(stream)
	if err != nil || done {
		return errors.Join(err, release())
	}
	streamwork.WhenDone(manager.device, event, func(err error) {
		logged(errors.Join(err, event.Close(), release()))
	})
	return nil
}
