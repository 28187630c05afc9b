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

// GuardRedZone is the byte that a [Guard] fills red zones with unless told
// otherwise.
const GuardRedZone uint8 = 0xBD

// Guard checks that no two live allocations overlap and that each is freed once,
// as it was given. Every allocation has a generation, so that a copy which
// outlived its memory is told from the allocation that has the memory now.
//
// What must not be freed is refused with a [*GuardError]: the upstream does not
// hear of it, and the rightful owner can still free the memory.
type Guard struct {
	base
	redZone uint64
	pattern uint8

	mu          sync.Mutex
	generations uint64
	// live is by the address at which the upstream's memory begins, red zone
	// included.
	live btree.Map[device.Pointer, *guarded]
}

// GuardOptions are the options of a [Guard]. The zero value keeps no red zones.
type GuardOptions struct {
	// RedZone is how many bytes before and after each allocation are filled with
	// a pattern that Free looks at; it is rounded up to a multiple of 256. Free
	// then reads them back, for which it waits for the streams that have used the
	// memory: for debugging only.
	RedZone uint64
	// Pattern is the byte that red zones are filled with; zero means
	// GuardRedZone.
	Pattern uint8
}

// guarded is the Private of an allocation, and what the guard knows of it.
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

// NewGuard returns an adaptor that checks what passes through it.
func NewGuard(upstream resource.Resource, options GuardOptions) *Guard {
	const unit = 256 // what is behind a zone stays as aligned as it was
	redZone, ok := roundUp(options.RedZone, unit)
	if !ok {
		redZone = options.RedZone // every request overflows
	}
	return &Guard{
		base: base{upstream: upstream}, redZone: redZone, pattern: cmp.Or(options.Pattern, GuardRedZone),
	}
}

// Live returns how many allocations are live.
func (g *Guard) Live() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.live.Len()
}

// Generation returns the generation of a live or freed allocation of the
// guard's, or zero for any other.
func (g *Guard) Generation(allocation resource.Allocation) uint64 {
	if b, ok := allocation.Private.(*guarded); ok && b.owner == g {
		return b.generation
	}
	return 0
}

// Check returns nil if the allocation may be used and is as it was given, and a
// [*GuardError] otherwise. It takes what Allocate of this guard returned.
func (g *Guard) Check(allocation resource.Allocation) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, err := g.identify(allocation)
	return err
}

// Allocate passes the request on, enlarged by the red zones, and checks what it
// gives. Memory that overlaps is not given back to the upstream, for somebody
// uses it. The error wraps resource.ErrOverflow where the size with the red zones
// does not fit the address space.
func (g *Guard) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	return g.AllocateContext(context.Background(), bytes, stream)
}

// AllocateContext is Allocate with a context for the upstream, which stops
// waiting for the device when the context is done.
func (g *Guard) AllocateContext(ctx context.Context, bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	zones := 2 * g.redZone
	if zones < g.redZone || bytes+zones < bytes {
		return resource.Allocation{}, fmt.Errorf("memory/adaptor: guard: allocate %s with red zones of %s: %w",
			humanize.Bytes(bytes), humanize.Bytes(g.redZone), resource.ErrOverflow)
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

// Free checks the allocation and passes it on. Where red zones were written to
// the memory is freed all the same, and the error says where.
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

// admit adds new memory to what is live, unless it overlaps.
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

// overlapping returns a live block that shares bytes with the memory. Live ones
// do not overlap each other, so it can only be the last that begins before the
// memory ends.
func (g *Guard) overlapping(inner resource.Allocation) (found *guarded) {
	last := inner.Pointer.Add(max(inner.Bytes, 1) - 1)
	g.live.Descend(last, func(base device.Pointer, other *guarded) bool {
		if base.Add(max(other.inner.Bytes, 1)-1) >= inner.Pointer {
			found = other
		}
		return false
	})
	return found
}

// dismiss takes what is about to be freed out of what is live. That comes before
// the upstream has it, which may hand it out anew at once.
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

// identify returns what the guard knows of an allocation that may be used. The
// lock is held.
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
