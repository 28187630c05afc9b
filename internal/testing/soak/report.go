package soak

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/memory"
)

// Report is the result of a run.
type Report struct {
	Elapsed time.Duration
	// Allocations, Writes, Checks and Frees count blocks. Each counts as one operation.
	Allocations, Writes, Checks, Frees uint64
	// Bytes is the number of allocated bytes, CheckedBytes of those compared with a
	// pattern.
	Bytes, CheckedBytes uint64
	// Crossings counts the writes and checks that were ordered after work on another
	// stream, Handovers the blocks that were passed to another goroutine.
	Crossings, Handovers uint64
	// Failures counts the failed allocations.
	Failures uint64
	// Trims counts the calls of Trim, TrimmedBytes the bytes that they freed.
	Trims, TrimmedBytes uint64
	// Mismatches counts the words with wrong values.
	Mismatches uint64
	// Memory is the manager's statistics at the end of the work.
	Memory memory.Stats
}

// Operations returns the number of operations.
func (r Report) Operations() uint64 { return r.Allocations + r.Writes + r.Checks + r.Frees }

// String formats the figures on one line.
func (r Report) String() string {
	count := func(n uint64) string { return humanize.Comma(int64(n)) }
	return fmt.Sprintf("%s operations in %.2f s: %s allocations of %s with %s failures, %s writes, %s checks of %s, "+
		"%s crossings, %s handovers, %s trims of %s, peak %s: %s mismatches",
		count(r.Operations()), r.Elapsed.Seconds(), count(r.Allocations), humanize.IBytes(r.Bytes), count(r.Failures),
		count(r.Writes), count(r.Checks), humanize.IBytes(r.CheckedBytes), count(r.Crossings), count(r.Handovers),
		count(r.Trims), humanize.IBytes(r.TrimmedBytes), humanize.IBytes(r.Memory.Peak), count(r.Mismatches))
}

// add adds the counts of one goroutine.
func (r *Report) add(other Report) {
	r.Allocations += other.Allocations
	r.Writes += other.Writes
	r.Checks += other.Checks
	r.Frees += other.Frees
	r.Bytes += other.Bytes
	r.Crossings += other.Crossings
	r.Handovers += other.Handovers
	r.Failures += other.Failures
	r.Trims += other.Trims
	r.TrimmedBytes += other.TrimmedBytes
}
