package source

import "sync/atomic"

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
	// Rows and Bytes are those of the tables that were returned. FileBytes were read
	// from files, before decompression.
	Rows, Bytes, FileBytes atomic.Int64
	// Requests were sent to stores of objects, without those that failed and were repeated, and RequestBytes are their
	// bytes: also those of footers, and of gaps between neighbours.
	Requests, RequestBytes atomic.Int64
}

// or returns the counters, or unused ones if c is nil.
func (c *Counters) or() *Counters {
	if c == nil {
		return new(Counters)
	}
	return c
}
