package spill

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
)

// Stats are a spiller's statistics at one moment.
type Stats struct {
	// Tables is the number of open tables, Spilled the number of those on the host.
	Tables, Spilled int
	// HostBytes is the host memory in use, including copies in progress, HostBudget
	// its maximum.
	HostBytes, HostBudget uint64
	// InFiles is the number of the spilled tables that are in a file, FileBytes their size there.
	InFiles   int
	FileBytes uint64
	// Spills and Restores count moves to the host and back, SpilledBytes and
	// RestoredBytes the copied bytes.
	Spills, Restores            uint64
	SpilledBytes, RestoredBytes uint64
	// SpillTime and RestoreTime are the times that callers spent on moves, without
	// the copies that AcquireOn does not wait for.
	SpillTime, RestoreTime time.Duration
	// Failures counts moves that failed for another reason than a full host budget,
	// for example a restore without room on the device.
	Failures uint64
	// Refusals counts, by reason, the tables that Reclaim could not move.
	Refusals Refusals
}

// Refusals are the reasons why tables were not moved to the host. If several apply,
// the first is counted.
type Refusals struct {
	// External counts tables with memory of another library.
	External uint64
	// Pinned counts tables with an acquired buffer that is not released.
	Pinned uint64
	// Exported counts tables with memory that another library holds.
	Exported uint64
	// Retained counts tables with memory that a view, a column or another table
	// holds.
	Retained uint64
	// Busy counts tables with unfinished work on their memory.
	Busy uint64
	// HostMemory counts tables for which the host budget is exhausted, or the host
	// has no memory to pin, and that are not written to files.
	HostMemory uint64
}

// Stats returns the current statistics.
func (s *Spiller) Stats() Stats {
	sweeping := s.returning.sweep()
	s.mu.Lock()
	if sweeping != nil {
		s.stats.Failures++
	}
	stats := s.stats
	s.mu.Unlock()
	stats.HostBytes, stats.HostBudget = s.host.Stats().InUse, s.host.Budget()
	return stats
}

// String formats the statistics on one line.
func (s Stats) String() string {
	line := fmt.Sprintf("%d of %d tables spilled, %s of %s on the host; %s spills of %s, %s restores of %s",
		s.Spilled, s.Tables, humanize.IBytes(s.HostBytes), humanize.IBytes(s.HostBudget),
		humanize.Comma(int64(s.Spills)), humanize.IBytes(s.SpilledBytes),
		humanize.Comma(int64(s.Restores)), humanize.IBytes(s.RestoredBytes))
	if s.InFiles > 0 {
		line += fmt.Sprintf("; %s of %d tables in a file", humanize.IBytes(s.FileBytes), s.InFiles)
	}
	if s.Failures > 0 {
		line += fmt.Sprintf(", %s failed", humanize.Comma(int64(s.Failures)))
	}
	return line
}
