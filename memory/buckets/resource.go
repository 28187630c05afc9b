package buckets

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Resource allocates from bins of freed memory with sizes that are powers of two. It is
// safe for concurrent use. Goroutines that allocate on different streams do not wait
// for each other.
type Resource struct {
	upstream resource.Resource
	device   *device.Device
	options  Options
	bins     int
	// smallest is the binary logarithm of the smallest bin's size.
	smallest int
	// idle is a stream without work, used with upstreams that wait for the stream of
	// the memory that they free. With other upstreams it stays nil.
	idle   *device.Stream
	closed atomic.Bool
	slabs  slabs

	// directoryLock guards changes of lanes. retired is the sum of the statistics of
	// removed lanes.
	directoryLock sync.Mutex
	lanes         atomic.Pointer[directory]
	retired       Stats

	_ [64]byte // separates fields that change often from those above

	// cached never exceeds Options.CacheBytes: keep reserves room before it adds a
	// chunk.
	cached atomic.Uint64
	// ages numbers the freed chunks.
	ages atomic.Uint64

	_ [64]byte

	releases, retries, upstreamBytes, slabIdle atomic.Uint64
}

var (
	_ resource.Stacked          = (*Resource)(nil)
	_ resource.Trimmer          = (*Resource)(nil)
	_ resource.ContextAllocator = (*Resource)(nil)
)

// New returns a Resource that gets its memory from the upstream. It does not close the
// upstream.
//
// # Errors
//
// An error that wraps device.ErrInvalidValue if the upstream is nil or the options are
// invalid.
func New(upstream resource.Resource, options Options) (*Resource, error) {
	if upstream == nil {
		return nil, fmt.Errorf("buckets: new resource: the upstream is nil: %w", device.ErrInvalidValue)
	}
	options, err := options.complete(upstream)
	if err != nil {
		return nil, fmt.Errorf("buckets: new resource: %w", err)
	}
	r := &Resource{upstream: upstream, device: upstream.Device(), options: options}
	r.smallest = bits.TrailingZeros64(options.SmallestBytes)
	r.bins = bits.TrailingZeros64(options.LargestBytes) - r.smallest + 1
	r.slabs.bins = make([]slabBin, r.bins)
	r.lanes.Store(&directory{byStream: map[*device.Stream]*lane{}})
	if waitsForStreams(upstream) {
		if r.idle, err = r.device.NewStream(); err != nil {
			return nil, fmt.Errorf("buckets: new resource: %w", err)
		}
	}
	return r, nil
}

// NewPinned returns a Resource of pinned host memory that the device can access. Small
// requests are cut from slabs.
func NewPinned(dev *device.Device, options Options) (*Resource, error) {
	if dev == nil {
		return nil, fmt.Errorf("buckets: new pinned resource: the device is nil: %w", device.ErrInvalidValue)
	}
	if options.SlabBytes == 0 {
		options.SlabBytes = pinnedSlabBytes
	}
	return New(resource.NewPinned(dev), options)
}

// waitsForStreams reports whether the resource uses the streams of the memory that it
// frees only to wait for them.
func waitsForStreams(upstream resource.Resource) bool {
	switch upstream.(type) {
	case *resource.Driver, *resource.Pinned:
		return true
	}
	return false
}

// Upstream implements [resource.Stacked].
func (r *Resource) Upstream() resource.Resource { return r.upstream }

// Device implements [resource.Resource].
func (r *Resource) Device() *device.Device { return r.device }

// Kind implements [resource.Resource].
func (r *Resource) Kind() device.MemoryKind { return r.upstream.Kind() }

// Allocate implements [resource.Resource]. If the upstream fails, Allocate frees the
// cached memory that no work uses any more and tries the upstream again; the error is
// that of the second attempt.
func (r *Resource) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	return r.AllocateContext(context.Background(), bytes, stream)
}

// AllocateContext implements [resource.ContextAllocator]. The context limits how long
// the upstream waits for the device.
func (r *Resource) AllocateContext(ctx context.Context, bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	if err := r.check(stream); err != nil {
		return resource.Allocation{}, fmt.Errorf("buckets: allocate %s: %w", humanize.IBytes(bytes), err)
	}
	bin, size := r.binOf(bytes)
	l, c := r.take(stream, bin, size)
	if c == nil && bin != noBin {
		c = r.cross(l, bin, size)
	}
	if c == nil {
		var err error
		if c, err = r.fetch(ctx, l, bin, size); err != nil {
			return resource.Allocation{}, fmt.Errorf("buckets: allocate %s, in a bin %s, with %s in use: %w",
				humanize.IBytes(bytes), humanize.IBytes(size), humanize.IBytes(r.Stats().InUseBytes), err)
		}
	}
	c.clean()
	c.lane = l
	c.live.Store(true)
	return resource.Allocation{Pointer: c.pointer, Bytes: bytes, Stream: stream, Private: c}, nil
}

func (r *Resource) check(stream *device.Stream) error {
	switch {
	case r.closed.Load():
		return fmt.Errorf("resource: %w", resource.ErrClosed)
	case stream == nil:
		return fmt.Errorf("the stream is nil: %w", device.ErrInvalidValue)
	case !stream.Device().Same(r.device):
		return fmt.Errorf("the stream belongs to %s, the memory to %s: %w", stream.Device(), r.device, device.ErrInvalidValue)
	case stream.Closed():
		return fmt.Errorf("%v: %w", stream, resource.ErrClosed)
	}
	return nil
}

