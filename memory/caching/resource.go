package caching

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/caching/internal/bestfit"
	"github.com/gpuframe/gpuframe/memory/internal/round"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Resource keeps freed memory and hands it out again in stream order,
// without asking the driver: on the stream that used it last at once, on another
// one after the exact event of its last use. It rounds sizes up to 512 bytes,
// finds the best fit, splits what is larger and joins what is freed with its
// neighbours, as PyTorch's allocator does, whose parameters it takes over.
//
// What is new: blocks that are freed and asked for again in the same size need
// one lock that no other stream wants; memory moves between streams without
// waiting wherever the work on it is done, and otherwise waits on the device for
// the work that used it and not for what was enqueued later; and where the driver
// maps memory, segments grow in place and give back any part that is free.
//
// The resource waits for work on the device only if a request would fail otherwise,
// and then for the work that used the cached memory. [Resource.AllocateContext]
// stops waiting when its context is done. Other requests go on meanwhile. Fixed segments
// are an exception: to give one back takes cuMemFree, which waits for the device.
type Resource struct {
	device  *device.Device
	options Options
	kind    device.MemoryKind
	ground  ground
	fronts  frontTable

	mu    sync.Mutex
	space bestfit.Space
	// common is a front without a stream: its memory is what no work is pending
	// on, whoever used it.
	common *front
	// owners are the fronts by number, the first of them common.
	owners []*front
	held   []*heldBlock
	// gathering says that what was freed is being made fit for use: a request
	// waits for it.
	gathering bool
	// clock counts the requests that came here, for the age of segments.
	clock          uint64
	reserved, peak uint64
	// free is what the fronts' sets hold.
	free           uint64
	hits, misses   uint64
	retiredHits    uint64
	crossed, waits uint64
	trimmed        uint64
	limit          atomic.Uint64
	// frontBytes is how much each front may keep.
	frontBytes atomic.Uint64
	shrinking  shrinking
	// closing says that Close was called, unclosed that it failed and may be
	// called again, closed that nothing is left.
	closing, unclosed atomic.Bool
	closed            bool
}

// ground is where the memory of a caching resource comes from. The resource's
// lock is held in every call.
type ground interface {
	// grow returns free memory of at least the size, some of which may have been
	// free before. It is in no set. It takes no more than room from the driver.
	grow(pool uint8, f *front, size, room uint64) (*bestfit.Node, error)
	// idle is told of a free run that has no neighbours, and follows of a run
	// that stands now where another one did at the end of what is known.
	idle(node *bestfit.Node)
	follows(before, now *bestfit.Node)
	// trim gives free memory back until no more than keep bytes are reserved,
	// that which is oversize or largest first. It leaves out what work may be
	// pending on.
	trim(keep uint64) error
	// collect gives back what has not been used for long, oldest first, until no
	// more than keep bytes are reserved.
	collect(keep uint64) error
	// segments counts what trim and grow work with.
	segments() int
	// close gives back what is left once everything is free.
	close() error
}

// The states of a run.
const (
	runInUse uint8 = iota
	runFree
	runUnmapped
)

const (
	smallPool uint8 = iota
	largePool
	poolCount
)

const (
	// roundingBytes is what sizes are rounded up to.
	roundingBytes = 512
	// A front keeps a thirty-second of what is reserved, or a little.
	frontShare      = 32
	leastFrontBytes = 64 << 20
)

// New makes a caching resource on the device. The caller closes
// it.
func New(dev *device.Device, options Options) (*Resource, error) {
	options = options.withDefaults(dev)
	r := &Resource{device: dev, options: options, kind: options.Upstream.Kind()}
	r.limit.Store(options.LimitBytes)
	r.common = new(front)
	r.owners = []*front{r.common}
	if err := r.open(); err != nil {
		return nil, fmt.Errorf("memory: new caching resource: %w", err)
	}
	if options.InitialBytes > 0 {
		if err := r.Prime(options.InitialBytes); err != nil {
			return nil, errors.Join(fmt.Errorf("memory: new caching resource: %w", err), r.Close())
		}
	}
	return r, nil
}

