package memory

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Origin is the owner of a block's memory.
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

// Block is a region of device memory with reference counting. A new block has one
// reference. Releasing the last one frees the memory in stream order. A Block is safe
// for concurrent use.
//
// A Block is a handle of three words, so that creating one is cheap.
type Block struct {
	state *blockState
	// generation identifies this block among those that have used the state.
	generation uint64
	manager    *Manager
}

// blockState is the shared state of a block. States are reused: a handle compares
// generations to detect that its state now belongs to another block.
//
// A program that holds many blocks misses the cache for each line of a state that
// allocating and releasing touch. The fields that they use therefore come first,
// together.
type blockState struct {
	// life holds the generation in its upper bits and the reference count in its lower
	// bits, so that one atomic operation checks the former and changes the latter.
	life atomic.Uint64
	// delivery is the last generation that the resource has answered for, and whether
	// that block was recalled before. See drawn.
	delivery   atomic.Uint64
	manager    *Manager
	tag        *tagTotals
	allocation resource.Allocation
	// stripe is the stripe that the block was made in. The block also ends there, so
	// that its bytes return to the tag cache that the next block draws from.
	stripe   int32
	kind     device.MemoryKind
	origin   Origin
	readOnly bool
	// ordered reports whether the contents are known to be ready for work on the
	// block's stream. It can be false only for foreign memory.
	ordered bool
	// arrival is the number of foreign memory that came without an event; see
	// streamwork.Arrive. Zero is no number.
	arrival uint64
	// slot is the position of the block's record among the events of its stripe.
	slot uint8
	// listed reports whether the block is in the table of exports.
	listed  atomic.Bool
	release func() error
	uses    useList
	// exports counts the current exports to other libraries. exported is the last
	// generation that was exported, plus 1.
	exports  atomic.Int64
	exported atomic.Uint64
	number   uint64
	// sampled is set from the time at which the block was chosen as a sample until it
	// ends.
	sampled *sampledBlock
	// allocated is the time of the allocation, or zero if events were not recorded.
	allocated eventTime
}

// A life has room for sixteen million references and, at ten million blocks a second,
// for one day of generations of one state. A state is dropped after its last
// generation.
const (
	referenceBits = 24
	references    = 1<<referenceBits - 1
	// lastGeneration is the last generation of a state. Such a state is left to the
	// garbage collector: a generation that restarted at zero could be mistaken for an
	// old one.
	lastGeneration = 1<<(64-referenceBits) - 2
)

// newLife returns the life of a state in a generation, with one reference. The last
// release of a generation starts the next one, so that reusing the state writes nothing
// here.
func newLife(generation uint64) uint64 { return generation<<referenceBits | 1 }

// newBlock returns a handle for a state. The caller holds the stripe's lock.
func (m *Manager) newBlock(s *stripe, state *blockState, bytes uint64) *Block {
	if s.untilSample -= int64(bytes); s.untilSample < 0 {
		state.sampled = s.choose(&m.tree.observers)
	}
	generation := state.life.Load() >> referenceBits
	state.stripe = int32(s.number)
	if state.manager != m {
		state.manager = m
	}
	handle := s.handle(state, generation, m.options.TrackAllocations, m.options.NoBackstop)
	handle.state, handle.generation, handle.manager = state, generation, m
	return handle
}

// Pointer returns the address of the memory, or zero for an empty or released block.
// The address does not keep the block alive: hold the block until after its last use.
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

// Block returns b, so that a Block is itself a [Region].
func (b *Block) Block() *Block { return b }

// Region is a part of a Block: a Block, a [Slice], or a type of another package that
// wraps one. Kernels take regions as arguments.
type Region interface {
	// Block returns the block that contains the region, or nil if the region is empty.
	Block() *Block
	// Pointer returns the address of the region.
	Pointer() device.Pointer
	// Bytes returns the length of the region.
	Bytes() uint64
}

// Manager returns the manager that made the block.
func (b *Block) Manager() *Manager { return b.manager }

// Device returns the device of the memory.
func (b *Block) Device() *device.Device { return b.manager.device }

// Stream returns the stream that the memory belongs to. For a released block it returns
// the manager's stream.
func (b *Block) Stream() *device.Stream {
	if !b.alive() {
		return b.manager.stream
	}
	return b.state.allocation.Stream
}

