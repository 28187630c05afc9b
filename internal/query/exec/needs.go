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
		switch n.(type) {
		case *plan.Scan, *plan.Filter, *plan.Project:
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
	s := sizes{plan.NewAnalysis()}
	plan.Walk(n.plan, func(node plan.Node) { total += s.expected(node, batchRows) })
	return max(total, n.Smallest)
}

// expected is the memory of one node at work: a batch and its result, or the rows that it holds.
func (s sizes) expected(n plan.Node, batchRows int64) uint64 {
	batch := func(n plan.Node) uint64 {
		if rows := s.SizeOf(n).Rows; rows >= 0 {
			return s.tableBytes(n, min(rows, batchRows))
		}
		return s.tableBytes(n, batchRows)
	}
	all := func(n plan.Node) uint64 {
		if rows := s.SizeOf(n).Rows; rows >= 0 {
			return s.tableBytes(n, min(rows, mostKept))
		}
		return batch(n)
	}
	switch n.(type) {
	case *plan.Join, *plan.AsOf:
		return 2*all(n.Inputs()[1]) + 2*batch(n)
	case *plan.Aggregate, *plan.Distinct, *plan.Merge:
		return 3*all(n) + batch(n.Inputs()[0])
	case *plan.Sort, *plan.Over:
		return 2 * all(n)
	case *plan.Scan, *plan.Filter, *plan.Project, *plan.Explode:
		return 2 * batch(n)
	}
	return batch(n)
}

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
// operators allocate for it. The factors and the constants are above those that the
// least budgets showed with which queries of package gpuframe run on the host.
func (s sizes) smallest(n plan.Node) uint64 {
	switch n := n.(type) {
	case *plan.Scan, *plan.Cache:
		return 2 * s.few(n)
	case *plan.Filter, *plan.Project:
		return s.few(n) + s.few(n.Inputs()[0])/2
	case *plan.Exchange:
		if n.Kind() == plan.Shuffle {
			return 6*s.few(n) + kernel
		}
		if n.Kind() == plan.Ranges {
			samples := uint64(len(n.SortKeys())+1) * mostSamples * sampleBytes
			return 6*s.few(n) + uint64(len(n.SortKeys()))*fewRows*keyBytes + samples + mostSampleTables*padded(n) + kernel
		}
		if n.Kind() == plan.AllGather {
			return 4 * s.few(n) // parts of all devices, and the copies
		}
		return 2 * s.few(n)
	case *plan.Partial:
		if sort, ok := n.Operation().(*plan.Sort); ok {
			return s.topBytes(sort)
		}
		return s.smallest(n.Operation())
	case *plan.Merge:
		return s.smallest(n.Aggregate())
	case *plan.Aggregate:
		// As many partial results are merged at a time as there may be.
		return 6*s.few(n.Inputs()[0]) + 6*s.few(n) + mostPartials*padded(n) + kernel
	case *plan.Sort:
		if n.Limit() == plan.All {
			return s.sortBytes(n)
		}
		return min(s.topBytes(n), s.sortBytes(n))
	case *plan.Join, *plan.AsOf:
		return 4*(s.few(n.Inputs()[0])+s.few(n.Inputs()[1])) + 8*s.few(n) + 4*kernel
	case *plan.Over:
		if keys := n.Partitions(); keys != nil {
			// The parts are divided by a hash, and their results sorted by the numbers of the rows.
			results := 2*s.tableBytes(n, sampled) + 6*s.few(n) + sampledTables*padded(n)
			return 2*s.few(n.Inputs()[0]) + results + uint64(len(keys)+1)*fewRows*keyBytes + 2*kernel
		}
		if n.IsOrdered() {
			return 0 // what all rows need is not known
		}
		return s.whole(n.Inputs()[0]) + s.whole(n) + 3*s.few(n) + kernel
	case *plan.Distinct:
		return s.whole(n.Inputs()[0]) + s.whole(n) + 3*s.few(n) + kernel
	case *plan.Slice:
		if n.Offset() < 0 {
			return 3 * s.few(n)
		}
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
