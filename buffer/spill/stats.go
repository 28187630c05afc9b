package spill

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
)

// Stats are a spiller's figures at one moment.
type Stats struct {
	// Tables counts those that are open, Spilled those of them that are on the
	// host.
	Tables, Spilled int
	// HostBytes is the host memory in use now, that of copies under way
	// included, HostBudget the most that may be.
	HostBytes, HostBudget uint64
	// Spills and Restores count moves to the host and back, SpilledBytes and
	// RestoredBytes what they carried.
	Spills, Restores            uint64
	SpilledBytes, RestoredBytes uint64
	// SpillTime and RestoreTime are how long callers spent on them. The copies
	// that AcquireOn does not wait for are not in it.
	SpillTime, RestoreTime time.Duration
	// Failures counts moves that failed for another reason than a full host
	// budget, such as restoring where the device has no room.
	Failures uint64
	// Refusals counts by reason how often a table was passed over when memory
	// was asked for.
	Refusals Refusals
}

// Refusals are the reasons for which tables are not moved to the host. Of several
// that hold the first is counted.
type Refusals struct {
	// External: another library owns some of the memory.
	External uint64
	// Pinned: a buffer that was acquired is not released yet.
	Pinned uint64
	// Exported: another library holds some of the memory.
	Exported uint64
	// Retained: a view, a column or another table holds some of the memory.
	Retained uint64
	// Busy: work on the memory is not done.
	Busy uint64
	// HostMemory: the host budget is used up, or the host has no memory to pin.
	HostMemory uint64
}

// Stats returns the figures of this moment.
func (s *Spiller) Stats() Stats {
	sweeping := s.returning.sweep()
	s.mu.Lock()
	if sweeping != nil {
		s.stats.Failures++
	}
	stats := s.stats
	s.mu.Unlock()
	host := s.host.Stats()
	stats.HostBytes, stats.HostBudget = host.InUse, host.Budget
	return stats
}

// String formats the figures on one line.
func (s Stats) String() string {
	line := fmt.Sprintf("%d of %d tables spilled, %s of %s on the host; %s spills of %s, %s restores of %s",
		s.Spilled, s.Tables, humanize.Bytes(s.HostBytes), humanize.Bytes(s.HostBudget),
		humanize.Comma(int64(s.Spills)), humanize.Bytes(s.SpilledBytes),
		humanize.Comma(int64(s.Restores)), humanize.Bytes(s.RestoredBytes))
	if s.Failures > 0 {
		line += fmt.Sprintf(", %s failed", humanize.Comma(int64(s.Failures)))
	}
	return line
}
