package source

import (
	"context"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/objectstore"
)

// Counters count what the readers of a query have read and left out. Several readers
// may share them.
type Counters struct {
	// Files and RowGroups were read, at least in part. SkippedFiles and
	// SkippedRowGroups were left out because no row can meet the conditions. Blocks of host tables
	// count as row groups.
	Files, SkippedFiles, RowGroups, SkippedRowGroups atomic.Int64
	// SkippedByDictionary and SkippedByFilter of the SkippedRowGroups, or of those beyond
	// the limit of a request, are left out by dictionaries and by Bloom filters, SkippedByIndex by
	// page indices, the others by statistics and folders.
	SkippedByDictionary, SkippedByFilter, SkippedByIndex atomic.Int64
	// Pages and SkippedPages are those of columns in row groups of which page indices leave out rows:
	// pages that were read, and pages that were left out.
	Pages, SkippedPages atomic.Int64
	// MatchedValues are the values of dictionaries that conditions were evaluated on, MatchedRows the rows that were selected by
	// the codes of these values, and UnmatchedRows those of them of which no values were made.
	MatchedValues, MatchedRows, UnmatchedRows atomic.Int64
	// Rows and Bytes are those of the tables that were returned. FileBytes were read
	// from files, before decompression.
	Rows, Bytes, FileBytes atomic.Int64
	// Requests were sent to stores of objects, without those that failed and were repeated, and RequestBytes are their
	// bytes: also those of footers, and of gaps between neighbours.
	Requests, RequestBytes atomic.Int64
	// Hedges are second requests for ranges that took long, which Requests leave out. CachedReads needed no request, and
	// CachedBytes came from the cache on the local disk.
	Hedges, CachedReads, CachedBytes atomic.Int64
	// CacheFailure is the error of the disk because of which the cache is not used any more, of the reader that has met it.
	CacheFailure atomic.Pointer[error]
}

// request makes a request to a store for a number of bytes, and counts it.
func (c *Counters) request(ctx context.Context, bytes int64, send func(ctx context.Context) error) error {
	var tally objectstore.Tally
	err := send(objectstore.WithTally(ctx, &tally))
	cached := tally.CachedReads.Load()
	c.Requests.Add(1 - cached)
	c.RequestBytes.Add(bytes - tally.CachedBytes.Load())
	c.Hedges.Add(tally.Hedges.Load())
	c.CachedReads.Add(cached)
	c.CachedBytes.Add(tally.CachedBytes.Load())
	if failure := tally.CacheFailure(); failure != nil {
		c.CacheFailure.Store(&failure)
	}
	return err
}

// take moves what others have counted to the counters.
func (c *Counters) take(others *Counters) {
	c.Requests.Add(others.Requests.Swap(0))
	c.RequestBytes.Add(others.RequestBytes.Swap(0))
	c.Hedges.Add(others.Hedges.Swap(0))
	c.CachedReads.Add(others.CachedReads.Swap(0))
	c.CachedBytes.Add(others.CachedBytes.Swap(0))
	if failure := others.CacheFailure.Swap(nil); failure != nil {
		c.CacheFailure.Store(failure)
	}
}

// or returns the counters, or unused ones if c is nil.
func (c *Counters) or() *Counters {
	if c == nil {
		return new(Counters)
	}
	return c
}
