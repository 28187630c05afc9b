package group

import (
	"context"
	"math"

	"github.com/gpuframe/gpuframe/column"
	choices "github.com/gpuframe/gpuframe/internal/op/strategy"
)

// This file has every number that tunes the package: thresholds between strategies, sizes of tables, and the limits of
// the kernels, which stand in the .cu files too. Each has its unit and the measurement that it comes from
// (docs/measurements/2026-11-28-strategies.md and 2026-11-28-groups-and-joins.md have those with a machine). "Not
// measured separately" is a number that was chosen by reasoning.

// tuning has the numbers that tests and benchmarks may set for a call, and the strategies that they force. The others are
// those of this file.
type tuning struct{ choices.Group }

// The parts of strategies that a call can do without.
const (
	queues           = choices.Queues
	derivedMarks     = choices.DerivedMarks
	linearTiles      = choices.LinearTiles
	highHalves       = choices.HighHalves
	plainMoves       = choices.PlainMoves
	sortedPartitions = choices.SortedPartitions
	fusedExpressions = choices.FusedExpressions
)

// tuningOf returns the tuning of a call.
func tuningOf(ctx context.Context) tuning {
	t := choices.OfGroup(ctx)
	for _, number := range []struct {
		to    *int
		usual int
	}{
		{&t.MeasuredRows, unwaited + 1}, {&t.TextRows, unwaited + 1}, {&t.MaskedRows, maskedRows},
		{&t.MoveRows, moveKernels[0].items}, {&t.DigitBits, mostDigitBits}, {&t.PartitionThreads, partitionThreads}, {&t.SortedRows, fewestSorted},
	} {
		if *number.to == 0 {
			*number.to = number.usual
		}
	}
	return tuning{t}
}

// Which strategy finds the groups (choose.go).
const (
	// unwaited is the rows up to which the memory of a result is that of the rows, so the host does not wait for ranges
	// of keys or the number of groups. Not measured separately.
	unwaited = 1 << 16
	// mostAggregatedRows is the rows that one launch groups and aggregates: on an H200 a sum of 1,000 rows takes 30.7 µs
	// instead of 74.0.
	mostAggregatedRows = 4096
	// mostDensePlaces is the combinations of keys that have states in global memory: the result has room for all of them.
	// Not measured separately.
	mostDensePlaces = unwaited
	// fewestPartitioned is the combinations of keys from which on rows move to partitions, partitionedPerRow the most of
	// them for each row. Not measured separately.
	fewestPartitioned = 1 << 12
	partitionedPerRow = 4
	// fewestHashedRows is the rows from which on the number of groups is estimated, to choose partitions by hashes. Fewer
	// rows are not added by tiles either. Not measured separately.
	fewestHashedRows = fewestTiledRows
	// maskedRows is the rows from which on a GPU counts those that meet a condition, and masks the others: fewer are
	// copied in the time of the wait for the count. Not measured separately.
	maskedRows = 1 << 20
	// mostPlaces is the largest range of integers, or of packed keys, that a table with a place for each numbers, instead
	// of a hash table. Its 8 bytes for each place are 8 MiB. On an H100 10⁸ rows take 0.4 ms, by the hash table 17.
	mostPlaces = 1 << 20
	// mostFewRows is the rows that one block numbers with a hash table in shared memory. The launches of the hash table
	// in global memory would take several times as long. Not measured separately.
	mostFewRows = 2048
)

