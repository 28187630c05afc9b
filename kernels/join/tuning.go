package join

import "math"

const (
	threads = 256
	// tilePairs is the number of pairs that a block of expand_pairs writes: see pairs.cu.
	tilePairs = 2048
	// matchLoads is the most rows of a thread of kernels that pair rows: see pairing.cuh.
	// Fewer than loadRows rows have one a thread, so that no thread looks for one row after the
	// other while multiprocessors are idle.
	matchLoads, loadRows = 8, 1 << 17
	// aloneRows is the most rows that one block of aloneThreads looks up and pairs.
	aloneRows, aloneThreads = 2048, 1024
	// fewRows is the most rows of a table that one block of fewThreads makes: see table.cu.
	fewRows, fewThreads = 4096, 1024
	// loopRows is the number of rows of a thread of kernels that loop over many rows.
	loopRows = 4
	// distinctOffset is the place of distinct in struct Header of table.cuh.
	distinctOffset = 16
)

const (
	// mostBuilt is the most rows of a build side that has a table: slots have numbers of 32
	// bits.
	mostBuilt = math.MaxInt32
	// measuredRows is the fewest rows of a side for which the range of integer keys of the
	// build side is measured. For fewer the kernel that measures costs more than a search in a
	// hash table.
	measuredRows = 1 << 13
	// headerBytes is the memory before the slots.
	headerBytes = 64
	headerWords = headerBytes / 8
	outcomeWord = 4
)

const (
	// mergeTile is the number of left rows that a block of merge_nearest takes at a time,
	// mergeCached the most right rows that it copies to shared memory: see as_of.cu.
	mergeTile, mergeCached = 2048, 4096
	// mergeBlocks is the number of its blocks for each multiprocessor. Their shared memory
	// fits six times.
	mergeBlocks = 6
)
