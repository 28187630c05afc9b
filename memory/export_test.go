package memory

import (
	"strconv"
	"testing"
	"time"

	"github.com/gpuframe/gpuframe/memory/caching"
)

// SetClock has a tree of managers take the time from elsewhere.
func SetClock(m *Manager, read func() time.Time) {
	m.tree.clock.start, m.tree.clock.read = read(), read
}

// SkipFewAddresses skips a test of expandable segments on 32-bit platforms: a range of
// addresses for all of the host's memory does not exist there.
func SkipFewAddresses(t testing.TB, mode caching.SegmentMode) {
	t.Helper()
	if mode == ExpandableSegments && strconv.IntSize == 32 {
		t.Skip("expandable segments need 64-bit addresses")
	}
}
