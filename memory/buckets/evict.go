package buckets

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// makeRoom puts one chunk out of the cache: the oldest of a lane whose work is
// done, or else the oldest of all. It reports false where there is none.
func (r *Resource) makeRoom() (made bool, err error) {
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

// evict takes out one of the oldest chunks, if any will do.
func (l *lane) evict(will func(*chunk) bool) *chunk {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.ages.search(will)
	if c != nil {
		l.remove(c)
	}
	return c
}

// Trim implements [resource.Trimmer]. What is still being used by work on the
// device stays in the cache. Pieces of slabs leave the cache but reach the
// upstream, and the sum that is returned, when their slab is whole.
func (r *Resource) Trim(keep uint64) (released uint64, err error) {
	released, err = r.shrink(keep, isFinished)
	if err != nil {
		err = fmt.Errorf("buckets: trim: %w", err)
	}
	return released, err
}

// empty makes room in the upstream for a request on the stream. Above an upstream
// that frees in stream order, what the stream itself still uses goes as well.
func (r *Resource) empty(stream *device.Stream) (released uint64, err error) {
	if r.idle != nil {
		return r.shrink(0, isFinished)
	}
	return r.shrink(0, func(c *chunk) bool { return c.finished(nil) || c.finished(stream) })
}

// Close implements [resource.Resource]. Nothing may be allocated any more; what is
// in use stays valid and goes to the upstream when it is freed. Above an upstream
// that waits for the streams of what it frees, so does Close. Closing twice
// returns an error that wraps resource.ErrClosed.
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

// shrink puts those chunks out of the cache that may go, the oldest first, until
// no more than keep bytes are cached. It returns how many bytes the upstream got.
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
			all = append(all, candidate{l, place.of, place.of.age.Load()})
		}
		l.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(a.age, b.age) })
	var failures []error
	for _, next := range all {
		if r.cached.Load() <= keep {
			break
		}
		next.lane.mu.Lock()
		// Another age says that somebody has taken it meanwhile, and perhaps
		// freed it again, perhaps into another lane.
		taken := next.chunk.age.Load() == next.age && may(next.chunk)
		if taken {
			next.lane.remove(next.chunk)
		}
		next.lane.mu.Unlock()
		if !taken {
			continue
		}
		r.cached.Add(-next.chunk.bytes)
		r.releases.Add(1)
		bytes, err := r.giveBack(next.chunk)
		released += bytes
		failures = append(failures, err)
	}
	swept, err := r.sweep()
	return released + swept, errors.Join(append(failures, err)...)
}

// giveBack returns a chunk, which is in no chain, to where it came from, and how
// many bytes the upstream got.
func (r *Resource) giveBack(c *chunk) (released uint64, err error) {
	if c.slab != nil {
		return r.rejoin(c)
	}
	return r.freeBelow(c.below, c.bytes, c)
}

// freeBelow frees what the upstream has handed out, in order with the work of
// the chunks that lay in it.
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
			// The upstream orders the free after this stream anyway.
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
