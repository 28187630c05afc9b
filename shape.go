package gpuframe

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/query/runs"
)

// shape is the verbs of a query, with their arguments, on tables of some schemas and numbers of
// rows. Queries of one shape have one plan.
type shape struct {
	verbs []verbShape
	// slots and sources are the tables, in the order of the verbs that read them.
	slots   []*source.Slot
	sources []source.Source
	hash    uint64
}

// verbShape is one verb. inputs are numbers of earlier verbs, and slot is the number of the table
// that it reads, or negative.
type verbShape struct {
	verb      string
	arguments arguments
	inputs    []int
	slot      int
}

// arguments are the arguments of a verb, in forms that sameArgument compares. Plans of verbs
// without them are not kept.
type arguments []any

var seed = maphash.MakeSeed()

// shape returns the shape of a query, or nil for queries whose plans are not kept: those that
// read something else than tables, that keep rows, or that are wrong.
func (q Query) shape() *shape {
	s := &shape{}
	numbers := make(map[*step]int, 8)
	if _, ok := s.add(q.step, numbers); !ok {
		return nil
	}
	var h maphash.Hash
	h.SetSeed(seed)
	for _, v := range s.verbs {
		h.WriteString(v.verb)
		for _, a := range v.arguments {
			hashNames(&h, a)
		}
	}
	s.hash = h.Sum64()
	return s
}

// add adds a step after those that it reads, and returns its number.
func (s *shape) add(added *step, numbers map[*step]int) (number int, ok bool) {
	if known, ok := numbers[added]; ok {
		return known, true
	}
	v := verbShape{verb: added.verb, slot: -1}
	switch {
	case added.source != nil:
		slot := source.NewSlot(added.source)
		if slot == nil {
			return 0, false
		}
		v.slot = len(s.slots)
		s.slots, s.sources = append(s.slots, slot), append(s.sources, added.source)
	case added.arguments == nil:
		return 0, false
	}
	for _, input := range added.inputs {
		at, ok := s.add(input, numbers)
		if !ok || input.engine != added.engine {
			return 0, false
		}
		v.inputs = append(v.inputs, at)
	}
	for _, a := range added.arguments {
		v.arguments = append(v.arguments, storedForm(a))
	}
	s.verbs = append(s.verbs, v)
	numbers[added] = len(s.verbs) - 1
	return numbers[added], true
}

// storedForm copies an argument to a form that sameArgument compares.
func storedForm(a any) any {
	switch a := a.(type) {
	case []Expression:
		return unpack(a)
	case []Ordering:
		orders := make([]order, len(a))
		for i, o := range a {
			if o != nil {
				orders[i] = o.ordering()
			}
		}
		return orders
	case []JoinTerm:
		var terms joinTerms
		for _, t := range a {
			if t != nil {
				t.addTo(&terms)
			}
		}
		return terms
	case []string:
		return slices.Clone(a)
	}
	return a
}

// hashNames adds the names in an argument to a hash.
func hashNames(h *maphash.Hash, a any) {
	switch a := a.(type) {
	case []Expr:
		for _, e := range a {
			h.WriteString(e.root)
			h.WriteString(e.given)
		}
	case []string:
		for _, name := range a {
			h.WriteString(name)
		}
	case string:
		h.WriteString(a)
	}
}

// same reports whether two shapes have the same plan.
func (s *shape) same(other *shape) bool {
	return slices.EqualFunc(s.verbs, other.verbs, func(a, b verbShape) bool {
		return a.verb == b.verb && a.slot == b.slot && slices.Equal(a.inputs, b.inputs) && slices.EqualFunc(a.arguments, b.arguments, sameArgument)
	}) && slices.EqualFunc(s.slots, other.slots, (*source.Slot).Fits)
}

func sameArgument(a, b any) bool {
	switch a := a.(type) {
	case []Expr:
		b, ok := b.([]Expr)
		return ok && slices.EqualFunc(a, b, Expr.same)
	case []order:
		b, ok := b.([]order)
		return ok && slices.EqualFunc(a, b, func(x, y order) bool {
			return x.descending == y.descending && x.nullsFirst == y.nullsFirst && x.key.same(y.key)
		})
	case joinTerms:
		b, ok := b.(joinTerms)
		return ok && a.nulls == b.nulls && a.anyOrder == b.anyOrder && a.suffix == b.suffix && slices.EqualFunc(a.left, b.left, Expr.same) &&
			slices.EqualFunc(a.right, b.right, Expr.same) && slices.EqualFunc(a.matching, b.matching, Expr.same)
	case []string:
		b, ok := b.([]string)
		return ok && slices.Equal(a, b)
	case plan.GroupOptions:
		b, ok := b.(plan.GroupOptions)
		return ok && a.DropNulls == b.DropNulls && a.Order == b.Order && a.Where.Same(b.Where)
	case int64, string, JoinKind:
		return a == b
	}
	return false
}

// plans keeps the plans of the latest shapes of queries.
type plans struct {
	// planned is the number of plans that were made, of all queries.
	planned atomic.Uint64

	mu   sync.Mutex
	kept []keptPlan
	next int
}

// mostPlans is the number of shapes that an engine keeps plans of.
const mostPlans = 64

// keptPlan is an optimized plan with the slots of its shape.
type keptPlan struct {
	*shape
	plan           plan.Node
	needs          exec.Needs
	fixedPointSums *atomic.Bool
}

// find returns the plan of a shape.
func (p *plans) find(s *shape) (known keptPlan, ok bool) {
	p.mu.Lock()
	var candidates []keptPlan
	for _, k := range p.kept {
		if k.hash == s.hash {
			candidates = append(candidates, k)
		}
	}
	p.mu.Unlock()
	for _, k := range candidates {
		if k.same(s) {
			return k, true
		}
	}
	return known, false
}

// keep keeps a plan, in place of the oldest one if there are many.
func (p *plans) keep(s *shape, added *runs.Prepared) {
	kept := keptPlan{&shape{verbs: s.verbs, slots: s.slots, hash: s.hash}, added.Plan, added.Needs, added.FixedPointSums}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kept) < mostPlans {
		p.kept = append(p.kept, kept)
		return
	}
	p.kept[p.next] = kept
	p.next = (p.next + 1) % mostPlans
}

// tables returns the sources for the slots of a plan.
func (s *shape) tables(slots []*source.Slot) map[*source.Slot]source.Source {
	tables := make(map[*source.Slot]source.Source, len(slots))
	for i, slot := range slots {
		tables[slot] = s.sources[i]
	}
	return tables
}
