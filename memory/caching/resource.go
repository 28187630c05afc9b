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
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/memory/caching/internal/bestfit"
	"github.com/gpuframe/gpuframe/memory/internal/round"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Resource keeps freed memory and reuses it in stream order without calling the
// driver: immediately on the stream that used it last, and on another stream after
// the exact event of its last use. It rounds sizes up to 512 bytes, takes the best
// fit, splits larger runs and merges freed runs with their neighbours, like
// PyTorch's allocator and with its parameters.
//
// It differs from PyTorch's allocator in three points. A block that is freed and
// requested again in the same size takes one lock that no other stream takes. Memory
// moves between streams without waiting if its last use has completed; otherwise the
// device waits for the work that used it, not for work that was enqueued later. If
// the driver can map memory, segments grow in place and any free part can be
// released.
//
// # Waiting
//
// The resource waits for work on the device only if a request would fail otherwise,
// and then for the work that used the cached memory. Other requests continue
// meanwhile. [Resource.AllocateContext] stops waiting when its context is done.
// Releasing a fixed segment is an exception: it calls cuMemFree, which waits for the
// device.
type Resource struct {
	device   *device.Device
	options  Options
	kind     device.MemoryKind
	segments segmentSource
	caches   streamCacheTable

	mu    sync.Mutex
	space bestfit.Space
	// shared is the cache without a stream. It holds free memory without pending
	// work, which every stream can use.
	shared *streamCache
	// owners are the stream caches by number; the first is shared.
	owners []*streamCache
	held   []*heldBlock
	// flushing is set during flush: a request is waiting for the memory, so none is
	// returned to the driver.
	flushing bool
	// clock counts the searches for memory and measures the age of segments.
	clock          uint64
	reserved, peak uint64
	// freeBytes are the bytes of all free runs.
	freeBytes          uint64
	hits, misses       uint64
	retiredHits        uint64
	crossStream, waits uint64
	trimmed            uint64
	limit              atomic.Uint64
	// cacheBytes is the maximum number of bytes in the slots of one stream cache.
	cacheBytes atomic.Uint64
	shrinking  shrinking
	// closing is set when Close was called. unclosed is set when Close failed and
	// may be called again. closed is set when no memory is left.
	closing, unclosed atomic.Bool
	closed            bool
}

// segmentSource provides the memory of a caching resource. Every method is called
// with the resource's lock held.
type segmentSource interface {
	// grow returns a free run of at least the size; part of it may have been free
	// before. The run is in no set. grow takes at most room bytes from the driver.
	grow(pool uint8, cache *streamCache, size, room uint64) (*bestfit.Node, error)
	// becameWhole is called for a free run without neighbours. replaced is called when
	// a run at the end of its range has been split or merged: now is at the end instead
	// of before.
	becameWhole(node *bestfit.Node)
	replaced(before, now *bestfit.Node)
	// trim releases free memory until at most keep bytes are reserved, oversize or
	// largest runs first. It skips memory that may have pending work.
	trim(keep uint64) error
	// collect releases unused memory, the longest unused first, until at most keep
	// bytes are reserved.
	collect(keep uint64) error
	// count returns the number of segments, or of mapped pieces.
	count() int
	// firsts returns the first run of each range of addresses.
	firsts() []*bestfit.Node
	// close releases the remaining resources once all memory is free.
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
	// roundingBytes is the unit to which sizes are rounded up.
	roundingBytes = 512
	// The slots of a stream cache hold up to one thirty-second of the reserved
	// memory, and at least leastCacheBytes.
	cacheShare      = 32
	leastCacheBytes = 64 << 20
)

// New returns a caching resource on the device. The caller must close it.
func New(dev *device.Device, options Options) (*Resource, error) {
	options = options.withDefaults(dev)
	r := &Resource{device: dev, options: options, kind: options.Upstream.Kind()}
	r.limit.Store(options.LimitBytes)
	r.shared = new(streamCache)
	r.owners = []*streamCache{r.shared}
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
		return fmt.Errorf("CachingOptions.Upstream belongs to %s: %w", r.options.Upstream.Device(), device.ErrInvalidValue)
	}
	mode := r.options.Segments
	if mode == AutomaticSegments && (r.device.Kind() == device.Host || r.options.givenUpstream) {
		mode = FixedSegments
	}
	if mode != FixedSegments {
		ranges, err := newMappedSegments(r)
		if err == nil {
			r.segments, r.kind = ranges, r.device.MemoryKind()
			return nil
		}
		if mode == ExpandableSegments || errors.Is(err, device.ErrDeviceLost) {
			return err
		}
	}
	r.segments = &fixedSegments{resource: r, upstream: r.options.Upstream}
	return nil
}

