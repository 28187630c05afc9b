package memory

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/streamwork"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Origin tells who owns a block's memory.
type Origin uint8

const (
	// Owned memory came from the manager's resource.
	Owned Origin = iota
	// DLPack memory was imported from a DLPack tensor.
	DLPack
	// ArrowDevice memory was imported through the Arrow C Device interface.
	ArrowDevice
	// Foreign memory was adopted from elsewhere.
	Foreign
	// OtherProcess memory was shared by another process.
	OtherProcess
)

// String names the origin.
func (o Origin) String() string {
	switch o {
	case Owned:
		return "owned"
	case DLPack:
		return "dlpack"
	case ArrowDevice:
		return "arrow device"
	case Foreign:
		return "foreign"
	case OtherProcess:
		return "other process"
	}
	return fmt.Sprintf("Origin(%d)", uint8(o))
}

// Block is a region of device memory and who owns it. It begins with one
// reference; the memory is freed, in stream order, with the last. A Block is
// safe for concurrent use.
//
// It is a handle of three words, so that making one costs little.
type Block struct {
	state *blockState
	// generation is that of the block among those that the state has stood for.
	generation uint64
	manager    *Manager
}

// blockState is what a block is made of. States are used again: the generation
// tells a handle whether the state still is its own.
//
// A program that holds many blocks misses the cache for each line of a state that
// allocating and releasing touch. So the fields that they use come first, together.
type blockState struct {
	// life holds the generation above and the references in the lower bits, so
	// that one operation checks the one and changes the other.
	life atomic.Uint64
	// delivery is the last generation that the resource has answered for, and
	// whether it was recalled before. See drawn.
	delivery   atomic.Uint64
	manager    *Manager
	tag        *tagTotals
	allocation resource.Allocation
	// stripe is where the block was made. It ends there too, so that its bytes
	// are in the tag cache that the next one is drawn from.
	stripe   int32
	kind     device.MemoryKind
	origin   Origin
	readOnly bool
	// ordered says that the memory's contents are known to be ready for work on
	// the block's stream. Only foreign memory can lack that.
	ordered bool
	// listed says that the block is in the table of exports.
	listed  atomic.Bool
	release func() error
	uses    useList
	// exports counts who else holds the memory.
	exports atomic.Int64
	number  uint64
}

// A life has room for sixteen million references and, at ten million blocks a
// second, for a day of one state's generations. A state is dropped after its last one.
const (
	referenceBits = 24
	references    = 1<<referenceBits - 1
	// lastGeneration is the last one that a state stands for. Then it is left to the
	// collector: a generation that began again at zero would be taken for an old one.
	lastGeneration = 1<<(64-referenceBits) - 2
)

// newLife is the life of a state in a generation, with one reference. The last
// release of a generation begins the next at once, so that making a block of the
// state writes nothing there.
func newLife(generation uint64) uint64 { return generation<<referenceBits | 1 }

// newBlock makes the handle of a state. The stripe is locked.
func (m *Manager) newBlock(s *stripe, state *blockState) *Block {
	generation := state.life.Load() >> referenceBits
	state.stripe = int32(s.number)
	if state.manager != m {
		state.manager = m
	}
	handle := s.handle(state, generation, m.options.TrackAllocations, m.options.NoBackstop)
	handle.state, handle.generation, handle.manager = state, generation, m
	return handle
}

// Pointer returns where the memory begins. It is zero for an empty or released
// block. The number keeps nothing alive: hold the block until after its last use.
func (b *Block) Pointer() device.Pointer {
	if !b.alive() {
		return 0
	}
	return b.state.allocation.Pointer
}

// Bytes returns the length of the memory, or zero for a released block.
func (b *Block) Bytes() uint64 {
	if !b.alive() {
		return 0
	}
	return b.state.allocation.Bytes
}

// Block returns b, so that a Block is a [Region] itself.
func (b *Block) Block() *Block { return b }

// Region is a part of a Block: a Block itself, a [Slice], or what other packages
// make of them. It is what kernels take as arguments.
type Region interface {
	// Block returns the block the region lies in; nil if it is empty.
	Block() *Block
	// Pointer returns where the region begins.
	Pointer() device.Pointer
	// Bytes returns how long it is.
	Bytes() uint64
}

// Manager returns the manager that made the block.
func (b *Block) Manager() *Manager { return b.manager }

// Device returns the device of the memory.
func (b *Block) Device() *device.Device { return b.manager.device }

// Stream returns the stream that the memory belongs to, and the manager's for a
// released block.
func (b *Block) Stream() *device.Stream {
	if !b.alive() {
		return b.manager.stream
	}
	return b.state.allocation.Stream
}

