package exec

import (
	"math"

	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// Needs are the expected needs of a plan.
type Needs struct {
	// Result is the size of the result.
	Result plan.Size
	// Smallest is the smallest budget that the plan is expected to run with, in bytes:
	// each operation then works on the fewest rows that it divides its input into.
	Smallest uint64
	// streamed is the part of Smallest that operations need that do not divide their input.
	streamed uint64
	plan     plan.Node
}

// NeedsOf returns the expected needs of a plan.
func NeedsOf(n plan.Node) Needs {
	s := sizes{plan.NewAnalysis()}
	result := s.few(n) // it is copied
	needs := Needs{Result: s.SizeOf(n), Smallest: result, streamed: result, plan: n}
	plan.Walk(n, func(n plan.Node) {
		bytes := s.smallest(n)
		needs.Smallest += bytes
		if operationOf(n).streams {
			needs.streamed += bytes
		}
	})
	return needs
}

// BatchRows is the number of rows of a batch that scans, filters and projections can work on
// within a budget. Other operations divide a batch that is too large for them.
func (n Needs) BatchRows(budget uint64) int64 {
	return int64(min(float64(budget)/float64(max(n.streamed, 1))*fewRows, math.MaxInt64/2))
}

// Expected is the memory that the plan is expected to use if batches have no more than a number of rows:
// at least Smallest, and about the memory that it uses if memory is not short.
func (n Needs) Expected(batchRows int64) uint64 {
	total := uint64(0)
	w := workload{sizes{plan.NewAnalysis()}, batchRows}
	plan.Walk(n.plan, func(node plan.Node) { total += w.bytes(node) })
	return max(total, n.Smallest)
}

// workload is batches of a number of rows that the nodes of one plan work on.
type workload struct {
	sizes
	batchRows int64
}

// bytes is the memory of one node at work: a batch and its result, or the rows that it holds.
func (w workload) bytes(n plan.Node) uint64 {
	if expected := operationOf(n).expected; expected != nil {
		return expected(w, n)
	}
	return w.batch(n)
}

func (w workload) batch(n plan.Node) uint64 {
	if rows := w.SizeOf(n).Rows; rows >= 0 {
		return w.tableBytes(n, min(rows, w.batchRows))
	}
	return w.tableBytes(n, w.batchRows)
}

func (w workload) all(n plan.Node) uint64 {
	if rows := w.SizeOf(n).Rows; rows >= 0 {
		return w.tableBytes(n, min(rows, mostKept))
	}
	return w.batch(n)
}

func (w workload) twoBatches(n plan.Node) uint64 { return 2 * w.batch(n) }

func (w workload) joined(n plan.Node) uint64 { return 2*w.all(n.Inputs()[1]) + 2*w.batch(n) }

func (w workload) groups(n plan.Node) uint64 { return 3*w.all(n) + w.batch(n.Inputs()[0]) }

func (w workload) groupSets(n plan.Node) (bytes uint64) {
	for _, set := range n.(*plan.GroupSets).Sets() {
		bytes += w.groups(set.Aggregate())
	}
	return bytes
}

func (w workload) sorted(n plan.Node) uint64 { return 2 * w.all(n) }

// fewRows is the number of rows of a table that is not divided any more.
const fewRows = leastRows

// keyBytes is the memory for a row's value of a key that an expression computes, and for the sort
// of it.
const keyBytes = 96

// sampleBytes is the memory for a key of a sampled row, for its copy and for the sort of both.
const sampleBytes = 64

// sizes are the sizes of the nodes of one plan.
type sizes struct{ *plan.Analysis }

// smallest is the least memory of one node: its result for the fewest rows, and what its
// operators allocate for it. The factors and the constants of these functions are above those that the
// least budgets showed with which queries of package gpuframe run on the host.
func (s sizes) smallest(n plan.Node) uint64 {
	if smallest := operationOf(n).smallest; smallest != nil {
		return smallest(s, n)
	}
	return 0
}

func (s sizes) twoResults(n plan.Node) uint64 { return 2 * s.few(n) }

func (s sizes) resultAndHalf(n plan.Node) uint64 { return s.few(n) + s.few(n.Inputs()[0])/2 }

func (s sizes) joined(n plan.Node) uint64 {
	return 4*(s.few(n.Inputs()[0])+s.few(n.Inputs()[1])) + 8*s.few(n) + 4*kernel
}

// searchBytes is the memory for the rows that a GPU finds for a vector before it compares them exactly.
const searchBytes = 20 << 10

// searched is the memory of the nearest rows of a few rows: k pairs for each of them.
func (s sizes) searched(n *plan.NearestTo) uint64 {
	return s.joined(n) + 8*uint64(min(n.Options().K, mostNearest))*s.few(n) + fewRows*searchBytes
}

// mostNearest is the number of nearest rows above which the memory of a search is not known before it runs: the other side may
// have fewer rows.
const mostNearest = 64

// groups is the memory of a group-by: as many partial results are merged at a time as there may be.
func (s sizes) groups(n plan.Node) uint64 {
	return 6*s.few(n.Inputs()[0]) + 6*s.few(n) + mostPartials*padded(n) + kernel
}

// groupSets is the memory of several groupings: the states of all stay until the last one was read.
func (s sizes) groupSets(n *plan.GroupSets) (bytes uint64) {
	for _, set := range n.Sets() {
		bytes += s.groups(set.Aggregate())
	}
	return bytes
}

// allRows is the memory of an operation that needs all rows at a time.
func (s sizes) allRows(n plan.Node) uint64 {
	return s.whole(n.Inputs()[0]) + s.whole(n) + 3*s.few(n) + kernel
}

func (s sizes) moved(n *plan.Exchange) uint64 {
	switch n.Kind() {
	case plan.Shuffle:
		return 6*s.few(n) + kernel
	case plan.Ranges:
		samples := uint64(len(n.SortKeys())+1) * mostSamples * sampleBytes
		return 6*s.few(n) + uint64(len(n.SortKeys()))*fewRows*keyBytes + samples + mostSampleTables*padded(n) + kernel
	case plan.AllGather:
		return 4 * s.few(n) // parts of all devices, and the copies
	}
	return 2 * s.few(n)
}

func (s sizes) partial(n *plan.Partial) uint64 {
	if partial := operationOf(n.Operation()).leastPartial; partial != nil {
		return partial(s, n.Operation())
	}
	return s.smallest(n.Operation())
}

func (s sizes) merge(n *plan.Merge) uint64 { return s.smallest(n.Aggregate()) }

func (s sizes) sort(n *plan.Sort) uint64 {
	if n.Limit() == plan.All {
		return s.sortBytes(n)
	}
	return min(s.topBytes(n), s.sortBytes(n))
}

func (s sizes) windows(n *plan.Over) uint64 {
	if keys := n.Partitions(); keys != nil {
		// The parts are divided by a hash, and their results sorted by the numbers of the rows.
		results := 2*s.tableBytes(n, sampled) + 6*s.few(n) + sampledTables*padded(n)
		return 2*s.few(n.Inputs()[0]) + results + uint64(len(keys)+1)*fewRows*keyBytes + 2*kernel
	}
	if n.IsOrdered() {
		return 0 // what all rows need is not known
	}
	return s.allRows(n)
}

func (s sizes) slice(n *plan.Slice) uint64 {
	if n.Offset() < 0 {
		return 3 * s.few(n)
	}
	return 0
}

// kernel is the memory for offsets, counts and tables of states.
const kernel = 8 << 10

// sortBytes is the least memory of a sort of all rows.
func (s sizes) sortBytes(n *plan.Sort) uint64 {
	return 4*s.tableBytes(n, sampled) + 8*s.few(n) + sortKeyBytes(n) + sampledTables*padded(n)*4 + 2*kernel
}

// mostKept is more rows than any device has memory for.
const mostKept = 1 << 40

// topBytes is the least memory for the first rows of a sort, which are in memory together.
func (s sizes) topBytes(n *plan.Sort) uint64 {
	rows := min(n.Limit(), mostKept)
	if size := s.SizeOf(n.Input()); size.Exact {
		rows = min(rows, size.Rows)
	}
	return 3*(s.tableBytes(n, rows)+s.few(n)) + sortKeyBytes(n) + kernel
}

func sortKeyBytes(n *plan.Sort) uint64 { return uint64(len(n.OrderKeys())) * fewRows * keyBytes }

// few is the size of a result of the fewest rows.
func (s sizes) few(n plan.Node) uint64 { return s.tableBytes(n, fewRows) }

// whole is the size of all rows of a node, if it is known, else that of the fewest.
func (s sizes) whole(n plan.Node) uint64 {
	if size := s.SizeOf(n); size.Exact && size.Rows > fewRows {
		return s.tableBytes(n, size.Rows)
	}
	return s.few(n)
}

// tableBytes is the size of a number of rows of a node.
func (s sizes) tableBytes(n plan.Node, rows int64) uint64 {
	bits := int64(n.Schema().NumFields())*rows/8 + 1
	return uint64(plan.Size{Rows: rows, RowBytes: s.RowBytes(n)}.Bytes()+bits) + padded(n)
}

// padded is the size of a table of one row: each of its buffers has a block.
func padded(n plan.Node) uint64 {
	const blocks, alignment = 3, 64
	return uint64(n.Schema().NumFields()) * blocks * alignment
}

// IsShort reports whether a plan lacked memory: then it may succeed without other plans.
func IsShort(err error) bool { return isShort(err) }