// Which strategy adds rows to the states of groups.
const (
	// fewestTiledRows is the rows from which on tiles, and records, are worth their launches. Not measured separately.
	fewestTiledRows = 1 << 18
	// mostRowsBefore and mostPlacesBefore are the most rows of a table, and of combinations of its keys, of which the ranges
	// before a filter are taken for those of the filtered rows. A pass over all rows of a larger table is not worth the
	// wait of 20 µs that it saves, and tables of more places take longer than those of the places of the filtered rows.
	mostRowsBefore   = 1 << 22
	mostPlacesBefore = 1 << 10
	// mostTiledPlaces is the places up to which tiles add up dense keys, in slices with queues above mostDensePlaces. On
	// an H100 2²⁷ rows take 1.93 ms with 2¹⁷ groups; in another run partitions took 3.70 and records 4.69.
	mostTiledPlaces = 1 << 17
	// mostSlices is the slices of the groups, of which each reads all rows, and mostTilePasses those of all launches, up
	// to which records and partitions take longer. With queues a slice counts as half (mostQueuedSlices). Not measured
	// separately.
	mostSlices, mostTilePasses, mostQueuedSlices = 4, 6, 8
	// mostValueSlices is the slices of the groups, each of which computes the expressions of all rows. Not measured
	// separately.
	mostValueSlices = 2
	// mostRecordBytes is the size of all records. On an H200 sums of 2²⁷ float64 take 2.8 ms with records of 16 MiB, and
	// 4.0 ms with 32 MiB, for which partitions take less.
	mostRecordBytes = 20 << 20
	// mostRecordLaunches is the launches, each of which reads all keys, up to which partitions take longer. Not measured
	// separately.
	mostRecordLaunches = 2
	// fewestRecorded is the groups from which on records are preferred to partitions, from fewestUnrecordedRows on. With
	// fewer groups additions to one record wait for each other: on an H100 sums of 2²⁷ float64 take 3.96 ms with 2¹⁷
	// records and 3.18 ms with 2¹⁸.
	fewestRecorded       = 1 << 18
	fewestUnrecordedRows = 1 << 22
)

// Which strategy finds the values of a group.
const (
	// fewestSelected is the rows, and fewestSelectedOfGroup those for each group, from which on quantiles are selected
	// without a sort. On an H100 2²⁷ rows of 100 groups take 2.58 ms instead of 15.2, of 10⁵ groups 9.34 instead of 15.7.
	fewestSelected, fewestSelectedOfGroup = 1 << 21, 1 << 10
	// fewestTopped is the rows above which the largest values are found without a sort, at most mostTops of a group. On
	// an H100 q8 of db-benchmark takes 9.8 ms instead of 24.4 at 10⁸ rows. The limit is not measured separately.
	fewestTopped = unwaited
	mostTops     = 8
)

// Tiles (tiles.cu, tile_slices.cu, tile_columns.cu, tile_values.cu).
const (
	// tileThreads is the threads of a block, of which a multiprocessor has one, and tileRows the rows of a thread.
	tileThreads = 1024
	tileRows    = 4
	// tileReserve is the bytes of shared memory that the system and the arguments take from a block.
	tileReserve = 4 << 10
	// spareSlots is the slots for rows of no group, one for each lane.
	spareSlots = 32
	// queueBytes is the shared memory of the queues of a block, and mostQueuedSlots the slots that their entries have room
	// for. With queues a slice takes about half of the time of others: on an H100 2¹⁶ groups take 1.26 ms, without
	// queues 1.80.
	queueBytes      = 4 * (64 + 32*tileRows) * (tileThreads / 32)
	mostQueuedSlots = 1<<15 - mostHotGroups
	// mostHotGroups is the groups that have a slot in each block for each lane, hotSlots the slots of these.
	mostHotGroups = 4
	hotSlots      = 32 * mostHotGroups
	// valueBytes is the bytes that a thread loads before it computes, or one row of more. mostRowBytes limits the bytes
	// of a row, which are in registers. Not measured separately.
	valueBytes   = 64
	mostRowBytes = 128
	// kernelBytes is the size of the parameters of a kernel, valueParameters that of the ones before the arguments of the
	// expressions.
	kernelBytes     = 4096
	valueParameters = 5*8 + 10*4 + mostReaders*(10*4+3*32+4*8)
	// powerWords is the words of 32 bits of a sum of products, powerBytes the size of a slot with its top.
	powerWords = 5
	powerBytes = 4*powerWords + 1
	// mostPowerRows is the rows of a block with a sum that fits the words: a product is at most 2¹³⁶ units of the lowest bit
	// that is kept.
	mostPowerRows = 1<<23 - 1
)

