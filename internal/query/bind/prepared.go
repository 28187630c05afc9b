package bind

import (
	"slices"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// Prepared is a query that can run.
type Prepared struct {
	Plan  plan.Node
	Needs exec.Needs
	// FixedPointSums is whether partial results may add floats in fixed point: the rows are in memory,
	// so that the query can begin again, and in no run the parts had magnitudes that differ too much.
	FixedPointSums *atomic.Bool
	// Tables are those for the slots of the plan.
	Tables map[*source.Slot]source.Source
	// unique are the other sources of which the plan needs unique columns.
	unique []source.Source
	// Tag is the tag of a query without another one: its last verb and the place of
	// its call.
	Tag string
}

// NewPrepared returns the query of an optimized plan.
func NewPrepared(n plan.Node, tag string) *Prepared {
	p := &Prepared{Plan: n, Needs: exec.NeedsOf(n), FixedPointSums: new(atomic.Bool), Tag: tag}
	p.FixedPointSums.Store(readsMemory(n))
	for _, scan := range plan.Scans(n) {
		if s := scan.Source(); len(source.UniqueColumns(s)) > 0 {
			if _, isSlot := s.(*source.Slot); !isSlot {
				p.unique = append(p.unique, s)
			}
		}
	}
	return p
}

// isUnique reports whether the columns that the plan needs to be unique still are: other libraries may have written to them.
func (p *Prepared) isUnique() bool {
	for slot, s := range p.Tables {
		if !source.IsUniqueAs(s, slot) {
			return false
		}
	}
	return !slices.ContainsFunc(p.unique, func(s source.Source) bool { return !source.IsUniqueAs(s, s) })
}

// readsMemory reports whether all rows of a plan are in memory.
func readsMemory(n plan.Node) bool {
	for _, scan := range plan.Scans(n) {
		if !source.InMemory(scan.Source()) {
			return false
		}
	}
	return true
}