// WorkStream returns a stream for new work on the memory: the one that the memory
// belongs to or, if that was closed or another library owns it, the manager's. Use
// OrderBefore with it.
func (b *Block) WorkStream() *device.Stream {
	if stream := b.Stream(); !streamwork.Foreign(stream) && !stream.Closed() {
		return stream
	}
	return b.manager.stream
}

// Kind tells what kind of memory it is; zero for a released block.
func (b *Block) Kind() device.MemoryKind {
	if !b.alive() {
		return device.MemoryUnknown
	}
	return b.state.kind
}

// Origin tells who owns the memory.
func (b *Block) Origin() Origin {
	if !b.alive() {
		return Owned
	}
	return b.state.origin
}

// External reports whether another library owns the memory.
func (b *Block) External() bool { return b.Origin() != Owned }

// ReadOnly reports whether the memory's owner forbids writing.
func (b *Block) ReadOnly() bool { return b.alive() && b.state.readOnly }

// Ordered reports whether work on the block's stream is known to find the
// contents ready. It is false only for foreign memory that came without an
// event.
func (b *Block) Ordered() bool { return b.alive() && b.state.ordered }

// Tag returns the tag that the memory was allocated under.
func (b *Block) Tag() string {
	if !b.alive() || b.state.tag == nil {
		return ""
	}
	return b.state.tag.name
}

// Exported reports whether another library holds the memory at the moment
// through BeginExport.
func (b *Block) Exported() bool {
	return b.alive() && b.state.exports.Load() > 0
}

// Identity tells one block from every other one, also from one that was at the
// same address before.
type Identity struct {
	Pointer device.Pointer
	// Number and Generation together are others for every block of the process.
	Number, Generation uint64
	Device             string
}

// Identity returns the block's identity. The pointer is zero once it is released.
func (b *Block) Identity() Identity {
	return Identity{Pointer: b.Pointer(), Number: b.state.number, Generation: b.generation, Device: b.manager.device.Name()}
}

// String formats the block for messages.
func (b *Block) String() string {
	if b == nil {
		return "nil block"
	}
	if !b.alive() {
		return fmt.Sprintf("released block on %s, number %d.%d", b.manager.device, b.state.number, b.generation)
	}
	return fmt.Sprintf("%v block of %s at %v on %s, tag %q, number %d.%d, %d references",
		b.Origin(), humanize.Bytes(b.Bytes()), b.Pointer(), b.manager.device, b.Tag(), b.state.number, b.generation, b.References())
}

// References returns how many references are held now; zero means released.
func (b *Block) References() int {
	if b == nil {
		return 0
	}
	life := b.state.life.Load()
	if life>>referenceBits != b.generation {
		return 0
	}
	return int(life & references)
}

func (b *Block) alive() bool { return b.References() > 0 }

// Check returns nil for a block that may be used and an error that wraps
// [ErrReleased] for one that is nil or has been released.
func (b *Block) Check() error {
	if b.alive() {
		return nil
	}
	return fmt.Errorf("memory: %v: %w", b, ErrReleased)
}

// Retain adds a reference.
func (b *Block) Retain() error {
	for b != nil {
		life := b.state.life.Load()
		if life>>referenceBits != b.generation || life&references == 0 {
			break
		}
		if life&references == references {
			return fmt.Errorf("memory: retain %v: too many references: %w", b, ErrOverflow)
		}
		if b.state.life.CompareAndSwap(life, life+1) {
			return nil
		}
	}
	return fmt.Errorf("memory: retain %v: %w", b, ErrReleased)
}

// Release gives a reference back. With the last one the memory is freed after
// the work that is enqueued on it, without waiting for that work; only adopted
// memory and that of a [DriverResource] or [PinnedResource], whose owners do not
// know streams, is waited for. Releasing a nil block does nothing. Releasing once
// too often is an error that wraps [ErrReleased], and is counted.
func (b *Block) Release() error {
	last, err := b.dropReference()
	if err != nil || !last {
		return err
	}
	err = b.state.finish(b.generation)
	runtime.KeepAlive(b)
	return err
}

// dropReference gives a reference back and reports whether it was the last one. Then
// the state's next generation has begun.
func (b *Block) dropReference() (last bool, err error) {
	for b != nil {
		life := b.state.life.Load()
		if life>>referenceBits != b.generation || life&references == 0 {
			b.manager.misuse()
			return false, fmt.Errorf("memory: release %v: %w", b, ErrReleased)
		}
		if life&references > 1 {
			if b.state.life.CompareAndSwap(life, life-1) {
				return false, nil
			}
			continue
		}
		if b.state.life.CompareAndSwap(life, newLife(b.generation+1)) {
			return true, nil
		}
	}
	return false, nil
}