// Fixed-point sums of floats (fixed_point.go).
const (
	windowWords   = 3
	windowThreads = 1024
	// foldThreads is the threads of a block that completes sums, foldBlocks those of a multiprocessor.
	foldThreads, foldBlocks = 256, 4
	// valueSamples is the values of an expression that choose a window (tile_values.cu and choose_windows).
	valueSamples  = 2048
	sampleThreads = 256
	// windowBytes is the size of a struct Window, overflowedByte the place of its flag, and presentByte that of a word behind
	// its fields, in which settle_sums counts.
	windowBytes, overflowedByte, presentByte = 32, 12, 20
	// outsideBytes is the size of a value outside the window. One of outsideShare rows may be listed, fewestOutside at
	// least. Not measured separately.
	outsideBytes, outsideShare, fewestOutside = 16, 256, 256
	// widestSpan is the exponents that keep a window in two bins.
	widestSpan = binBits - 1
)

// Records (records.cu).
const (
	// mostRecordWords is the words of 64 bits of a record.
	mostRecordWords = 8
	// frequentSlots is the groups of which each block has records, in some copies.
	frequentSlots, frequentCopies = 128, 4
	// recordFoldThreads is the threads of a block that makes states of records, recordFoldBlocks those of a multiprocessor.
	recordFoldThreads, recordFoldBlocks = 256, 8
)

// Slots (accumulate.cu), results (finish.cu), and other kernels that loop over rows.
const (
	aggregateThreads = 256
	// residentBlocks is the blocks that the registers of a multiprocessor of the largest devices allow.
	residentBlocks = 4
	// sharedWords is the length of the slots of a block: 48 KiB, the most that every GPU has without a request. Four
	// blocks fit on a multiprocessor of current GPUs.
	sharedWords = 48 << 10 / 8
	// mostCopies is the copies of a slot.
	mostCopies  = 32
	warpThreads = 32
	// blockRows is the rows that the host loads at a time.
	blockRows = 512
)

// Dense keys and partitions (partition.cuh, partition.cu, partition_groups.cu).
const (
	mostPartitioned = 1 << 28 // places

	partitionThreads = 512
	countedRows      = partitionThreads * 8
	compactThreads   = 256
	mostDigitBits    = 9
	// usualDigitBits is the bits of one pass, if two passes or larger partitions avoid more: shorter runs of rows write
	// more lines of memory twice. 2²⁷ rows by 10⁶ keys took 3.37 ms with partitions of 2¹² keys, 4.65 with 2¹⁰.
	usualDigitBits = 8
	decimalWords   = 5
	// partitionReserve is the bytes of shared memory that the system takes from a block.
	partitionReserve = 2 << 10
	// mostPlaceBits is the logarithm of the places of a partition: rows have 16 bits for them.
	mostPlaceBits = 16
	// fewestSorted is the rows from which on a key of unknown order is tested for descents. The host waits for the result,
	// about 20 µs; the test ends at the first descent. sortedRows is the rows that a block of partition_sorted.cu loads. Not
	// measured separately.
	fewestSorted, sortedRows = 1 << 22, partitionThreads * 4
	// fewestChunkedRows is the rows of a partition that several blocks share, at least. Not measured separately.
	fewestChunkedRows = 4096
	// noWord is the word of a count that is not kept.
	noWord = -1
)

// Partitions by hashes (partition_hash.cu) and the estimate that chooses them (sketch.cu).
const (
	hashThreads = 512
	// Tables are full to two thirds, of groupsPerTable keys for placesPerTable slots, if the estimate is right, and as it
	// is rounded to a power of two mostly less. Not measured separately.
	placesPerTable, groupsPerTable = 3, 2
	// sketchBits is the logarithm of the registers, sketchThreads and sketchRows are the threads of a block and the rows
	// that a thread loads together.
	sketchBits      = 11
	sketchRegisters = 1 << sketchBits
	sketchThreads   = 1024
	sketchRows      = 4
	sketchBlocks    = 2 // of a multiprocessor
	// mostRank is the greatest rank of a hash.
	mostRank = 64 - sketchBits + 1
	// sketchError is the standard error of an estimate, relative to it: 1.04 / √registers.
	sketchError = 0.023
)

