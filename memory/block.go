package memory

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
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
	}
	return fmt.Sprintf("Origin(%d)", uint8(o))
}

// Block is a region of device memory and who owns it. It begins with one
// reference; the memory is freed, in stream order, with the last. A Block is
// safe for concurrent use.
type Block struct {
	state      *blockState
	generation uint32
	serial     uint64
	manager    *Manager
	allocation Allocation
	kind       device.MemoryKind
	origin     Origin
	readOnly   bool
	// ordered says that the memory's contents are known to be ready for work on
	// the block's stream. Only foreign memory can lack that.
	ordered bool
	tag     *tagTotals
	// exports counts who else holds the memory; the table of exports guards it.
	exports int
	cleanup runtime.Cleanup
}

// blockState is the part of a block that outlives its handle, so that the
// backstop can free what was collected. States are used again: the generation
// tells a handle whether the state still is its own.
type blockState struct {
	// life holds the generation in the high and the references in the low half,
	// so that one operation checks the one and changes the other.
	life       atomic.Uint64
	manager    *Manager
	allocation Allocation
	origin     Origin
	tag        *tagTotals
	release    func() error
	uses       useList
}

// blocksMade numbers the blocks of the process.
var blocksMade atomic.Uint64

var blockStates = sync.Pool{New: func() any { return new(blockState) }}

func newBlock(block Block, release func() error) *Block {
	state := blockStates.Get().(*blockState)
	state.manager, state.allocation, state.origin = block.manager, block.allocation, block.origin
	state.tag, state.release = block.tag, release
	generation := uint32(state.life.Load()>>32) + 1
	state.uses.reset(generation)
	state.life.Store(uint64(generation)<<32 | 1)

	handle := &block
	handle.state, handle.generation, handle.serial = state, generation, blocksMade.Add(1)
	if !block.manager.options.NoBackstop {
		handle.cleanup = runtime.AddCleanup(handle, (*blockState).reclaim, state)
	}
	return handle
}

// Pointer returns where the memory begins. It is zero for an empty or released
// block. The number keeps nothing alive: hold the block until after its last use.
func (b *Block) Pointer() device.Pointer {
	if !b.alive() {
		return 0
	}
	return b.allocation.Pointer
}

