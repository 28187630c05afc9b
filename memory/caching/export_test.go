package caching

import (
	"strconv"
	"testing"
)

// SkipFewAddresses skips a test of expandable segments on 32-bit platforms, which
// have no address range for all of the host's memory.
func SkipFewAddresses(t testing.TB, mode SegmentMode) {
	t.Helper()
	if mode == ExpandableSegments && strconv.IntSize == 32 {
		t.Skip("expandable segments need 64-bit addresses")
	}
}
