package buckets

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/gpuframe/gpuframe/memory/resource"
)

// slab is an upstream allocation that is cut into pieces of one bin.
type slab struct {
	pieces []*chunk
	// unused counts the pieces that are neither cached nor in use. The bin's lock
	// guards it.
	unused int
}

// slabs holds the unused pieces of each bin.
type slabs struct {
	bins []slabBin
}

// slabBin holds the unused pieces of one bin, grouped by the lane that has freed them
// or for which they were cut.
type slabBin struct {
	mu     sync.Mutex
	unused map[*lane]*chain[chunk]
	// unfinished are whole slabs that could not be freed without a wait. Their pieces
	// are still in unused.
	unfinished []*slab
}

// put adds a piece. A piece that other streams have used goes to the end, so that the
// search reaches the other pieces first.
func (b *slabBin) put(c *chunk) {
	if b.unused == nil {
		b.unused = make(map[*lane]*chain[chunk])
	}
	pieces := b.unused[c.lane]
	if pieces == nil {
		pieces = &chain[chunk]{}
		b.unused[c.lane] = pieces
	}
	if len(c.uses) == 0 {
		pieces.prepend(&c.inBin)
	} else {
		pieces.append(&c.inBin)
	}
	c.slab.unused++
}

func (b *slabBin) remove(c *chunk) {
	pieces := b.unused[c.lane]
	pieces.remove(&c.inBin)
	if pieces.first() == nil {
		delete(b.unused, c.lane)
	}
	c.slab.unused--
}

// find removes a piece that the lane's stream may use, or returns nil.
func (b *slabBin) find(l *lane) *chunk {
	finished := func(c *chunk) bool { return c.finished(l.stream) }
	if own := b.unused[l]; own != nil {
		if c := own.search(finished); c != nil {
			b.remove(c)
			return c
		}
	}
	for other, pieces := range b.unused {
		if other == l {
			continue
		}
		if c := pieces.search(finished); c != nil {
			b.remove(c)
			return c
		}
		markFirst(pieces)
	}
	return nil
}

// cut returns an unused piece. It allocates a slab if no piece is available.
func (r *Resource) cut(ctx context.Context, l *lane, bin int, size uint64) (*chunk, error) {
	b := &r.slabs.bins[bin]
	b.mu.Lock()
	c := b.find(l)
	b.mu.Unlock()
	if c != nil {
		r.slabIdle.Add(-size)
		return c, nil
	}
	total := r.options.SlabBytes
	below, err := resource.AllocateFrom(ctx, r.upstream, total, l.stream)
	if err != nil {
		return nil, err
	}
	r.upstreamBytes.Add(total)
	s := &slab{}
	for offset := uint64(0); offset < total; offset += size {
		c := r.newChunk(below.Pointer.Add(offset), size, bin, l)
		c.below, c.slab = below, s
		s.pieces = append(s.pieces, c)
	}
	r.slabIdle.Add(total - size)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range s.pieces[1:] {
		b.put(c)
	}
	return s.pieces[0], nil
}

// rejoin adds a piece to the unused ones, and frees its slab if the slab is whole.
func (r *Resource) rejoin(c *chunk) (released uint64, err error) {
	b, s := &r.slabs.bins[c.bin], c.slab
	r.slabIdle.Add(c.bytes)
	b.mu.Lock()
	b.put(c)
	whole := b.collect(s, r.idle == nil || r.closed.Load())
	b.mu.Unlock()
	return r.freeSlab(s, whole)
}

// collect removes the pieces of a slab if it is whole and may be freed now. If the
// upstream would wait for work on a piece, the slab stays in unfinished.
func (b *slabBin) collect(s *slab, evenUnfinished bool) (whole bool) {
	if s.unused < len(s.pieces) {
		return false
	}
	if !evenUnfinished {
		for _, c := range s.pieces {
			if c.finished(nil) {
				continue
			}
			if !slices.Contains(b.unfinished, s) {
				b.unfinished = append(b.unfinished, s)
			}
			return false
		}
	}
	for _, c := range s.pieces {
		b.remove(c)
	}
	return true
}

// sweep frees the slabs in unfinished that have become idle.
func (r *Resource) sweep() (released uint64, err error) {
	var failures []error
	for i := range r.slabs.bins {
		b := &r.slabs.bins[i]
		b.mu.Lock()
		left := b.unfinished
		b.unfinished = nil
		left = slices.DeleteFunc(left, func(s *slab) bool { return !b.collect(s, r.idle == nil || r.closed.Load()) })
		b.mu.Unlock()
		for _, s := range left {
			bytes, err := r.freeSlab(s, true)
			released += bytes
			failures = append(failures, err)
		}
	}
	return released, errors.Join(failures...)
}

func (r *Resource) freeSlab(s *slab, whole bool) (uint64, error) {
	if !whole {
		return 0, nil
	}
	r.slabIdle.Add(-r.options.SlabBytes)
	return r.freeBelow(s.pieces[0].below, r.options.SlabBytes, s.pieces...)
}
