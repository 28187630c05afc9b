package adaptor

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/dustin/go-humanize"
	"github.com/tidwall/btree"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// GuardRedZone is the default fill byte of red zones of a [Guard].
const GuardRedZone uint8 = 0xBD

// Guard checks that no two live allocations overlap and that each allocation is
// freed once, unchanged. Every allocation has a generation, which distinguishes a
// stale copy from the current allocation at the same address.
//
// An invalid free returns a [*GuardError] and does not reach the upstream; the
// rightful owner can still free the memory.
type Guard struct {
	base
	redZone uint64
	pattern uint8

	mu          sync.Mutex
	generations uint64
	// live is keyed by the start address of the upstream's memory, including the red
	// zone.
	live btree.Map[device.Pointer, *guarded]
}

// GuardOptions are the options of a [Guard]. The zero value keeps no red zones.
type GuardOptions struct {
	// RedZone is the number of bytes before and after each allocation that are
	// filled with a pattern; it is rounded up to a multiple of 256. Free waits for
	// the streams that have used the memory, reads the red zones back and checks the
	// pattern. Use it only for debugging.
	RedZone uint64
	// Pattern is the fill byte of red zones; zero means GuardRedZone.
	Pattern uint8
}

// guarded is the Private of an allocation and its record in the guard.
type guarded struct {
	owner      *Guard
	generation uint64
	given      resource.Allocation
	inner      resource.Allocation
	// freed is guarded by the owner's lock.
	freed bool
}

func (b *guarded) block() GuardedBlock {
	return GuardedBlock{Pointer: b.given.Pointer, Bytes: b.given.Bytes, Generation: b.generation}
}

// NewGuard returns an adaptor that checks allocations and frees.
func NewGuard(upstream resource.Resource, options GuardOptions) *Guard {
	const unit = 256 // memory after a red zone keeps its alignment
	redZone, ok := roundUp(options.RedZone, unit)
	if !ok {
		redZone = options.RedZone // every request overflows
	}
	return &Guard{
		base: base{upstream: upstream}, redZone: redZone, pattern: cmp.Or(options.Pattern, GuardRedZone),
	}
}

// Live returns the number of live allocations.
func (g *Guard) Live() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.live.Len()
}

// Generation returns the generation of a live or freed allocation of this guard, or
// zero for any other allocation.
func (g *Guard) Generation(allocation resource.Allocation) uint64 {
	if b, ok := allocation.Private.(*guarded); ok && b.owner == g {
		return b.generation
	}
	return 0
}

// Check returns nil if the allocation is live and unchanged, and a [*GuardError]
// otherwise. The allocation must come from Allocate of this guard.
func (g *Guard) Check(allocation resource.Allocation) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, err := g.identify(allocation)
	return err
}

// Allocate passes the request on, enlarged by the red zones, and checks the result
// for overlaps. Overlapping memory is not returned to the upstream, because it is in
// use. The error wraps resource.ErrOverflow if the size including the red zones does
// not fit the address space.
func (g *Guard) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	return g.AllocateContext(context.Background(), bytes, stream)
}

// AllocateContext is Allocate with a context for the upstream, which stops
// waiting for the device when the context is done.
func (g *Guard) AllocateContext(ctx context.Context, bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	zones := 2 * g.redZone
	if zones < g.redZone || bytes+zones < bytes {
		return resource.Allocation{}, fmt.Errorf("memory/adaptor: guard: allocate %s with red zones of %s: %w",
			humanize.IBytes(bytes), humanize.IBytes(g.redZone), resource.ErrOverflow)
	}
	inner, err := resource.AllocateFrom(ctx, g.upstream, bytes+zones, stream)
	if err != nil {
		return resource.Allocation{}, err
	}
	b := &guarded{owner: g, inner: inner}
	b.given = resource.Allocation{Pointer: inner.Pointer.Add(g.redZone), Bytes: bytes, Stream: inner.Stream, Private: b}
	if err := g.admit(b); err != nil {
		return resource.Allocation{}, err
	}
	if g.redZone > 0 {
		if err := g.fillRedZones(b); err != nil {
			return resource.Allocation{}, g.abandon(b, err)
		}
	}
	return b.given, nil
}

// Free checks the allocation and passes it on. If a red zone was overwritten, Free
// still frees the memory and returns an error with the position.
func (g *Guard) Free(allocation resource.Allocation, further []*device.Stream) error {
	b, err := g.dismiss(allocation)
	if err != nil {
		return err
	}
	if g.redZone > 0 {
		return g.freeChecked(b, further)
	}
	return g.upstream.Free(b.inner, further)
}

// admit adds new memory to the live allocations unless it overlaps one of them.
func (g *Guard) admit(b *guarded) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.generations++
	b.generation = g.generations
	if other := g.overlapping(b.inner); other != nil {
		return &GuardError{Violation: Overlap, Block: b.block(), Other: other.block()}
	}
	g.live.Set(b.inner.Pointer, b)
	return nil
}

// overlapping returns a live block that shares bytes with the memory. Live blocks do
// not overlap each other, so only the last block that begins before the end of the
// memory can overlap it.
func (g *Guard) overlapping(inner resource.Allocation) (overlap *guarded) {
	last := inner.Pointer.Add(max(inner.Bytes, 1) - 1)
	g.live.Descend(last, func(base device.Pointer, other *guarded) bool {
		if base.Add(max(other.inner.Bytes, 1)-1) >= inner.Pointer {
			overlap = other
		}
		return false
	})
	return overlap
}

// dismiss removes an allocation from the live ones. This happens before the
// upstream's Free, because the upstream may reuse the memory immediately.
func (g *Guard) dismiss(allocation resource.Allocation) (*guarded, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	b, err := g.identify(allocation)
	if err != nil {
		return nil, err
	}
	b.freed = true
	g.live.Delete(b.inner.Pointer)
	return b, nil
}

// identify returns the guard's record of a live, unchanged allocation. The lock is
// held.
func (g *Guard) identify(allocation resource.Allocation) (*guarded, error) {
	b, ok := allocation.Private.(*guarded)
	if !ok || b.owner != g {
		block := GuardedBlock{Pointer: allocation.Pointer, Bytes: allocation.Bytes}
		return nil, &GuardError{Violation: Unknown, Block: block}
	}
	if b.freed {
		e := &GuardError{Violation: DoubleFree, Block: b.block()}
		if other := g.overlapping(b.inner); other != nil {
			e.Violation, e.Other = Stale, other.block()
		}
		return nil, e
	}
	given := &b.given
	if allocation.Pointer != given.Pointer || allocation.Bytes != given.Bytes || !allocation.Stream.Equal(given.Stream) {
		block := GuardedBlock{Pointer: allocation.Pointer, Bytes: allocation.Bytes, Generation: b.generation}
		return nil, &GuardError{Violation: Altered, Block: block, Other: b.block()}
	}
	return b, nil
}
