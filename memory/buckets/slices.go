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
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// SlicesOptions configure [Slices]. The zero value is right for most programs.
type SlicesOptions struct {
	// Multiple is the number of elements that block lengths are rounded up to a
	// multiple of. Zero means 256.
	Multiple int
	// CacheBytes is the limit of unused slices in bytes. Zero means a quarter of the
	// manager's budget.
	CacheBytes uint64
	// SameStream restricts Take to slices of the requested stream. Otherwise Take may
	// return a slice of another stream, and makes the requested stream wait, on the
	// device, for the work on it.
	SameStream bool
}

const elementsMultiple = 256

// Slices is a pool of typed slices of a manager. Take returns a slice that was put in
// with the same rounded length, preferably the one put in last. It is safe for
// concurrent use.
//
// Unused slices stay in the manager's budget. The pool registers as a reclaimer and
// releases them when the manager is short of memory. Close the pool before its manager.
type Slices[T memory.Element] struct {
	manager *memory.Manager
	options SlicesOptions
	width   uint64
	remove  func()

	mu     sync.Mutex
	closed bool
	// shelves holds the unused blocks by key and stream.
	shelves map[sliceKey][]*sliceShelf
	// ages holds all unused blocks, the oldest first.
	ages  chain[unused]
	stats SlicesStats
	// spare holds records for reuse.
	spare chain[unused]
}

// sliceKey identifies blocks that can replace each other. It includes the tag to keep
// the manager's statistics by tag correct.
type sliceKey struct {
	length int
	tag    string
}

// sliceShelf holds the blocks of one key and one stream, the oldest first.
type sliceShelf struct {
	stream *device.Stream
	blocks chain[unused]
}

// unused is a block in the pool and its links.
type unused struct {
	block          *memory.Block
	key            sliceKey
	shelf          *sliceShelf
	inShelf, inAge link[unused]
	// returned numbers the blocks in the order of Put.
	returned uint64
}

// SlicesStats are the statistics of a [Slices] at one moment.
type SlicesStats struct {
	// Hits counts requests served from the pool, Misses requests passed to the manager.
	// Requests for zero elements count in neither.
	Hits, Misses uint64
	// Crossings counts the hits with a slice that belongs to another stream.
	Crossings uint64
	// Returns counts slices that were put in and kept. Releases counts slices that were
	// released to make room or because they cannot be kept.
	Returns, Releases uint64
	// CachedBytes and CachedSlices count the unused slices in the pool.
	CachedBytes, CachedSlices uint64
}

// NewSlices returns a pool of the manager's slices. The caller closes it.
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

// Take returns a slice of n elements, which may be zero. Their values are undefined.
// The caller puts the slice back or releases it. Its block is longer if n is not a
// multiple of SlicesOptions.Multiple. The block may belong to another stream than the
// requested one: pass the stream explicitly to operations on the slice.
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
		// Its previous holder may have used it on other streams.
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

// take removes a block from the pool, or returns nil if no block fits.
func (p *Slices[T]) take(key sliceKey, stream *device.Stream) (*memory.Block, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fmt.Errorf("buckets: take %d elements: pool of slices: %w", key.length, resource.ErrClosed)
	}
	for {
		match := p.find(key, stream)
		if match == nil {
			p.stats.Misses++
			return nil, nil
		}
		crosses := !match.shelf.stream.Equal(stream)
		block := p.takeOut(match)
		if block.References() == 0 {
			continue // released by a caller that no longer owned it
		}
		p.stats.Hits++
		if crosses {
			p.stats.Crossings++
		}
		return block, nil
	}
}

// find returns a block for the key, or nil. From the requested stream it returns the
// block put in last, from other streams the one put in first, because its work has most
// likely completed. The caller holds the lock.
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

// takeOut removes a block from its chains and recycles its record. Empty shelves stay,
// because they are likely to be filled again. The caller holds the lock.
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

// record returns an empty record that is in no chain.
func (p *Slices[T]) record() *unused {
	if u := p.spare.last(); u != nil {
		p.spare.remove(&u.inAge)
		return u
	}
	u := &unused{}
	u.inShelf.element, u.inAge.element = u, u
	return u
}

// Put takes over the caller's reference to the slice's block. It keeps the block if no
// other reference exists and Take could have made the block; otherwise it releases the
// block. All work on the block must have been recorded, which every operation of
// gpuframe does. Neither the slice nor a view of its block may be used afterwards.
//
// # Errors
//
// An error that wraps memory.ErrReleased if the slice was released before; one that
// wraps memory.ErrView if it is a view.
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
	return release.All(surplus)
}

// keyOf returns the key of a block, and whether the pool may keep the block. An
// exported block has more than one reference.
func (p *Slices[T]) keyOf(block *memory.Block) (key sliceKey, ok bool) {
	bytes := block.Bytes()
	step := uint64(p.options.Multiple) * p.width
	if block.Manager() != p.manager || block.External() || block.ReadOnly() || block.References() != 1 ||
		bytes == 0 || bytes%step != 0 || bytes > p.options.CacheBytes {
		return sliceKey{}, false
	}
	return sliceKey{int(bytes / p.width), block.Tag()}, true
}

// keep adds a block and returns the blocks that the caller must release to make room.
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

// mostEmptyKeys is the number of keys without blocks that the pool tolerates.
const mostEmptyKeys = 64

// filled returns the shelves that have blocks.
func filled(shelves []*sliceShelf) []*sliceShelf {
	return slices.DeleteFunc(shelves, func(s *sliceShelf) bool { return s.blocks.first() == nil })
}

// shrink removes the oldest blocks until at most keep bytes are cached. The caller
// holds the lock, and releases the returned blocks after unlocking.
func (p *Slices[T]) shrink(keep uint64) (surplus []*memory.Block) {
	for p.stats.CachedBytes > keep {
		surplus = append(surplus, p.takeOut(p.ages.first()))
		p.stats.Releases++
	}
	return surplus
}

// Trim releases the slices that were put in first until at most keep bytes are cached,
// and returns the number of bytes released.
func (p *Slices[T]) Trim(keep uint64) (released uint64, err error) {
	p.mu.Lock()
	before := p.stats.CachedBytes
	surplus := p.shrink(keep)
	released = before - p.stats.CachedBytes
	p.mu.Unlock()
	return released, release.All(surplus)
}

// Empty releases all unused slices.
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

// Stats returns the current statistics.
func (p *Slices[T]) Stats() SlicesStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

// Close releases all unused slices. Slices that are put in afterwards are released
// immediately. Closing twice returns an error that wraps resource.ErrClosed.
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
	return release.All(surplus)
}
