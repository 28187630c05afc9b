package buckets

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// SlicesOptions configure [Slices]. The zero value is right for most programs.
type SlicesOptions struct {
	// Multiple is what the length of a block is rounded up to, in elements.
	// Zero means 256.
	Multiple int
	// CacheBytes is the most bytes of unused slices that are kept. Zero means a
	// quarter of the manager's budget.
	CacheBytes uint64
	// SameStream leaves alone what belongs to another stream than the one asked
	// for. Without it such a slice is taken where there is no other, and the
	// stream made to wait, on the device, for the work on it.
	SameStream bool
}

const elementsMultiple = 256

// Slices is a pool of typed slices of a manager: what is put in is handed out
// again to who wants as many elements, rounded up. What was put in last is handed
// out first. It is safe for concurrent use.
//
// Unused slices stay in the manager's budget. A pool is one of the manager's
// reclaimers: it lets go of them when the manager is short of memory. A pool that
// is no longer needed is closed, before its manager.
type Slices[T memory.Element] struct {
	manager *memory.Manager
	options SlicesOptions
	width   uint64
	remove  func()

	mu     sync.Mutex
	closed bool
	// shelves hold the unused blocks, those of one key by their streams.
	shelves map[sliceKey][]*sliceShelf
	// ages holds all of them, the oldest first.
	ages  chain[unused]
	stats SlicesStats
	// spare are records to be used again.
	spare chain[unused]
}

// sliceKey is what blocks have in common that stand in for each other. The tag is
// in it so that the manager's figures by tag stay right.
type sliceKey struct {
	length int
	tag    string
}

// sliceShelf holds the blocks of one key and one stream, the oldest first.
type sliceShelf struct {
	stream *device.Stream
	blocks chain[unused]
}

// unused is a block in the pool and its places there.
type unused struct {
	block          *memory.Block
	key            sliceKey
	shelf          *sliceShelf
	inShelf, inAge link[unused]
	// returned numbers the blocks in the order in which they were put in.
	returned uint64
}

// SlicesStats are the figures of a [Slices] at one moment.
type SlicesStats struct {
	// Hits counts requests that the pool answered, Misses those for which the
	// manager was asked. Requests for no elements are neither.
	Hits, Misses uint64
	// Crossings counts the hits with a slice that belongs to another stream.
	Crossings uint64
	// Returns counts slices that were put in and kept, Releases those that
	// were released: kept ones to make room, others because they cannot be kept.
	Returns, Releases uint64
	// CachedBytes and CachedSlices are what is kept now.
	CachedBytes, CachedSlices uint64
}

// NewSlices makes a pool of the manager's slices. The caller closes it.
func NewSlices[T memory.Element](mgr *memory.Manager, options SlicesOptions) (*Slices[T], error) {
	if mgr == nil {
		return nil, fmt.Errorf("buckets: new pool of slices: the manager is nil: %w", device.ErrInvalidValue)
	}
	if options.Multiple < 0 {
		return nil, fmt.Errorf("buckets: new pool of slices: SlicesOptions.Multiple is %d: %w", options.Multiple, device.ErrInvalidValue)
	}
	if options.Multiple == 0 {
		options.Multiple = elementsMultiple
	}
	if options.CacheBytes == 0 {
		options.CacheBytes = mgr.Stats().Budget / 4
	}
	var zero T
	p := &Slices[T]{manager: mgr, options: options, width: uint64(unsafe.Sizeof(zero)), shelves: make(map[sliceKey][]*sliceShelf)}
	p.remove = mgr.AddReclaimer(p)
	return p, nil
}