// binOf returns the bin for a request, and the bin's size.
func (r *Resource) binOf(bytes uint64) (bin int, size uint64) {
	if bytes > r.options.LargestBytes {
		return noBin, bytes
	}
	size = roundUp(max(bytes, r.options.SmallestBytes))
	return bits.TrailingZeros64(size) - r.smallest, size
}

// take counts the request in the stream's lane, and returns the lane and a chunk from
// it, or nil.
func (r *Resource) take(stream *device.Stream, bin int, size uint64) (*lane, *chunk) {
	for {
		l := r.laneOf(stream)
		l.mu.Lock()
		if l.retired {
			l.mu.Unlock()
			continue
		}
		l.counts.inUseBlocks++
		l.counts.inUseBytes += size
		var c *chunk
		if bin != noBin {
			c = l.own(bin)
		}
		if c != nil {
			l.counts.hits++
		}
		l.mu.Unlock()
		if c != nil {
			r.cached.Add(-c.bytes)
		}
		return l, c
	}
}

// cross returns a chunk from another stream's lane if its work has completed, or nil.
func (r *Resource) cross(l *lane, bin int, size uint64) *chunk {
	for _, other := range r.lanes.Load().all {
		if other == l {
			continue
		}
		if c := other.yield(bin, l.stream); c != nil {
			r.cached.Add(-size)
			l.mu.Lock()
			defer l.mu.Unlock()
			l.counts.hits++
			l.counts.crossings++
			return c
		}
	}
	return nil
}

// fetch allocates from the upstream. If that fails, it empties the cache and tries
// again.
func (r *Resource) fetch(ctx context.Context, l *lane, bin int, size uint64) (*chunk, error) {
	c, err := r.obtain(ctx, l, bin, size)
	if err != nil && ctx.Err() == nil && !errors.Is(err, resource.ErrClosed) && !errors.Is(err, device.ErrInvalidValue) {
		r.retries.Add(1)
		released, failed := r.empty(l.stream)
		if c, err = r.obtain(ctx, l, bin, size); err != nil {
			err = fmt.Errorf("the upstream was asked again after %s of the cache went back to it, %s are cached for work that is not done: %w",
				humanize.IBytes(released), humanize.IBytes(r.cached.Load()), errors.Join(err, failed))
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.counts.inUseBlocks--
		l.counts.inUseBytes -= size
	case bin == noBin:
		l.counts.direct++
	default:
		l.counts.misses++
	}
	return c, err
}

// obtain returns a chunk of new upstream memory or of a slab.
func (r *Resource) obtain(ctx context.Context, l *lane, bin int, size uint64) (*chunk, error) {
	if bin != noBin && size <= r.options.SlabBytes/slabShare {
		return r.cut(ctx, l, bin, size)
	}
	below, err := resource.AllocateFrom(ctx, r.upstream, size, l.stream)
	if err != nil {
		return nil, err
	}
	r.upstreamBytes.Add(size)
	c := r.newChunk(below.Pointer, size, bin, l)
	c.below = below
	return c, nil
}

// Free implements [resource.Resource].
//
// # Errors
//
// An error that wraps device.ErrInvalidValue if the allocation belongs to another
// resource or was freed before.
//
// # Waiting
//
// Free does not wait for work on the device, unless the memory does not stay in the
// cache and the upstream waits.
func (r *Resource) Free(allocation resource.Allocation, further []*device.Stream) error {
	c, ok := allocation.Private.(*chunk)
	if !ok || c.owner != r || c.pointer != allocation.Pointer {
		return fmt.Errorf("buckets: free %s at %v: not allocated by this resource: %w",
			humanize.IBytes(allocation.Bytes), allocation.Pointer, device.ErrInvalidValue)
	}
	if !c.live.CompareAndSwap(true, false) {
		return fmt.Errorf("buckets: free %s at %v: freed before: %w",
			humanize.IBytes(allocation.Bytes), allocation.Pointer, device.ErrInvalidValue)
	}
	var err error
	keep := c.bin != noBin && c.bytes <= r.options.CacheBytes && !r.closed.Load()
	c.noteUses(further, keep)
	if keep {
		if len(r.lanes.Load().all) > 1 && c.lane.wantsMark(c.bin) {
			c.markNow()
		}
		kept, failed := r.keep(c)
		if kept {
			return failed
		}
		err = failed
	}
	l := c.lane
	l.mu.Lock()
	l.counts.inUseBlocks--
	l.counts.inUseBytes -= c.bytes
	l.mu.Unlock()
	if c.bin != noBin {
		r.releases.Add(1)
	}
	_, failed := r.giveBack(c)
	return errors.Join(err, failed)
}

// keep adds a chunk to its lane and evicts older chunks to make room. It reports false
// if the cache has no room or the resource is closed.
func (r *Resource) keep(c *chunk) (kept bool, err error) {
	for !r.reserve(c.bytes) {
		room, failed := r.makeRoom()
		err = errors.Join(err, failed)
		if !room {
			return false, err
		}
	}
	l := c.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.closed.Load() { // Close has emptied this lane, or waits for its lock
		r.cached.Add(-c.bytes)
		return false, err
	}
	l.put(c, r.ages.Add(1))
	l.counts.returns++
	l.counts.inUseBlocks--
	l.counts.inUseBytes -= c.bytes
	return true, err
}

func (r *Resource) reserve(bytes uint64) bool {
	for {
		cached := r.cached.Load()
		if cached+bytes > r.options.CacheBytes {
			return false
		}
		if r.cached.CompareAndSwap(cached, cached+bytes) {
			return true
		}
	}
}