// Allocate implements [resource.Resource]. It fails for a closed stream, because no
// work could use the memory.
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
		cache := r.cacheOf(stream)
		node, ok := cache.take(size)
		if node == nil && ok {
			var err error
			if node, err = r.allocate(ctx, cache, size); errors.Is(err, errRetired) {
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
	cache := r.cacheOf(allocation.Stream)
	if !cache.put(node) {
		cache = r.replace(cache, node)
	}
	if r.caches.manyStreams.Load() {
		cache.epochs.watch.Arm()
	}
	if r.closing.Load() {
		return r.trimClosed()
	}
	return nil
}

// replace puts a block into a stream cache, or into its replacement if the cache is
// retired. The cache may evict other blocks.
func (r *Resource) replace(cache *streamCache, node *bestfit.Node) *streamCache {
	for {
		evicted, ok := cache.replace(node, r.cacheBytes.Load())
		if !ok {
			cache = r.cacheOf(cache.stream)
			continue
		}
		if evicted.count > 0 {
			cache = r.lockKnowing(cache)
			for _, each := range evicted.nodes[:evicted.count] {
				each.Mark = min(each.Mark, cache.epochs.now())
				r.release(cache, each)
			}
			r.mu.Unlock()
		}
		return cache
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
	_, ok := r.segments.(*mappedSegments)
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
	node, err := r.allocate(ctx, r.shared, size)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	node.Mark = 0
	r.release(r.shared, node)
	return nil
}

// Trim implements [resource.Trimmer]. It skips memory with pending work. The
// upstream frees fixed segments: a [resource.Driver] waits for the stream on which
// the segment was allocated.
func (r *Resource) Trim(keep uint64) (released uint64, err error) {
	streamwork.RunLater(r.device)
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.trimmed
	r.flush()
	if err := errors.Join(r.coalesceIdle(false), r.segments.trim(keep)); err != nil {
		return r.trimmed - before, fmt.Errorf("memory: trim caching resource: %w", err)
	}
	return r.trimmed - before, nil
}

// SetLimit changes LimitBytes while the resource is in use and releases cached
// memory above the limit. Zero means no limit. Memory in use is not affected.
func (r *Resource) SetLimit(bytes uint64) error {
	if bytes == 0 {
		bytes = math.MaxUint64
	}
	r.limit.Store(bytes)
	_, err := r.Trim(bytes)
	return err
}

// Stats returns the current statistics.
func (r *Resource) Stats() Stats {
	streamwork.RunLater(r.device)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats()
}

func (r *Resource) stats() Stats {
	s := Stats{
		Reserved: r.reserved, PeakReserved: r.peak, Segments: r.segments.count(),
		FastHits: r.retiredHits, Hits: r.hits, Misses: r.misses,
		CrossStream: r.crossStream, Waits: r.waits, Trimmed: r.trimmed,
	}
	for _, cache := range r.owners {
		if cache == nil {
			continue
		}
		bytes, largest, hits := cache.figures()
		s.Cached += bytes
		s.LargestFree = max(s.LargestFree, largest)
		s.FastHits += hits
		for pool := range cache.free {
			s.Cached += cache.free[pool].Bytes()
			if largest := cache.free[pool].Largest(&r.space); largest != nil {
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

// Close waits for the work that is pending on unused memory and releases that
// memory. Memory in use stays valid and is released when it is freed. If the driver
// fails, Close may be called again.
func (r *Resource) Close() error {
	streamwork.RunLater(r.device)
	if r.closing.Swap(true) && !r.unclosed.Swap(false) {
		return fmt.Errorf("memory: close caching resource: %w", device.ErrClosed)
	}
	return r.trimClosed()
}

// trimClosed releases the free memory of a closed resource.
func (r *Resource) trimClosed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flush()
	err := r.awaitHeld()
	if err == nil {
		err = r.coalesceIdle(true)
	}
	if err == nil {
		err = r.segments.trim(0)
	}
	if err != nil {
		r.unclosed.Store(true)
		return fmt.Errorf("memory: close caching resource: %w", err)
	}
	if r.reserved > 0 || r.closed {
		return nil
	}
	r.closed = true
	for _, cache := range r.owners[1:] {
		if cache != nil {
			cache.epochs.close()
		}
	}
	return r.segments.close()
}

// String formats the statistics on one line.
func (s Stats) String() string {
	return fmt.Sprintf("reserved %s (peak %s) in %d segments, in use %s, cached %s (largest %s), held %s",
		humanize.IBytes(s.Reserved), humanize.IBytes(s.PeakReserved), s.Segments,
		humanize.IBytes(s.InUse), humanize.IBytes(s.Cached), humanize.IBytes(s.LargestFree), humanize.IBytes(s.Held))
}