// Take returns n elements, which may be none. Their values are undefined. The
// caller puts the slice back, or releases it. Its block is longer where n is not
// a multiple of SlicesOptions.Multiple, and may belong to another stream than
// asked for: hand the stream to what uses the slice.
func (p *Slices[T]) Take(n int, options memory.AllocateOptions) (memory.Slice[T], error) {
	multiple := p.options.Multiple
	if n <= 0 || n > math.MaxInt-multiple+1 {
		return memory.NewSlice[T](p.manager, n, options)
	}
	stream := options.Stream
	if stream == nil {
		stream = p.manager.Stream()
	}
	length := (n + multiple - 1) / multiple * multiple
	block, err := p.take(sliceKey{length, options.Tag}, stream)
	if err != nil {
		return memory.Slice[T]{}, err
	}
	if block != nil {
		// Who had it before may have used it on further streams.
		if err := block.OrderBefore(stream); err != nil {
			return memory.Slice[T]{}, fmt.Errorf("buckets: take %d elements: %w", n, errors.Join(err, block.Release()))
		}
		return memory.SliceOf[T](block, n)
	}
	whole, err := memory.NewSlice[T](p.manager, length, options)
	if err != nil {
		return memory.Slice[T]{}, err
	}
	return memory.SliceOf[T](whole.Block(), n)
}

// take takes a block out of the pool, if there is one.
func (p *Slices[T]) take(key sliceKey, stream *device.Stream) (*memory.Block, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fmt.Errorf("buckets: take %d elements: pool of slices: %w", key.length, resource.ErrClosed)
	}
	for {
		found := p.find(key, stream)
		if found == nil {
			p.stats.Misses++
			return nil, nil
		}
		crosses := !found.shelf.stream.Equal(stream)
		block := p.takeOut(found)
		if block.References() == 0 {
			continue // somebody has released what was not theirs any more
		}
		p.stats.Hits++
		if crosses {
			p.stats.Crossings++
		}
		return block, nil
	}
}

// find is called with the lock held. Of another stream it returns what was put
// in first, for the work on that is the likeliest to be done.
func (p *Slices[T]) find(key sliceKey, stream *device.Stream) (oldest *unused) {
	for _, shelf := range p.shelves[key] {
		first := shelf.blocks.first()
		if first == nil {
			continue
		}
		if shelf.stream.Equal(stream) {
			return shelf.blocks.last()
		}
		if !p.options.SameStream && (oldest == nil || first.returned < oldest.returned) {
			oldest = first
		}
	}
	return oldest
}

// takeOut is called with the lock held. The record is another one's afterwards.
// Shelves stay when they are empty, for they are likely to be filled again.
func (p *Slices[T]) takeOut(u *unused) *memory.Block {
	block := u.block
	u.shelf.blocks.remove(&u.inShelf)
	p.ages.remove(&u.inAge)
	p.stats.CachedBytes -= uint64(u.key.length) * p.width
	p.stats.CachedSlices--
	u.block, u.key, u.shelf = nil, sliceKey{}, nil
	p.spare.append(&u.inAge)
	return block
}

// record returns a record to fill, in no chain.
func (p *Slices[T]) record() *unused {
	if u := p.spare.last(); u != nil {
		p.spare.remove(&u.inAge)
		return u
	}
	u := &unused{}
	u.inShelf.of, u.inAge.of = u, u
	return u
}

// Put takes over the caller's reference to the slice's block. The block is kept
// if nobody else holds it and it is one that Take could have made; otherwise it
// is released. All work on it must have been recorded, as everything in gpuframe
// does. Neither the slice nor a view of its block may be used afterwards. Putting
// a slice that has been released is an error that wraps memory.ErrReleased, putting a
// view one that wraps memory.ErrView.
func (p *Slices[T]) Put(slice memory.Slice[T]) error {
	block := slice.Block()
	if block == nil {
		return nil
	}
	if err := block.Check(); err != nil {
		return fmt.Errorf("buckets: put %d elements: %w", slice.Len(), errors.Join(err, block.Release()))
	}
	if slice.IsView() {
		return fmt.Errorf("buckets: put %d elements of %v: put the slice that Take returned: %w", slice.Len(), block, memory.ErrView)
	}
	var surplus []*memory.Block
	if key, ok := p.keyOf(block); ok {
		surplus = p.keep(key, block)
	} else {
		p.mu.Lock()
		p.stats.Releases++
		p.mu.Unlock()
		surplus = []*memory.Block{block}
	}
	return release(surplus)
}

