package plan

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// Analysis answers questions about nodes that depend on everything below them. It
// keeps the answers, because a node may be read by many others: without them the work doubles with
// each union of a node with itself. It holds for as long as no [Cache] is filled or emptied, and is
// used by one goroutine.
type Analysis struct {
	rows     map[Node]Size
	rowBytes map[*arrow.Schema]int64
	holds    map[Node]bool
}

// NewAnalysis returns an analysis without answers.
func NewAnalysis() *Analysis {
	return new(Analysis)
}

// SizeOf returns the size of a node's result.
func (a *Analysis) SizeOf(n Node) Size {
	size := a.rowsOf(n)
	size.RowBytes = a.RowBytes(n)
	return size
}

// RowBytes returns the RowBytes of the size of a node's result.
func (a *Analysis) RowBytes(n Node) int64 {
	schema := n.Schema()
	bytes, known := a.rowBytes[schema]
	if !known {
		bytes = RowBytesOf(schema)
		if a.rowBytes == nil {
			a.rowBytes = map[*arrow.Schema]int64{}
		}
		a.rowBytes[schema] = bytes
	}
	return bytes
}

// RowBytesOf returns the RowBytes of the size of tables of a schema.
func RowBytesOf(schema *arrow.Schema) (bytes int64) {
	for i := range schema.NumFields() {
		bytes += rowBytes(schema.Field(i).Type)
	}
	return bytes
}

// rowsOf returns the size of a node's result without the bytes of a row.
func (a *Analysis) rowsOf(n Node) Size {
	size, known := a.rows[n]
	if !known {
		size = a.estimate(n)
		if a.rows == nil {
			a.rows = map[Node]Size{}
		}
		a.rows[n] = size
	}
	return size
}

// HoldsRows reports whether a node, or one below it, needs all rows of an input at a time.
// Such a node is run once for all that read it. This includes the scan of a source that can be
// read once. To run others several times needs less memory than to keep their rows.
func (a *Analysis) HoldsRows(n Node) bool {
	holds, known := a.holds[n]
	if !known {
		holds = n.holdsRows()
		if _, keeps := n.(*Cache); !holds && !keeps { // a cache keeps the rows itself
			holds = slices.ContainsFunc(n.Inputs(), a.HoldsRows)
		}
		if a.holds == nil {
			a.holds = map[Node]bool{}
		}
		a.holds[n] = holds
	}
	return holds
}