// WorkStream returns a stream for new work on the memory: the stream that the memory
// belongs to or, if that stream is closed or another library owns it, the manager's.
// Call OrderBefore before enqueuing work on it.
func (b *Block) WorkStream() *device.Stream {
	if stream := b.Stream(); !streamwork.Foreign(stream) && !stream.Closed() {
		return stream
	}
	return b.manager.stream
}

// Kind returns the kind of the memory, or zero for a released block.
func (b *Block) Kind() device.MemoryKind {
	if !b.alive() {
		return device.MemoryUnknown
	}
	return b.state.kind
}

// Origin returns the owner of the memory.
func (b *Block) Origin() Origin {
	if !b.alive() {
		return Owned
	}
	return b.state.origin
}

// External reports whether another library owns the memory.
func (b *Block) External() bool { return b.Origin() != Owned }

// MayChange reports whether other libraries may write to the memory, now or since it was
// allocated: they own it, or it was exported to one.
func (b *Block) MayChange() bool {
	return b.External() || b.alive() && b.state.exported.Load() == b.generation+1
}

// ReadOnly reports whether the owner of the memory forbids writing.
func (b *Block) ReadOnly() bool { return b.alive() && b.state.readOnly }

// Ordered reports whether work on the block's stream is known to find the contents
// ready. It is false only for foreign memory that was adopted without an event and was
// not declared ordered.
func (b *Block) Ordered() bool { return b.alive() && b.state.ordered }

// Tag returns the tag that the memory was allocated with.
func (b *Block) Tag() string {
	if !b.alive() || b.state.tag == nil {
		return ""
	}
	return b.state.tag.name
}

// Exported reports whether another library holds the memory now through BeginExport.
func (b *Block) Exported() bool {
	return b.alive() && b.state.exports.Load() > 0
}

// Identity distinguishes a block from every other one, including earlier blocks at the
// same address.
type Identity struct {
	Pointer device.Pointer
	// The pair of Number and Generation is unique in the process.
	Number, Generation uint64
	Device             string
}

// Identity returns the block's identity. Its pointer is zero after the block was
// released.
func (b *Block) Identity() Identity {
	return Identity{Pointer: b.Pointer(), Number: b.state.number, Generation: b.generation, Device: b.manager.device.Name()}
}

// String describes the block for error messages.
func (b *Block) String() string {
	if b == nil {
		return "nil block"
	}
	if !b.alive() {
		return fmt.Sprintf("released block on %s, number %d.%d", b.manager.device, b.state.number, b.generation)
	}
	return fmt.Sprintf("%v block of %s at %v on %s, tag %q, number %d.%d, %d references",
		b.Origin(), humanize.IBytes(b.Bytes()), b.Pointer(), b.manager.device, b.Tag(), b.state.number, b.generation, b.References())
}

// References returns the number of references, or zero for a released block.
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

// Check returns nil if the block may be used, and an error that wraps [ErrReleased] if
// the block is nil or was released.
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

// Release drops a reference. The last Release frees the memory after the work that is
// enqueued on it. Releasing a nil block does nothing.
//
// # Errors
//
// Releasing a block once too often is counted and returns an error that wraps
// [ErrReleased].
//
// # Waiting
//
// Release does not wait for that work, except for adopted memory and memory of a
// [DriverResource] or [PinnedResource], because their owners do not know streams.
func (b *Block) Release() error {
	last, err := b.dropReference()
	if err != nil || !last {
		return err
	}
	err = b.state.finish(b.generation)
	runtime.KeepAlive(b)
	return err
}

// dropReference drops a reference and reports whether it was the last one. If so, the
// state's next generation has started.
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

// RecordUse records that the work just enqueued on the stream uses the memory. The
// memory is not freed before that work completes or, if the stream is being captured,
// before the graph is closed. The stream may belong to another device, which may be
// closed before the memory is freed: closing it then waits for its work.
func (b *Block) RecordUse(stream *device.Stream) error { return b.recordUse(stream, false) }

func (b *Block) recordUse(stream *device.Stream, reads bool) error {
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
	b.state.uses.record(b.generation, own, stream, reads)
	return err
}

