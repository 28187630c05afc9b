package memory

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/internal/bestfit"
)

// CachingResource keeps freed memory and hands it out again in stream order,
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
// The resource waits for work on the device only where a request would fail
// otherwise, and then for the work that used the cached memory.
type CachingResource struct {
	device  *device.Device
	options CachingOptions
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

// NewCachingResource makes a caching resource on the device. The caller closes
// it.
func NewCachingResource(dev *device.Device, options CachingOptions) (*CachingResource, error) {
	options = options.withDefaults(dev)
	r := &CachingResource{device: dev, options: options, kind: options.Upstream.Kind()}
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

func (r *CachingResource) open() error {
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
			r.ground, r.kind = ranges, ownKind(r.device)
			return nil
		}
		if mode == ExpandableSegments || !errors.Is(err, device.ErrNotSupported) {
			return err
		}
	}
	r.ground = &fixedGround{resource: r, upstream: r.options.Upstream}
	return nil
}

// Allocate implements [Resource].
func (r *CachingResource) Allocate(bytes uint64, stream *device.Stream) (Allocation, error) {
	if bytes > math.MaxInt64 {
		return Allocation{}, fmt.Errorf("%d bytes: %w", bytes, device.ErrOutOfMemory)
	}
	size := roundUp(max(bytes, 1), roundingBytes)
	for {
		f := r.front(stream)
		node, ok := f.take(size)
		if node == nil && ok {
			var err error
			if node, err = r.allocate(f, size); errors.Is(err, errRetired) {
				continue
			} else if err != nil {
				return Allocation{}, err
			}
		}
		if node != nil {
			return Allocation{Pointer: device.Pointer(node.Address), Bytes: bytes, Stream: stream, Private: node}, nil
		}
	}
}

