package memory

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
)

// Stats are a manager's figures at one moment. Sizes are bytes as they were
// asked for, before any rounding by the resource.
type Stats struct {
	// Budget is the most that may be in use, InUse what is, Remaining what may
	// still be asked for. Requests in progress count against Remaining already.
	Budget, InUse, Remaining uint64
	// Peak is the most that was in use since the last ResetPeak.
	Peak uint64
	// Allocations and Frees count since the last ResetCounts, Failures the
	// requests that got no memory; Blocks is how many are held now.
	Allocations, Frees, Failures, Blocks uint64
	// External and ExternalBlocks are memory that other libraries own and this
	// manager has adopted. It is in no budget.
	External, ExternalBlocks uint64
	// Leaks counts blocks that were collected without having been released, and
	// DoubleReleases releases of what had been released before.
	Leaks, DoubleReleases uint64
	// Tags are the figures by tag, those that hold most first.
	Tags []TagStats
}

// String formats the figures on one line.
func (s Stats) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "in use %s of %s (%s %%), peak %s, %s allocations, %s frees",
		humanize.Bytes(s.InUse), humanize.Bytes(s.Budget), percent(s.InUse, s.Budget),
		humanize.Bytes(s.Peak), humanize.Comma(int64(s.Allocations)), humanize.Comma(int64(s.Frees)))
	if s.Failures > 0 {
		fmt.Fprintf(&b, ", %s failed", humanize.Comma(int64(s.Failures)))
	}
	if s.ExternalBlocks > 0 {
		fmt.Fprintf(&b, ", %s external in %s blocks", humanize.Bytes(s.External), humanize.Comma(int64(s.ExternalBlocks)))
	}
	if s.Leaks > 0 {
		fmt.Fprintf(&b, ", %s leaked", humanize.Comma(int64(s.Leaks)))
	}
	return b.String()
}

func percent(part, whole uint64) string {
	if whole == 0 {
		return "0.0"
	}
	return fmt.Sprintf("%.1f", 100*float64(part)/float64(whole))
}