// Bytes returns the length of the memory, or zero for a released block.
func (b *Block) Bytes() uint64 {
	if !b.alive() {
		return 0
	}
	return b.allocation.Bytes
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

// Stream returns the stream that the memory belongs to.
func (b *Block) Stream() *device.Stream { return b.allocation.Stream }

// WorkStream returns a stream for new work on the memory: the one that the memory
// belongs to or, where that was closed, the manager's. Use OrderBefore with it.
func (b *Block) WorkStream() *device.Stream {
	if b.allocation.Stream.Closed() {
		return b.manager.stream
	}
	return b.allocation.Stream
}

// Kind tells what kind of memory it is.
func (b *Block) Kind() device.MemoryKind { return b.kind }

// Origin tells who owns the memory.
func (b *Block) Origin() Origin { return b.origin }

// External reports whether another library owns the memory.
func (b *Block) External() bool { return b.origin != Owned }

// ReadOnly reports whether the memory's owner forbids writing.
func (b *Block) ReadOnly() bool { return b.readOnly }

// Ordered reports whether work on the block's stream is known to find the
// contents ready. It is false only for foreign memory that came without an
// event.
func (b *Block) Ordered() bool { return b.ordered }

// Tag returns the tag that the memory was allocated under.
func (b *Block) Tag() string {
	if b.tag == nil {
		return ""
	}
	return b.tag.name
}

// Identity tells one block from every other one, also from one that was at the
// same address before.
type Identity struct {
	Pointer device.Pointer
	// Generation is another for every block of the process.
	Generation uint64
	Device     string
}

// Identity returns the block's identity.
func (b *Block) Identity() Identity {
	return Identity{Pointer: b.allocation.Pointer, Generation: b.serial, Device: b.manager.device.Name()}
}

// String formats the block for messages.
func (b *Block) String() string {
	if b == nil {
		return "nil block"
	}
	return fmt.Sprintf("%v block of %s at %v on %s, tag %q, generation %d, %d references",
		b.origin, humanize.Bytes(b.allocation.Bytes), b.allocation.Pointer, b.manager.device, b.Tag(), b.serial, b.References())
}

// References returns how many references are held now; zero means released.
func (b *Block) References() int {
	if b == nil {
		return 0
	}
	life := b.state.life.Load()
	if uint32(life>>32) != b.generation {
		return 0
	}
	return int(uint32(life))
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
		if uint32(life>>32) != b.generation || uint32(life) == 0 {
			break
		}
		if uint32(life) == math.MaxUint32 {
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
// know streams, is waited for. Releasing a nil block does nothing. Releasing once too often is an error that wraps
// [ErrReleased], and is counted.
func (b *Block) Release() error {
	if b == nil {
		return nil
	}
	for {
		life := b.state.life.Load()
		if uint32(life>>32) != b.generation || uint32(life) == 0 {
			b.manager.account.doubleReleases.Add(1)
			return fmt.Errorf("memory: release %v: %w", b, ErrReleased)
		}
		if !b.state.life.CompareAndSwap(life, life-1) {
			continue
		}
		if uint32(life) > 1 {
			return nil
		}
		b.cleanup.Stop()
		err := b.state.finish()
		runtime.KeepAlive(b)
		return err
	}
}

// RecordUse notes that work which was just enqueued on the stream uses the
// memory. The memory is not freed before that work is done.
func (b *Block) RecordUse(stream *device.Stream) error {
	if err := b.Check(); err != nil {
		return err
	}
	if stream == nil {
		stream = b.allocation.Stream
	}
	b.state.uses.record(b.generation, b.allocation.Stream, stream)
	return nil
}

// OrderBefore makes work that is enqueued on the stream from now on wait, on the
// device, for all recorded work on the memory. Where that work is known to be
// done it costs no driver call.
func (b *Block) OrderBefore(stream *device.Stream) error {
	if err := b.Check(); err != nil {
		return err
	}
	if stream.Closed() {
		return fmt.Errorf("memory: order %v after the work on %v: %w", stream, b, ErrClosed)
	}
	further, token, pending := b.state.uses.pending(b.generation)
	if !pending {
		return nil
	}
	busy := false
	for _, other := range append(further, b.allocation.Stream) {
		// To ask is cheaper than to wait, and what is done once is done for all
		// who ask later.
		if done, err := other.Done(); done && err == nil {
			continue
		}
		busy = true
		if err := stream.WaitStream(other); err != nil {
			return err
		}
	}
	if !busy {
		b.state.uses.settle(b.generation, token)
	}
	return nil
}

// Synchronize waits until all recorded work on the memory is done, or the
// context is.
func (b *Block) Synchronize(ctx context.Context) error {
	if err := b.Check(); err != nil {
		return err
	}
	further, token, pending := b.state.uses.pending(b.generation)
	if !pending {
		return nil
	}
	if err := b.allocation.Stream.Synchronize(ctx); err != nil {
		return err
	}
	for _, other := range further {
		if err := other.Synchronize(ctx); err != nil {
			return err
		}
	}
	b.state.uses.settle(b.generation, token)
	return nil
}

// finish frees the memory when the last reference is gone.
func (s *blockState) finish() error {
	manager := s.manager
	if manager.options.TrackAllocations {
		manager.tracker.remove(s)
	}
	further, _, _ := s.uses.pending(uint32(s.life.Load() >> 32))
	bytes := s.allocation.Bytes
	var err error
	if s.origin == Owned {
		if bytes > 0 {
			err = manager.resource.Free(s.allocation, further)
		}
		s.tag.unbook(bytes)
		manager.account.unbook(bytes)
	} else {
		err = s.releaseForeign(further)
	}
	s.manager, s.allocation, s.tag, s.release = nil, Allocation{}, nil, nil
	blockStates.Put(s)
	if err != nil {
		return fmt.Errorf("memory: free %s: %w", humanize.Bytes(bytes), err)
	}
	return nil
}

// reclaim is the backstop: it frees a block whose handle was collected.
func (s *blockState) reclaim() {
	manager := s.manager
	leak := Leak{Bytes: s.allocation.Bytes}
	if s.tag != nil {
		leak.Tag = s.tag.name
	}
	if manager.options.TrackAllocations {
		leak.Site = manager.tracker.remove(s).String()
	}
	manager.account.leaks.Add(1)
	s.life.Store(s.life.Load() &^ math.MaxUint32)
	if err := s.finish(); err != nil {
		leak.Site += "\n(freeing it failed: " + err.Error() + ")"
	}
	manager.options.OnLeak(leak)
}