// One launch (aggregate_few.cu) and numbers of few rows (few.cu).
const (
	fewThreads = 1024
	// fewStaticShared is the shared memory that the kernel declares, and some for the system.
	fewStaticShared = 20 << 10
)

// Strings as numbers (texts.cu) and packed keys (pack.cu).
const (
	// mostTextBytes is the length of the longest string. The bounds of strings are textBounds words: two for each position,
	// the longest length and the shortest one.
	mostTextBytes = column.BoundedBytes
	longestText   = 2 * mostTextBytes
	shortestText  = longestText + 1
	textBounds    = shortestText + 1
	mostLength    = math.MaxInt32
	// mostDigits is the keys that are packed into one.
	mostDigits = 16
	wordBytes  = 8
)

// Quantiles and largest values (quantile.cu, tops.cu). The sizes are not measured separately.
const (
	// A sample has samplesOfGroup rows for each group, fewestSamples at least, and one in rowsOfSample rows at most.
	samplesOfGroup, fewestSamples, rowsOfSample = 128, 1 << 16, 8
	// One in rowsOfKept rows is kept at most, mostKept of a group.
	rowsOfKept, mostKept = 4, 1 << 17
	// Counters fit a block if they are at most mostBlockCounters and there are fewestBlockBins bins. mostCounters stay in
	// the L2 cache.
	mostBlockCounters, fewestBlockBins, mostBlockBins = 32 << 10, 64, 1 << 10
	mostCounters, fewestBins, mostBins                = 4 << 20, 16, 512
	// outerCounters are those of a group in a block that counts only the rows outside of the bounds there, otherCounters
	// those that are not of its bins.
	outerCounters = 2
	otherCounters = 5
	// The sizes of the structs of quantile.cu.
	boundsBytes, rangeBytes, selectedBytes, verdictBytes = 32, 32, 40, 16

	quantileThreads, quantileTile = 768, 768 * 4 // threads and rows of a block that counts
	keptThreads, keptBlocks       = 256, 8       // of a block that selects, and blocks of a multiprocessor

	topThreads = 1024
	topRows    = topThreads * 8 // rows of a tile
	topReserve = 1 << 10        // bytes of shared memory that the system takes from a block
)

// Tables of places (places.cu): threads of a block, rows of a thread, and the bytes that the system takes from a block.
const placeThreads, placeRows, placeReserve = 1024, 8, 1 << 10

// Divisions of an aggregation that does not fit the budget. Not measured separately.
const (
	// A chunk has fewestChunkRows rows, or 1/mostChunks of all rows, at least.
	fewestChunkRows, mostChunks = 256, 256
	// mostHashBits is the number of times that groups are divided.
	mostHashBits = 8
	// looseBound is how many times the memory of an aggregation its estimate is: the first chunk has rows with an
	// estimate of this many times the budget.
	looseBound = 4
)

// Histograms (histogram.cu). Not measured separately.
const (
	histogramThreads = 256
	// sharedCounters is the 4-byte counters that fit the shared memory of a block if residentBlocks are resident.
	sharedCounters = 8192
	// maxCopies is one copy of the counters for each warp. Above mostCopied counters adding up more copies takes longer
	// than it saves.
	maxCopies  = histogramThreads / 32
	mostCopied = 1024
	// singleBlockBytes is the size up to which one block counts the whole column, which needs no memset of the counts.
	singleBlockBytes = 64 << 10
	// blockBytes is the bytes of the column that a block counts at a time.
	blockBytes = histogramThreads * 16 * 4
)

// Upper bounds of memory (estimate.go), in bytes.
const (
	// boundPadding covers the alignment of one buffer, and the row count of a result.
	boundPadding = 256
	// boundSmall covers the scratch memory of one step that does not grow with the rows.
	boundSmall = 64 << 10
	// findBytes is the memory of a row in a hash table, its group and the list of groups, pairBytes that of a pair of
	// numbers, and compareBytes that of a dictionary's key.
	findBytes, pairBytes, compareBytes = 32, 8, 24
	// placeBytes is the memory of a place of a table of places, and sortBytes that of a sorted row in scratch memory.
	placeBytes, sortBytes = 48, 64
)