func (r *Resource) open() error {
	if !r.options.Upstream.Device().Same(r.device) {
		return fmt.Errorf("Options.Upstream belongs to %s: %w", r.options.Upstream.Device(), device.ErrInvalidValue)
	}
	mode := r.options.Segments
	if mode == AutomaticSegments && (r.device.Kind() == device.Host || r.options.givenUpstream) {
		mode = FixedSegments
	}
	if mode != FixedSegments {
		ranges, err := newMappedGround(r)
		if err == nil {
			r.ground, r.kind = ranges, r.device.MemoryKind()
			return nil
		}
		if mode == ExpandableSegments || errors.Is(err, device.ErrDeviceLost) {
			return err
		}
	}
	r.ground = &fixedGround{resource: r, upstream: r.options.Upstream}
	return nil
}

// Allocate implements [resource.Resource]. A closed stream gets no memory: no work could use it.
func (r *Resource) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	return r.AllocateContext(context.Background(), bytes, stream)
}

// AllocateContext implements [resource.ContextAllocator].
func (r *Resource) AllocateContext(ctx context.Context, bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	if bytes > math.MaxInt64 {
		return resource.Allocation{}, fmt.Errorf("%d bytes: %w", bytes, device.ErrOutOfMemory)
	}
	size := round.Up(max(bytes, 1), roundingBytes)
	for {
		f := r.front(stream)
		node, ok := f.take(size)
		if node == nil && ok {
			var err error
			if node, err = r.allocate(ctx, f, size); errors.Is(err, errRetired) {
				continue
			} else if err != nil {
				return resource.Allocation{}, err
			}
		}
		if node != nil {
			return resource.Allocation{Pointer: device.Pointer(node.Address), Bytes: bytes, Stream: stream, Private: node}, nil
		}
	}
}

// Free implements [resource.Resource].
func (r *Resource) Free(allocation resource.Allocation, further []*device.Stream) error {
	node, ok := allocation.Private.(*bestfit.Node)
	if !ok {
		return fmt.Errorf("memory: free %v: it is no memory of this resource: %w", allocation.Pointer, device.ErrInvalidValue)
	}
	if len(further) > 0 {
		if waiting := pendingStreams(further); len(waiting) > 0 {
			return r.hold(node, allocation.Stream, waiting)
		}
	}
	f := r.front(allocation.Stream)
	if !f.put(node) {
		f = r.replace(f, node)
	}
	if r.fronts.shared.Load() {
		f.epochs.watch.Arm()
	}
	if r.closing.Load() {
		return r.trimClosed()
	}
	return nil
}

// replace puts a block into a front, or the one that has followed it, at the cost
// of others.
func (r *Resource) replace(f *front, node *bestfit.Node) *front {
	for {
		evicted, ok := f.replace(node, r.frontBytes.Load())
		if !ok {
			f = r.front(f.stream)
			continue
		}
		if evicted.count > 0 {
			f = r.lockWith(f)
			for _, each := range evicted.nodes[:evicted.count] {
				each.Mark = min(each.Mark, f.epochs.now())
				r.give(f, each)
			}
			r.mu.Unlock()
		}
		return f
	}
}

// Device implements [resource.Resource].
func (r *Resource) Device() *device.Device { return r.device }

// Kind implements [resource.Resource].
func (r *Resource) Kind() device.MemoryKind { return r.kind }

// Upstream implements [resource.Stacked]. Expandable segments do not use it.
func (r *Resource) Upstream() resource.Resource { return r.options.Upstream }

// Expandable reports whether segments grow in place.
func (r *Resource) Expandable() bool {
	_, ok := r.ground.(*mappedGround)
	return ok
}

// Prime implements [resource.Primer].
func (r *Resource) Prime(bytes uint64) error {
	return r.PrimeContext(context.Background(), bytes)
}

