package exec

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// mostReaders is the number of readers that a plan may open. Each takes a few hundred bytes of host
// memory.
const mostReaders = 1 << 16

// checkReaders refuses a plan that opens too many readers. An operation that passes rows on is
// opened for each operation that reads it, so a union of a query with itself doubles their number.
func (o *opener) checkReaders(root plan.Node) error {
	opened := map[plan.Node]int{} // those for one user of a node
	below := func(n plan.Node) int {
		sum := 1
		for _, input := range n.Inputs() {
			sum = min(sum+opened[input], mostReaders+1)
		}
		return sum
	}
	total := 0
	for _, n := range plan.InputsFirst(root) {
		if opened[n] = below(n); o.isShared(n) {
			total = min(total+opened[n], mostReaders+1)
			opened[n] = 1
		}
	}
	if total+opened[root] <= mostReaders {
		return nil
	}
	return fmt.Errorf("more than %s operations run, because a union reads a query several times, again and again: keep the rows of that query with Cache: %w",
		humanize.Comma(mostReaders), device.ErrNotSupported)
}

// isShared reports whether a node is opened once for all that read it: it holds rows, or they are
// worth keeping.
func (o *opener) isShared(n plan.Node) bool {
	return o.worker == nil && o.parents[n] > 1 && (o.analysis.HoldsRows(n) || o.isWorthKeeping(n))
}
