package join

import (
	"context"
	"math"

	choices "github.com/gpuframe/gpuframe/internal/op/strategy"
)

// This file has every number that tunes the package: thresholds between strategies, sizes of tables, and the limits of
// the kernels, which stand in the .cu files too. Each has its unit and the measurement that it comes from
// (docs/measurements/2026-11-28-strategies.md and 2026-11-28-groups-and-joins.md have those with a machine). "Not
// measured separately" is a number that was chosen by reasoning.

// tuning has the strategies that tests and benchmarks force for a call.
type tuning struct{ choices.Join }

func tuningOf(ctx context.Context) tuning { return tuning{choices.OfJoin(ctx)} }

// Which strategy finds the matches (choose.go).
const (
	// mostBuilt is the most rows of a build side that has a table: slots have numbers of 32 bits.
	mostBuilt = math.MaxInt32
	// measuredRows is the fewest rows of a side for which the range of integer keys of the build side is measured. For
	// fewer the kernel that measures costs more than a search in a hash table. Not measured separately.
	measuredRows = 1 << 13
	// placesPerRow is the most places for each row of the build side on a GPU, hostPlacesPerRow on the host. Those of a GPU
	// take up to a third more memory than a hash table, and one access instead of two or three. Those of the host take the
	// memory of its hash table, and the spans of repeated keys 64 bytes for each row more. Not measured separately.
	placesPerRow, hostPlacesPerRow = 2, 8
	// probesPerPlace is the fewest rows of the probe side for each place of a table of up to cachedPlaces places, whatever the
	// rows of the build side: to clear the places takes a small part of the time to look the rows up, and the L2 cache holds
	// them.
	probesPerPlace, cachedPlaces = 16, 4 << 20
	// mergeCached is the largest number of right rows for which an as-of join keeps the order of the left rows:
	// a block copies that number of rows to shared memory (as_of.cu). Not measured separately. With more the left words are sorted by digits of mergeDigit
	// bits until tileRightRows right rows are left for a tile: on an H100 10⁸ by 10⁸ rows take 21.0 ms, 7.9 of which
	// write the matches, and took 119 by searches.
	mergeCached   = 4096
	tileRightRows = mergeCached / 8
	mergeDigit    = 8
	// narrowedPairs is the fewest pairs of a cross join of which the bounds of the condition are searched, and narrowedRows
	// the fewest rows of each side: for fewer the sort takes longer, or more memory, than all pairs. Not measured separately.
	narrowedPairs, narrowedRows = 1 << 14, choices.FewestNarrowed
	// pairsPerNarrowedRow is the fewest pairs with equal keys for each row of both sides with which bounds are searched.
	pairsPerNarrowedRow = 8
)

// Tables (table.cuh, table.cu). Slots of four bytes: on an H200 10⁷ int64 keys are inserted in 0.42 ms and found in 0.27,
// with slots of 16 bytes in 0.81 and 0.33. One row for each thread was faster than two or four.
const (
	// headerBytes is the memory before the slots: struct Header, in which distinctOffset is the place of distinct, and from
	// word outcomeWord on the outcome of a first try to pair rows.
	headerBytes    = 64
	headerWords    = headerBytes / 8
	outcomeWord    = 4
	distinctOffset = 16
	// slotsPerRow is the number of slots for each row of a hash table of up to cachedSlots slots, which the L2 cache holds.
	// Larger tables have one and a half. A search for a key that is not there ends at an empty slot, and a warp waits for
	// the longest search of its 32: with 1.5 slots the kernels that probe issued instructions all the time, 850 for 32
	// rows, of which 9.6 threads took part (ncu, H200, 2026-11-30).
	slotsPerRow, cachedSlots = 4, 6 << 20
	// A table has a filter for fewestFiltered rows of the probe side or more, at least probesPerFiltered for each row of the
	// build side, of which there are at most mostFilteredBuild. A row of the build side has at least filterBitsPerRow bits, so
	// that one in eight other keys passes, and a filter 2^fewestFilterBits. On an H200 docs/measurements/2026-11-30-filters.md
	// has the figures; the limits are not measured separately.
	fewestFiltered, probesPerFiltered  = 1 << 18, 8
	filterBitsPerRow, fewestFilterBits = 8, 13
	mostFilteredBuild                  = 1 << 24
	// A join in the order of the left rows looks up fewestReversed right rows or more, at least rightPerLeft for each left row,
	// and sorts the pairs. Query 18 of TPC-H at scale factor 10 inserted 1.5·10⁷ right rows in 0.77 ms to look up 624 left ones.
	// The limits are not measured separately.
	fewestReversed, rightPerLeft = 1 << 20, 8
	// threads is the threads of a block, loopRows the rows of a thread of kernels that loop over many rows. Not measured
	// separately.
	threads  = 256
	loopRows = 4
	// fewRows is the most rows of a table that one block of fewThreads makes, and fewBytes that of its slots. Not measured
	// separately.
	fewRows, fewThreads = 4096, 1024
	fewBytes            = 4 * slotsPerRow * fewRows
)

// Pairs (pairing.cuh, pairs.cu).
const (
	// tilePairs is the number of pairs that a block of expand_pairs writes. Not measured separately.
	tilePairs = 2048
	// matchLoads is the most rows of a thread of kernels that pair rows. Fewer than loadRows rows have one a thread, so that
	// no thread looks for one row after the other while multiprocessors are idle. Not measured separately.
	matchLoads, loadRows = 8, 1 << 17
	// matchRows is the rows of a block with as many a thread.
	matchRows = threads * matchLoads
	// aloneRows is the most rows that one block of aloneThreads looks up and pairs: on an H200 a join of 1,000 by 1,000
	// rows takes 64.3 µs. The limit is not measured separately.
	aloneRows, aloneThreads = 2048, 1024
)

// As-of joins (as_of.cu). Not measured separately.
const (
	// mergeTile is the left rows that a block takes at a time, mergeBlocks the blocks of a multiprocessor: their shared
	// memory fits six times.
	mergeTile, mergeBlocks = 2048, 6
)

// Upper bounds of memory (estimate.go), in bytes. Those of the strategies stand beside these.
const (
	// fixedScratch covers the scratch memory that does not depend on the rows: plans of sorts, states of tiles, row counts.
	fixedScratch = 1 << 20
	// pairRow is that of each row of a result: both numbers, and the state of a gather.
	pairRow = 16
)
