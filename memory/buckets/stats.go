package buckets

import (
	"fmt"

	"github.com/dustin/go-humanize"
)

// Stats are the statistics of a [Resource]. Counters that change concurrently may be of
// slightly different moments. Sizes are those of the bins, after rounding up.
type Stats struct {
	// Hits counts requests served from a bin, Misses requests that no bin could serve.
	Hits, Misses uint64
	// Crossings counts the hits with memory freed by another stream.
	Crossings uint64
	// Direct counts requests above the largest bin. They are neither hits nor
	// misses.
	Direct uint64
	// Returns counts frees into a bin. Releases counts chunks that left a bin, or
	// bypassed it because the cache had no room.
	Returns, Releases uint64
	// Retries counts requests that emptied the cache because the upstream failed.
	Retries uint64
	// CachedBytes and CachedBlocks count the cached memory.
	CachedBytes, CachedBlocks uint64
	// InUseBytes and InUseBlocks count the memory that callers hold, including requests
	// in progress.
	InUseBytes, InUseBlocks uint64
	// UpstreamBytes is the memory allocated from the upstream: in use, cached, and
	// unused pieces of slabs.
	UpstreamBytes uint64
	// SlabIdle is the size of the unused pieces of slabs in bytes.
	SlabIdle uint64
}

// String formats the statistics on one line.
func (s Stats) String() string {
	return fmt.Sprintf("%s in use in %s blocks, %s cached in %s blocks, %s hits (%s across streams), %s misses, %s direct, %s returned, %s released",
		humanize.IBytes(s.InUseBytes), count(s.InUseBlocks), humanize.IBytes(s.CachedBytes), count(s.CachedBlocks),
		count(s.Hits), count(s.Crossings), count(s.Misses), count(s.Direct), count(s.Returns), count(s.Releases))
}

func count(n uint64) string { return humanize.Comma(int64(n)) }

// counts are the statistics of one lane. The lane's lock guards them.
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

// Stats returns the current statistics.
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
