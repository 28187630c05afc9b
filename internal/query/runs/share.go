package runs

import (
	"time"

	"github.com/gpuframe/gpuframe/internal/query/exec"
)

const (
	// usualRows is the number of rows of a batch by the choice of most sources.
	usualRows = 1 << 20
	// largestShare is the part of the budget, as a divisor, that one query asks for: others can run
	// next to it.
	largestShare = 2
	// patience is the time without any begin or end of a query after which one that waits for its share
	// is admitted with less: a query that runs may read the rows of one that waits.
	patience = 10 * time.Second
)

func stalled() <-chan time.Time { return time.After(patience) }

// shareOf returns the memory that a query is expected to use, at most its share of a budget, and the
// largest number of rows of a batch with which it suffices.
func shareOf(needs exec.Needs, budget uint64, batchRows int64) (expected uint64, most int64) {
	share := max(budget/largestShare, needs.Smallest)
	if batchRows == 0 {
		batchRows = usualRows
	}
	expected = needs.Expected(min(batchRows, needs.BatchRows(share)))
	if expected > share {
		return share, needs.BatchRows(share)
	}
	return expected, needs.BatchRows(budget)
}