// keyOf returns where in the pool a block belongs, and whether it may be there.
// An exported block has more than one reference.
func (p *Slices[T]) keyOf(block *memory.Block) (key sliceKey, ok bool) {
	bytes := block.Bytes()
	step := uint64(p.options.Multiple) * p.width
	if block.Manager() != p.manager || block.External() || block.ReadOnly() || block.References() != 1 ||
		bytes == 0 || bytes%step != 0 || bytes > p.options.CacheBytes {
		return sliceKey{}, false
	}
	return sliceKey{int(bytes / p.width), block.Tag()}, true
}

// keep adds a block and returns those that are to be released for it.
func (p *Slices[T]) keep(key sliceKey, block *memory.Block) (surplus []*memory.Block) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		p.stats.Releases++
		return []*memory.Block{block}
	}
	surplus = p.shrink(p.options.CacheBytes - block.Bytes())
	p.stats.Returns++
	u := p.record()
	u.block, u.key, u.shelf, u.returned = block, key, p.shelfOf(key, block.Stream()), p.stats.Returns
	u.shelf.blocks.append(&u.inShelf)
	p.ages.append(&u.inAge)
	p.stats.CachedBytes += block.Bytes()
	p.stats.CachedSlices++
	return surplus
}

func (p *Slices[T]) shelfOf(key sliceKey, stream *device.Stream) *sliceShelf {
	for _, shelf := range p.shelves[key] {
		if shelf.stream.Equal(stream) {
			return shelf
		}
	}
	if uint64(len(p.shelves)) > 2*p.stats.CachedSlices+mostEmptyKeys {
		maps.DeleteFunc(p.shelves, func(_ sliceKey, shelves []*sliceShelf) bool {
			return !slices.ContainsFunc(shelves, func(s *sliceShelf) bool { return s.blocks.first() != nil })
		})
	}
	shelf := &sliceShelf{stream: stream}
	p.shelves[key] = append(filled(p.shelves[key]), shelf)
	return shelf
}

// mostEmptyKeys is how many keys without blocks are put up with.
const mostEmptyKeys = 64

// filled leaves those shelves that have blocks.
func filled(shelves []*sliceShelf) []*sliceShelf {
	return slices.DeleteFunc(shelves, func(s *sliceShelf) bool { return s.blocks.first() == nil })
}

// shrink takes the oldest blocks out until no more than the bytes are cached. The
// caller, who holds the lock, releases them without it.
func (p *Slices[T]) shrink(keep uint64) (surplus []*memory.Block) {
	for p.stats.CachedBytes > keep {
		surplus = append(surplus, p.takeOut(p.ages.first()))
		p.stats.Releases++
	}
	return surplus
}

func release(blocks []*memory.Block) error {
	var failures []error
	for _, block := range blocks {
		failures = append(failures, block.Release())
	}
	return errors.Join(failures...)
}

// Trim releases the slices that were put in first until no more than keep bytes
// are cached, and returns how many it released.
func (p *Slices[T]) Trim(keep uint64) (released uint64, err error) {
	p.mu.Lock()
	before := p.stats.CachedBytes
	surplus := p.shrink(keep)
	released = before - p.stats.CachedBytes
	p.mu.Unlock()
	return released, release(surplus)
}

// Empty releases everything that is unused.
func (p *Slices[T]) Empty() error {
	_, err := p.Trim(0)
	return err
}

// Reclaim implements [memory.Reclaimer].
func (p *Slices[T]) Reclaim(_ context.Context, bytes uint64) (released uint64, err error) {
	p.mu.Lock()
	cached := p.stats.CachedBytes
	p.mu.Unlock()
	return p.Trim(cached - min(bytes, cached))
}

// Stats returns the figures of this moment.
func (p *Slices[T]) Stats() SlicesStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

// Close releases everything that is unused. What is put in afterwards is
// released as well. Closing twice returns an error that wraps resource.ErrClosed.
func (p *Slices[T]) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return fmt.Errorf("buckets: close pool of slices: %w", resource.ErrClosed)
	}
	p.closed = true
	surplus := p.shrink(0)
	p.mu.Unlock()
	p.remove()
	return release(surplus)
}