// OrderBefore makes later work on the stream wait, on the device, for all recorded work
// on the memory, and until memory that came without an event has arrived. If that work is
// known to be complete, OrderBefore makes no driver call.
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
	if arrival := b.state.arrival; arrival != 0 {
		if err := streamwork.AwaitArrival(stream, b.manager.device, arrival); err != nil {
			return err
		}
	}
	own := b.state.allocation.Stream
	if b.state.uses.follows(b.generation, own, stream) {
		return nil // the usual case: one stream uses the memory repeatedly
	}
	streams, token, pending := b.state.uses.pending(b.generation, own)
	if !pending {
		return nil
	}
	completed := true
	for _, other := range streams {
		if other.Equal(stream) {
			completed = false
			continue // already in order on the same stream
		}
		// Querying is cheaper than waiting, and later calls reuse the result.
		if done, err := other.Done(); done && err == nil {
			if other == streamwork.Past(own) {
				b.state.uses.completeOwn(b.generation, token)
			}
			continue
		}
		completed = false
		if err := stream.WaitStream(other); err != nil {
			return err
		}
	}
	if completed {
		b.state.uses.complete(b.generation, token)
	}
	return nil
}

// Idle reports, without waiting, whether all recorded work on the memory has completed, and
// memory that came without an event has arrived.
func (b *Block) Idle() (bool, error) {
	if err := b.Check(); err != nil {
		return false, err
	}
	if arrived, err := b.arrived((*device.Event).Done); err != nil || !arrived {
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
	b.state.uses.complete(b.generation, token)
	return true, nil
}

// arrived reports whether memory that came without an event has arrived, by the answer of
// wait for an event that marks it.
func (b *Block) arrived(wait func(*device.Event) (bool, error)) (bool, error) {
	if b.state.arrival == 0 {
		return true, nil
	}
	return streamwork.Arrived(b.manager.device, b.state.arrival, wait)
}

// Synchronize waits until all recorded work on the memory has completed and memory that
// came without an event has arrived, or until the context is done.
func (b *Block) Synchronize(ctx context.Context) error {
	if err := b.Check(); err != nil {
		return err
	}
	if _, err := b.arrived(func(event *device.Event) (bool, error) { return true, event.Wait(ctx) }); err != nil {
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
	b.state.uses.complete(b.generation, token)
	return nil
}

func (m *Manager) misuse() {
	stripe := m.tree.stripes.enter()
	defer stripe.mu.Unlock()
	m.account.misuse()
}

// finish frees the memory after the last reference was released.
func (s *blockState) finish(generation uint64) error {
	manager := s.manager
	if manager.options.TrackAllocations {
		manager.tracker.remove(s)
	}
	if s.listed.Load() {
		s.forget()
	}
	if s.sampled != nil {
		s.endSample(false)
	}
	bytes := s.allocation.Bytes
	var err error
	switch {
	case s.origin != Owned:
		err = s.releaseForeign(generation)
	case bytes > 0:
		err = manager.resource.Free(s.allocation, s.uses.further(generation))
	}
	s.uses.end(generation)
	s.retire(bytes, generation)
	if err != nil {
		return fmt.Errorf("memory: free %s: %w", humanize.IBytes(bytes), err)
	}
	return nil
}

// retire subtracts a finished block from the statistics and keeps its state for reuse.
func (s *blockState) retire(bytes, generation uint64) {
	manager := s.manager
	var stripe *stripe
	if manager.tree.events.Load() == nil {
		stripe = manager.tree.stripes.near(int(s.stripe))
	} else {
		// The record of the block is in its own stripe.
		stripe = manager.tree.stripes.home(s)
	}
	if s.origin == Owned {
		stripe.deposit(s.tag, bytes)
		if ring := manager.tree.events.Load(); ring != nil && bytes > 0 && stripe.number == int(s.stripe) {
			ring.recordRelease(stripe, s, generation)
		}
	} else {
		manager.account.abandon(bytes)
	}
	// The other fields keep their values: the next block probably has the same, and
	// fields that are not written add no work for the garbage collector.
	s.release = nil
	stripe.put(s)
	stripe.mu.Unlock()
	manager.tree.released()
}

// reclaim is the backstop: it frees a block that was collected without having been
// released.
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
	s.endSample(true)
	if err := s.finish(generation); err != nil {
		leak.Site += "\n(freeing it failed: " + err.Error() + ")"
	}
	manager.options.OnLeak(leak)
}
