package exec

import (
	"sync"

	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// Progress adds up the rows that the scans of a query have read.
type Progress struct {
	report func(rows, total int64)
	// total is the number of rows of all scans, or -1 if one of them is not known.
	total int64

	mu   sync.Mutex
	rows int64
}

// NewProgress returns the progress of a plan. It calls report after each table of a scan.
func NewProgress(n plan.Node, report func(rows, total int64)) *Progress {
	p := &Progress{report: report}
	var seen map[plan.Node]bool
	if !plan.IsChain(n) {
		seen = map[plan.Node]bool{}
	}
	analysis := plan.NewAnalysis()
	var visit func(plan.Node)
	visit = func(n plan.Node) {
		if seen[n] {
			return
		}
		if seen != nil {
			seen[n] = true
		}
		switch n := n.(type) {
		case *plan.Scan:
			if size := analysis.SizeOf(n); size.Rows < 0 {
				p.total = -1
			} else if p.total >= 0 {
				p.total += size.Rows
			}
		case *plan.Cache:
			if n.IsFilled() {
				return
			}
		}
		for _, input := range n.Inputs() {
			visit(input)
		}
	}
	visit(n)
	return p
}

// scan returns a function that receives the rows that one scan has read so far.
func (p *Progress) scan() func(rows, bytes int64) {
	var known int64
	return func(rows, _ int64) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.rows += rows - known
		known = rows
		if p.total >= 0 { // a scan without rows to keep may be read by several nodes
			p.total = max(p.total, p.rows)
		}
		p.report(p.rows, p.total)
	}
}
