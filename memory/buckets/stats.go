package buckets

import (
	"fmt"

	"github.com/dustin/go-humanize"
)

// Stats are the figures of a [Resource] at one moment. Figures that other
// goroutines change meanwhile may be of slightly different moments. Bytes are
// those of the bins, after rounding up.
type Stats struct {
	// Hits counts requests that a bin answered, Misses those that it could not.
	Hits, Misses uint64
	// Crossings counts the hits with memory that another stream had freed.
	Crossings uint64
	// Direct counts requests above the largest bin. They are neither hits nor
	// misses.
	Direct uint64
	// Returns counts what was freed into a bin, Releases what was given back
	// from a bin, or past it for want of room in the cache.
	Returns, Releases uint64
	// Retries counts requests for which the cache was emptied because the
	// upstream had no memory.
	Retries uint64
	// CachedBytes and CachedBlocks are what is freed and kept now.
	CachedBytes, CachedBlocks uint64
	// InUseBytes and InUseBlocks are what callers hold now, requests in progress
	// included.
	InUseBytes, InUseBlocks uint64
	// UpstreamBytes is what the upstream has been asked for and not been given
	// back: what is cached and in use, and the unused pieces of slabs.
	UpstreamBytes uint64
	// SlabIdle are the unused pieces of slabs of which another piece is cached
	// or in use.
	SlabIdle uint64
}

// String formats the figures on one line.
func (s Stats) String() string {
	return fmt.Sprintf("%s in use in %s blocks, %s cached in %s blocks, %s hits (%s across streams), %s misses, %s direct, %s returned, %s released",
		humanize.Bytes(s.InUseBytes), count(s.InUseBlocks), humanize.Bytes(s.CachedBytes), count(s.CachedBlocks),
		count(s.Hits), count(s.Crossings), count(s.Misses), count(s.Direct), count(s.Returns), count(s.Releases))
}

func count(n uint64) string { return humanize.Comma(int64(n)) }

// counts are the figures of one lane; its lock guards them.
type counts struct {
	hits, misses, crossings, direct, returns uint64
	inUseBytes, inUseBlocks, cachedBlocks    uint64
}

func (c counts) addTo(s *Stats) {
	s.Hits += c.hits
	s.Misses += c.misses
	s.Crossings += c.crossings
	s.Direct += c.direct
	s.Returns += c.returns
	s.InUseBytes += c.inUseBytes
	s.InUseBlocks += c.inUseBlocks
	s.CachedBlocks += c.cachedBlocks
}

// Stats returns the figures of this moment.
func (r *Resource) Stats() Stats {
	r.directoryLock.Lock()
	s := r.retired
	lanes := r.lanes.Load().all
	for _, l := range lanes {
		l.mu.Lock()
		l.counts.addTo(&s)
		l.mu.Unlock()
	}
	r.directoryLock.Unlock()
	s.CachedBytes = r.cached.Load()
	s.Releases = r.releases.Load()
	s.Retries = r.retries.Load()
	s.UpstreamBytes = r.upstreamBytes.Load()
	s.SlabIdle = r.slabIdle.Load()
	return s
}