// Free implements [Resource].
func (r *CachingResource) Free(allocation Allocation, further []*device.Stream) error {
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
func (r *CachingResource) replace(f *front, node *bestfit.Node) *front {
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

// errRetired says that a front was forgotten while it was being used: the stream
// has, or will get, another one.
var errRetired = errors.New("the front is retired")

// lockWith locks the resource while it knows the front, or the one that has
// followed it.
func (r *CachingResource) lockWith(f *front) *front {
	for {
		r.mu.Lock()
		if r.owners[f.number] == f {
			return f
		}
		r.mu.Unlock()
		f = r.front(f.stream)
	}
}

// allocate serves what the front has no block for.
func (r *CachingResource) allocate(f *front, size uint64) (*bestfit.Node, error) {
	pool := r.pool(size)
	node, err := r.search(f, pool, size)
	for _, callback := range r.options.OnFailure {
		if err == nil || !errors.Is(err, device.ErrOutOfMemory) {
			break
		}
		if callback(size) {
			node, err = r.search(f, pool, size)
		}
	}
	if err == nil || !errors.Is(err, device.ErrOutOfMemory) {
		return node, err
	}
	return r.lastResort(f, pool, size)
}

// search goes through what needs nobody's help, from the cheapest on.
func (r *CachingResource) search(f *front, pool uint8, size uint64) (*bestfit.Node, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.owners[f.number] != f {
		return nil, errRetired
	}
	if r.closing.Load() {
		return nil, fmt.Errorf("memory: allocate: caching resource: %w", ErrClosed)
	}
	r.clock++
	if node := r.fit(f, pool, size); node != nil {
		r.hits++
		return node, nil
	}
	r.gather()
	if node := r.fit(f, pool, size); node != nil {
		r.hits++
		return node, nil
	}
	if node, err := r.takeOver(f, pool, size, false); node != nil || err != nil {
		return node, err
	}
	node, err := r.grow(f, pool, size)
	if err == nil {
		r.misses++
		return node, nil
	}
	if !errors.Is(err, device.ErrOutOfMemory) {
		return nil, err
	}
	if node, waiting := r.takeOver(f, pool, size, true); node != nil || waiting != nil {
		return node, waiting
	}
	return nil, err
}

// lastResort joins what is idle, whoever used it, and gives cached memory back so
// that the driver has room for the request: first what is idle, then what work is
// pending on, after that work.
func (r *CachingResource) lastResort(f *front, pool uint8, size uint64) (*bestfit.Node, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.owners[f.number] != f {
		return nil, errRetired
	}
	r.gather()
	err := error(device.ErrOutOfMemory)
	for _, step := range []struct {
		keep uint64
		wait bool
	}{{r.reserved - min(r.reserved, size), false}, {0, false}, {0, true}} {
		r.settleHeld()
		if step.wait {
			if failure := r.awaitHeld(); failure != nil {
				return nil, failure
			}
		}
		if failure := r.unite(step.wait); failure != nil {
			return nil, failure
		}
		if node := r.fit(f, pool, size); node != nil {
			r.hits++
			return node, nil
		}
		if failure := r.ground.trim(step.keep); failure != nil {
			return nil, failure
		}
		var node *bestfit.Node
		if node, err = r.grow(f, pool, size); err == nil {
			r.misses++
			return node, nil
		}
		if !errors.Is(err, device.ErrOutOfMemory) {
			return nil, err
		}
	}
	return nil, r.outOfMemory(size, err)
}

// pool returns the pool that serves a size.
func (r *CachingResource) pool(size uint64) uint8 {
	if size <= r.options.SmallBytes {
		return smallPool
	}
	return largePool
}

// fit finds a free block for the stream and cuts it to size. Memory that nobody
// uses any more fits every stream.
func (r *CachingResource) fit(f *front, pool uint8, size uint64) *bestfit.Node {
	owner := f
	node := r.suitable(f, pool, size)
	if common := r.suitable(r.common, pool, size); common != nil && (node == nil || common.Bytes < node.Bytes) {
		owner, node = r.common, common
	}
	if node == nil {
		return nil
	}
	r.delist(owner, node)
	return r.cut(f, node, size)
}

// suitable returns the best fit among the free blocks of a front. What is
// oversize is not split, but for requests that are oversize too.
func (r *CachingResource) suitable(f *front, pool uint8, size uint64) *bestfit.Node {
	node := f.free[pool].Find(&r.space, size)
	oversize := r.options.OversizeBytes
	if node == nil || oversize == 0 || node.Bytes < oversize {
		return node
	}
	if size < oversize || node.Bytes-size >= r.options.LargeSegmentBytes {
		return nil
	}
	return node
}

// cut takes a run that is in no set for a stream, and gives the stream what is
// left of it.
func (r *CachingResource) cut(f *front, node *bestfit.Node, size uint64) *bestfit.Node {
	node.State = runInUse
	if node.Bytes > size && (r.options.OversizeBytes == 0 || node.Bytes < r.options.OversizeBytes) {
		r.place(f, r.split(node, size))
	}
	return node
}

// split cuts a run in two and returns the second part.
func (r *CachingResource) split(node *bestfit.Node, size uint64) *bestfit.Node {
	rest := r.space.Split(node, size)
	r.ground.follows(node, rest)
	return rest
}

// join adds the run after a run to it.
func (r *CachingResource) join(node *bestfit.Node) {
	r.ground.follows(r.space.Next(node), node)
	r.space.Join(node)
}

// enlist and delist put free runs into their front's set and take them out.
func (r *CachingResource) enlist(f *front, node *bestfit.Node) {
	if f.free[node.Pool].Insert(&r.space, node) {
		r.free += node.Bytes
	}
}

func (r *CachingResource) delist(f *front, node *bestfit.Node) {
	if f.free[node.Pool].Remove(&r.space, node) {
		r.free -= node.Bytes
	}
}

// takeOver finds a free block that another stream used last. Unless wait is set
// that use must be over.
func (r *CachingResource) takeOver(f *front, pool uint8, size uint64, wait bool) (*bestfit.Node, error) {
	var owner *front
	var node *bestfit.Node
	for _, other := range r.owners[1:] {
		if other == nil || other == f {
			continue
		}
		found := r.suitable(other, pool, size)
		if found != nil && (node == nil || found.Bytes < node.Bytes) && (wait || other.epochs.ask(found.Mark)) {
			owner, node = other, found
		}
	}
	if node == nil || wait && f.stream == nil {
		return nil, nil
	}
	if wait {
		if err := owner.epochs.before(f.stream, node.Mark); err != nil {
			return nil, err
		}
		r.waits++
	}
	r.delist(owner, node)
	r.crossed++
	// To the stream the memory is as if it had freed it now.
	node.Mark = f.epochs.now()
	return r.cut(f, node, size), nil
}

// grow gets memory from the driver, after what is old was given back where there
// is much.
func (r *CachingResource) grow(f *front, pool uint8, size uint64) (*bestfit.Node, error) {
	limit := r.limit.Load()
	if threshold := r.threshold(limit); r.reserved+size > threshold {
		if err := r.ground.collect(threshold - min(threshold, size)); err != nil {
			return nil, err
		}
	}
	node, err := r.ground.grow(pool, f, size, limit-min(limit, r.reserved))
	if err != nil {
		return nil, err
	}
	r.peak = max(r.peak, r.reserved)
	r.frontBytes.Store(max(r.reserved/frontShare, leastFrontBytes))
	r.shrinking.grown(r.reserved - r.free - (node.Bytes - size))
	return r.cut(f, node, size), nil
}

// threshold returns how much may be reserved before old segments are given back.
func (r *CachingResource) threshold(limit uint64) uint64 {
	if r.options.CollectAbove >= 1 {
		return math.MaxUint64
	}
	if limit == math.MaxUint64 {
		limit = r.device.Info().TotalMemory
	}
	return uint64(float64(limit) * r.options.CollectAbove)
}

// give makes a run free that was used last by the front's stream.
func (r *CachingResource) give(f *front, node *bestfit.Node) {
	r.place(f, node)
	if r.free/3 > r.reserved/4 && !r.gathering {
		r.shrinking.freed(r)
	}
}

// place puts a run into the set of the front whose stream used it last, joined
// with its neighbours where they are free for that stream too.
func (r *CachingResource) place(f *front, node *bestfit.Node) {
	known := node.State == runFree && r.space.Next(node) == nil && r.space.Previous(node) == nil
	node.State, node.Owner = runFree, f.number
	for next := r.space.Next(node); next != nil && r.joins(node, next); next = r.space.Next(node) {
		node.Mark = max(node.Mark, r.markFor(f, next))
		r.delist(r.owners[next.Owner], next)
		r.join(node)
	}
	for previous := r.space.Previous(node); previous != nil && r.joins(node, previous); previous = r.space.Previous(node) {
		mark := max(node.Mark, r.markFor(f, previous))
		r.delist(r.owners[previous.Owner], previous)
		r.join(previous)
		node = previous
		node.Owner, node.Mark = f.number, mark
	}
	r.enlist(f, node)
	if !known && r.space.Next(node) == nil && r.space.Previous(node) == nil {
		r.ground.idle(node)
	}
}

// unite makes everybody's what no work is pending on, so that it is one run with
// its neighbours whoever used those. With wait set that is all that is free, after
// the work that used it.
func (r *CachingResource) unite(wait bool) (err error) {
	for _, f := range r.owners[1:] {
		if f == nil {
			continue
		}
		f.epochs.ask(f.epochs.now())
		for pool := range f.free {
			f.free[pool].Each(&r.space, func(node *bestfit.Node) bool {
				if wait {
					err = f.epochs.wait(node.Mark)
				}
				if err == nil && (wait || f.epochs.over(node.Mark)) {
					r.delist(f, node)
					node.Mark = 0
					r.place(r.common, node)
				}
				return err == nil
			})
		}
	}
	return err
}

// joins reports whether a run that becomes free may be joined with its neighbour:
// if that is free, and used last by the same stream or by no pending work.
func (r *CachingResource) joins(node, neighbour *bestfit.Node) bool {
	return neighbour.State == runFree &&
		(neighbour.Owner == node.Owner || r.owners[neighbour.Owner].epochs.over(neighbour.Mark))
}

// markFor returns the epoch of a front in which a free run was used last.
func (r *CachingResource) markFor(f *front, node *bestfit.Node) uint64 {
	if node.Owner == f.number {
		return node.Mark
	}
	return 0
}

// gather makes everything that was freed fit for use: what waits in the fronts,
// and what was held for further streams.
func (r *CachingResource) gather() {
	r.gathering = true
	defer func() { r.gathering = false }()
	for _, f := range r.owners[1:] {
		if f == nil {
			continue
		}
		for _, node := range f.drain(false) {
			r.give(f, node)
		}
	}
	r.settleHeld()
}

// Device implements [Resource].
func (r *CachingResource) Device() *device.Device { return r.device }

// Kind implements [Resource].
func (r *CachingResource) Kind() device.MemoryKind { return r.kind }

// Upstream implements [Stacked]. Expandable segments do not use it.
func (r *CachingResource) Upstream() Resource { return r.options.Upstream }

// Expandable reports whether segments grow in place.
func (r *CachingResource) Expandable() bool {
	_, ok := r.ground.(*mappedGround)
	return ok
}

// Prime implements [Primer].
func (r *CachingResource) Prime(bytes uint64) error {
	size := roundUp(bytes, roundingBytes)
	if size < bytes {
		return fmt.Errorf("memory: prime caching resource: %w", ErrOverflow)
	}
	node, err := r.allocate(r.common, size)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	node.Mark = 0
	r.give(r.common, node)
	return nil
}

// Trim implements [Trimmer]. It leaves out what work is pending on. A fixed
// segment goes back as its upstream takes it: a [DriverResource] waits for the
// stream that the segment was got on.
func (r *CachingResource) Trim(keep uint64) (released uint64, err error) {
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
func (r *CachingResource) SetLimit(bytes uint64) error {
	if bytes == 0 {
		bytes = math.MaxUint64
	}
	r.limit.Store(bytes)
	_, err := r.Trim(bytes)
	return err
}

// Stats returns the figures of this moment.
func (r *CachingResource) Stats() CachingStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats()
}

func (r *CachingResource) stats() CachingStats {
	s := CachingStats{
		Reserved: r.reserved, PeakReserved: r.peak, Segments: r.ground.segments(),
		FastHits: r.retiredHits, Hits: r.hits, Misses: r.misses,
		CrossStream: r.crossed, Waits: r.waits, Trimmed: r.trimmed,
	}
	for _, f := range r.owners {
		if f == nil {
			continue
		}
		bytes, hits := f.figures()
		s.Cached += bytes
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
func (r *CachingResource) Close() error {
	if r.closing.Swap(true) && !r.unclosed.Swap(false) {
		return fmt.Errorf("memory: close caching resource: %w", ErrClosed)
	}
	return r.trimClosed()
}

// trimClosed gives back what has become free of a closed resource.
func (r *CachingResource) trimClosed() error {
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
func (s CachingStats) String() string {
	return fmt.Sprintf("reserved %s (peak %s) in %d segments, in use %s, cached %s (largest %s), held %s",
		humanize.Bytes(s.Reserved), humanize.Bytes(s.PeakReserved), s.Segments,
		humanize.Bytes(s.InUse), humanize.Bytes(s.Cached), humanize.Bytes(s.LargestFree), humanize.Bytes(s.Held))
}