// RecordUse notes that work which was just enqueued on the stream uses the
// memory. The memory is not freed before that work is done, or, while the stream is
// captured, before the graph is closed.
func (b *Block) RecordUse(stream *device.Stream) error {
	if err := b.Check(); err != nil {
		return err
	}
	own := b.state.allocation.Stream
	if stream == nil {
		stream = own
	}
	if captured, err := streamwork.Hold(stream, b); captured {
		return err
	}
	var err error
	if streamwork.Foreign(stream) {
		err = streamwork.Note(stream)
	}
	b.state.uses.record(b.generation, own, stream)
	return err
}

// OrderBefore makes work that is enqueued on the stream from now on wait, on the
// device, for all recorded work on the memory. Where that work is known to be
// done it costs no driver call.
func (b *Block) OrderBefore(stream *device.Stream) error {
	if err := b.Check(); err != nil {
		return err
	}
	if stream == nil {
		return fmt.Errorf("memory: order a stream after the work on %v: the stream is nil: %w", b, device.ErrInvalidValue)
	}
	if stream.Closed() {
		return fmt.Errorf("memory: order %v after the work on %v: %w", stream, b, ErrClosed)
	}
	own := b.state.allocation.Stream
	if b.state.uses.follows(b.generation, own, stream) {
		return nil // the usual case, for one who uses memory again and again
	}
	streams, token, pending := b.state.uses.pending(b.generation, own)
	if !pending {
		return nil
	}
	settled := true
	for _, other := range streams {
		if other.Equal(stream) {
			settled = false
			continue // in order there anyway
		}
		// To ask is cheaper than to wait, and what is done once is done for all
		// who ask later.
		if done, err := other.Done(); done && err == nil {
			if other == streamwork.Past(own) {
				b.state.uses.settleOwn(b.generation, token)
			}
			continue
		}
		settled = false
		if err := stream.WaitStream(other); err != nil {
			return err
		}
	}
	if settled {
		b.state.uses.settle(b.generation, token)
	}
	return nil
}

// Idle reports whether all recorded work on the memory is done, without waiting
// for it.
func (b *Block) Idle() (bool, error) {
	if err := b.Check(); err != nil {
		return false, err
	}
	streams, token, pending := b.state.uses.pending(b.generation, b.state.allocation.Stream)
	if !pending {
		return true, nil
	}
	for _, stream := range streams {
		if done, err := stream.Done(); !done || err != nil {
			return false, err
		}
	}
	b.state.uses.settle(b.generation, token)
	return true, nil
}

// Synchronize waits until all recorded work on the memory is done, or the
// context is.
func (b *Block) Synchronize(ctx context.Context) error {
	if err := b.Check(); err != nil {
		return err
	}
	streams, token, pending := b.state.uses.pending(b.generation, b.state.allocation.Stream)
	if !pending {
		return nil
	}
	for _, stream := range streams {
		if err := stream.Synchronize(ctx); err != nil {
			return err
		}
	}
	b.state.uses.settle(b.generation, token)
	return nil
}

func (m *Manager) misuse() {
	stripe := m.tree.stripes.enter()
	defer stripe.mu.Unlock()
	m.account.misuse()
}

// finish frees the memory when the last reference is gone.
func (s *blockState) finish(generation uint64) error {
	manager := s.manager
	if manager.options.TrackAllocations {
		manager.tracker.remove(s)
	}
	if s.listed.Load() {
		s.forget()
	}
	bytes := s.allocation.Bytes
	var err error
	switch {
	case s.origin != Owned:
		err = s.releaseForeign(generation)
	case bytes > 0:
		err = manager.resource.Free(s.allocation, s.uses.further(generation))
	}
	s.retire(bytes)
	if err != nil {
		return fmt.Errorf("memory: free %s: %w", humanize.Bytes(bytes), err)
	}
	return nil
}

// retire takes an ended block out of the figures and keeps its state for another one.
func (s *blockState) retire(bytes uint64) {
	manager := s.manager
	stripe := manager.tree.stripes.near(int(s.stripe))
	if s.origin == Owned {
		stripe.deposit(s.tag, bytes)
	} else {
		manager.account.abandon(bytes)
	}
	// The other fields stay: most likely the next block has the same values, and
	// what is not written costs the collector nothing.
	s.release = nil
	stripe.put(s)
	stripe.mu.Unlock()
	manager.tree.released()
}

// reclaim is the backstop: it frees a block whose handle was collected.
func (s *blockState) reclaim(generation uint64) {
	manager := s.manager
	leak := Leak{Bytes: s.allocation.Bytes}
	if s.tag != nil {
		leak.Tag = s.tag.name
	}
	if manager.options.TrackAllocations {
		leak.Site = manager.tracker.remove(s).Text("\t")
	}
	stripe := manager.tree.stripes.enter()
	manager.account.leak()
	stripe.mu.Unlock()
	s.life.Store(newLife(generation + 1))
	if err := s.finish(generation); err != nil {
		leak.Site += "\n(freeing it failed: " + err.Error() + ")"
	}
	manager.options.OnLeak(leak)
}
