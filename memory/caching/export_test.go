package caching

import (
	"strconv"
	"testing"
)

// SkipFewAddresses skips a test of expandable segments on 32-bit platforms: a range of
// addresses for all of the host's memory does not exist there.
func SkipFewAddresses(t testing.TB, mode SegmentMode) {
	t.Helper()
	if mode == ExpandableSegments && strconv.IntSize == 32 {
		t.Skip("expandable segments need 64-bit addresses")
	}
}
