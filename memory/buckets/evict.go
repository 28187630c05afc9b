package buckets

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// makeRoom evicts one chunk: an old chunk that no work uses any more, or else the
// oldest chunk. It reports false if the cache is empty.
func (r *Resource) makeRoom() (room bool, err error) {
	type filledLane struct {
		lane   *lane
		oldest uint64
	}
	var filled []filledLane
	for _, l := range r.lanes.Load().all {
		if oldest := l.oldest.Load(); oldest != 0 {
			filled = append(filled, filledLane{l, oldest})
		}
	}
	slices.SortFunc(filled, func(a, b filledLane) int { return cmp.Compare(a.oldest, b.oldest) })
	for _, will := range []func(*chunk) bool{isFinished, isAny} {
		for _, f := range filled {
			if c := f.lane.evict(will); c != nil {
				r.cached.Add(-c.bytes)
				r.releases.Add(1)
				_, err := r.giveBack(c)
				return true, err
			}
		}
	}
	return false, nil
}

func isFinished(c *chunk) bool { return c.finished(nil) }

func isAny(*chunk) bool { return true }

// evict removes one of the oldest chunks that will accepts, or returns nil.
func (l *lane) evict(will func(*chunk) bool) *chunk {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.ages.search(will)
	if c != nil {
		l.remove(c)
	}
	return c
}

// Trim implements [resource.Trimmer]. Memory that work on the device still uses stays
// in the cache. A piece of a slab leaves the cache, but returns to the upstream, and
// counts in released, only when its slab is whole.
func (r *Resource) Trim(keep uint64) (released uint64, err error) {
	released, err = r.shrink(keep, isFinished)
	if err != nil {
		err = fmt.Errorf("buckets: trim: %w", err)
	}
	return released, err
}

// empty frees cached memory to the upstream before a request on the stream is retried.
// If the upstream frees in stream order, empty also frees memory that only the same
// stream still uses.
func (r *Resource) empty(stream *device.Stream) (released uint64, err error) {
	if r.idle != nil {
		return r.shrink(0, isFinished)
	}
	return r.shrink(0, func(c *chunk) bool { return c.finished(nil) || c.finished(stream) })
}

// Close implements [resource.Resource]. No allocation is possible afterwards. Memory in
// use stays valid and returns to the upstream when it is freed. Closing twice returns
// an error that wraps resource.ErrClosed.
//
// # Waiting
//
// Close waits if the upstream waits for the streams of the memory that it frees.
func (r *Resource) Close() error {
	if r.closed.Swap(true) {
		return fmt.Errorf("buckets: close resource: %w", resource.ErrClosed)
	}
	_, err := r.shrink(0, isAny)
	if r.idle != nil {
		err = errors.Join(err, r.idle.Close())
	}
	if err != nil {
		return fmt.Errorf("buckets: close resource: %w", err)
	}
	return nil
}

// shrink evicts the chunks that may accepts, the oldest first, until at most keep bytes
// are cached. It returns the number of bytes freed to the upstream.
func (r *Resource) shrink(keep uint64, may func(*chunk) bool) (released uint64, err error) {
	type candidate struct {
		lane  *lane
		chunk *chunk
		age   uint64
	}
	var all []candidate
	for _, l := range r.lanes.Load().all {
		l.mu.Lock()
		for place := l.ages.head; place != nil; place = place.next {
			all = append(all, candidate{l, place.element, place.element.age.Load()})
		}
		l.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(a.age, b.age) })
	// All chunks are taken before the first is freed: a free in stream order keeps its
	// stream busy, and the stream's other chunks would look as if work still used them.
	var evicted []*chunk
	for _, next := range all {
		if r.cached.Load() <= keep {
			break
		}
		next.lane.mu.Lock()
		// If the age has changed, another goroutine has taken the chunk, and may have
		// freed it again, possibly into another lane.
		taken := next.chunk.age.Load() == next.age && may(next.chunk)
		if taken {
			next.lane.remove(next.chunk)
		}
		next.lane.mu.Unlock()
		if taken {
			r.cached.Add(-next.chunk.bytes)
			r.releases.Add(1)
			evicted = append(evicted, next.chunk)
		}
	}
	var failures []error
	for _, c := range evicted {
		bytes, err := r.giveBack(c)
		released += bytes
		failures = append(failures, err)
	}
	swept, err := r.sweep()
	return released + swept, errors.Join(append(failures, err)...)
}

// giveBack returns a chunk, which is in no chain, to its slab or to the upstream. It
// returns the number of bytes freed to the upstream.
func (r *Resource) giveBack(c *chunk) (released uint64, err error) {
	if c.slab != nil {
		return r.rejoin(c)
	}
	return r.freeBelow(c.below, c.bytes, c)
}

// freeBelow frees an allocation of the upstream, ordered after the work of its chunks.
func (r *Resource) freeBelow(below resource.Allocation, bytes uint64, chunks ...*chunk) (uint64, error) {
	var further []*device.Stream
	add := func(stream *device.Stream) {
		if !stream.Equal(below.Stream) && !slices.ContainsFunc(further, stream.Equal) {
			further = append(further, stream)
		}
	}
	finished := true
	for _, c := range chunks {
		if r.idle == nil && c.lane.stream.Equal(below.Stream) {
			// The upstream orders the free after this stream.
			c.usesFinished(below.Stream)
		} else if !c.finished(nil) {
			finished = false
			add(c.lane.stream)
		}
		for _, u := range c.uses {
			add(u.stream)
		}
		c.drop()
	}
	if finished && r.idle != nil {
		below.Stream = r.idle
	}
	r.upstreamBytes.Add(-bytes)
	return bytes, r.upstream.Free(below, further)
}
