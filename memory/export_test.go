package memory

import (
	"strconv"
	"testing"
	"time"

	"github.com/gpuframe/gpuframe/memory/caching"
)

// SetClock replaces the clock of a tree of managers.
func SetClock(m *Manager, read func() time.Time) {
	m.tree.clock.start, m.tree.clock.read = read(), read
}

// SeparateEvents orders the events before it before those after it. Without it, events of one
// millisecond have no order if a goroutine's stack has moved between them, and with it the
// stripe that the goroutine uses.
func SeparateEvents(r *EventRing) { r.clock.exact() }

// SkipFewAddresses skips a test of expandable segments on 32-bit platforms, where the
// address space is too small for a range as large as the host's memory.
func SkipFewAddresses(t testing.TB, mode caching.SegmentMode) {
	t.Helper()
	if mode == ExpandableSegments && strconv.IntSize == 32 {
		t.Skip("expandable segments need 64-bit addresses")
	}
}

// StatsStop reads the statistics as Stats does, and returns the time for which it stopped
// allocations. Without a reading before, the figures may be in no cache.
func StatsStop(m *Manager, before bool) time.Duration {
	var read reading
	if before {
		m.read(&read)
	}
	begin := time.Now()
	m.tree.stripes.lockAll()
	m.read(&read)
	m.tree.stripes.unlockAll()
	return time.Since(begin)
}