// PrimeContext implements [resource.ContextPrimer].
func (r *Resource) PrimeContext(ctx context.Context, bytes uint64) error {
	size := round.Up(bytes, roundingBytes)
	if size < bytes {
		return fmt.Errorf("memory: prime caching resource: %w", resource.ErrOverflow)
	}
	node, err := r.allocate(ctx, r.common, size)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	node.Mark = 0
	r.give(r.common, node)
	return nil
}

// Trim implements [resource.Trimmer]. It leaves out what work is pending on. A fixed
// segment goes back as its upstream takes it: a [resource.Driver] waits for the
// stream that the segment was got on.
func (r *Resource) Trim(keep uint64) (released uint64, err error) {
	r.device.RunLater()
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.trimmed
	r.gather()
	if err := errors.Join(r.unite(false), r.ground.trim(keep)); err != nil {
		return r.trimmed - before, fmt.Errorf("memory: trim caching resource: %w", err)
	}
	return r.trimmed - before, nil
}

// SetLimit changes LimitBytes while the resource is in use, zero meaning none,
// and gives back what is cached beyond it. What is in use stays.
func (r *Resource) SetLimit(bytes uint64) error {
	if bytes == 0 {
		bytes = math.MaxUint64
	}
	r.limit.Store(bytes)
	_, err := r.Trim(bytes)
	return err
}

// Stats returns the figures of this moment.
func (r *Resource) Stats() Stats {
	r.device.RunLater()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats()
}

func (r *Resource) stats() Stats {
	s := Stats{
		Reserved: r.reserved, PeakReserved: r.peak, Segments: r.ground.segments(),
		FastHits: r.retiredHits, Hits: r.hits, Misses: r.misses,
		CrossStream: r.crossed, Waits: r.waits, Trimmed: r.trimmed,
	}
	for _, f := range r.owners {
		if f == nil {
			continue
		}
		bytes, largest, hits := f.figures()
		s.Cached += bytes
		s.LargestFree = max(s.LargestFree, largest)
		s.FastHits += hits
		for pool := range f.free {
			s.Cached += f.free[pool].Bytes()
			if largest := f.free[pool].Largest(&r.space); largest != nil {
				s.LargestFree = max(s.LargestFree, largest.Bytes)
			}
		}
	}
	for _, each := range r.held {
		s.Held += each.node.Bytes
	}
	s.InUse = s.Reserved - s.Cached - s.Held
	return s
}

// Close gives back all memory that is not in use, after the work that is pending
// on it. What is still in use stays valid, and is given back when it is freed.
// Where the driver fails Close may be called again.
func (r *Resource) Close() error {
	r.device.RunLater()
	if r.closing.Swap(true) && !r.unclosed.Swap(false) {
		return fmt.Errorf("memory: close caching resource: %w", device.ErrClosed)
	}
	return r.trimClosed()
}

// trimClosed gives back what has become free of a closed resource.
func (r *Resource) trimClosed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gather()
	err := r.awaitHeld()
	if err == nil {
		err = r.unite(true)
	}
	if err == nil {
		err = r.ground.trim(0)
	}
	if err != nil {
		r.unclosed.Store(true)
		return fmt.Errorf("memory: close caching resource: %w", err)
	}
	if r.reserved > 0 || r.closed {
		return nil
	}
	r.closed = true
	for _, f := range r.owners[1:] {
		if f != nil {
			f.epochs.close()
		}
	}
	return r.ground.close()
}

// String formats the figures on one line.
func (s Stats) String() string {
	return fmt.Sprintf("reserved %s (peak %s) in %d segments, in use %s, cached %s (largest %s), held %s",
		humanize.Bytes(s.Reserved), humanize.Bytes(s.PeakReserved), s.Segments,
		humanize.Bytes(s.InUse), humanize.Bytes(s.Cached), humanize.Bytes(s.LargestFree), humanize.Bytes(s.Held))
}
