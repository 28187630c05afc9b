package bind

import (
	"hash/maphash"
	"slices"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/join"
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
	name      string
	arguments arguments
	inputs    []int
	slot      int
}

// arguments are the arguments of a verb. sameArgument compares them.
type arguments []any

var seed = maphash.MakeSeed()

// shape returns the shape of a query, or nil for queries without a kept plan: those that
// read something else than tables, that keep rows, or that are wrong.
func (s *Step) shape() *shape {
	added := &shape{}
	numbers := make(map[*Step]int, 8)
	if _, ok := added.add(s, numbers); !ok {
		return nil
	}
	var h maphash.Hash
	h.SetSeed(seed)
	for _, v := range added.verbs {
		h.WriteString(v.name)
		for _, a := range v.arguments {
			hashNames(&h, a)
		}
	}
	added.hash = h.Sum64()
	return added
}

// add adds a step after those that it reads, and returns its number.
func (s *shape) add(added *Step, numbers map[*Step]int) (number int, ok bool) {
	if known, ok := numbers[added]; ok {
		return known, true
	}
	v := verbShape{name: added.verb.name, arguments: added.verb.arguments, slot: -1}
	switch {
	case added.source != nil:
		if v.slot = slices.Index(s.sources, added.source); v.slot >= 0 {
			break // two steps read one table
		}
		slot := source.NewSlot(added.source)
		if slot == nil {
			return 0, false
		}
		v.slot = len(s.slots)
		s.slots, s.sources = append(s.slots, slot), append(s.sources, added.source)
	case added.verb.arguments == nil:
		return 0, false
	}
	for _, input := range added.inputs {
		at, ok := s.add(input, numbers)
		if !ok || input.planner != added.planner {
			return 0, false
		}
		v.inputs = append(v.inputs, at)
	}
	s.verbs = append(s.verbs, v)
	numbers[added] = len(s.verbs) - 1
	return numbers[added], true
}

// hashNames adds the names in an argument to a hash.
func hashNames(h *maphash.Hash, a any) {
	switch a := a.(type) {
	case []Expr:
		for _, e := range a {
			h.WriteString(e.Name)
		}
	case []string:
		for _, name := range a {
			h.WriteString(name)
		}
	case string:
		h.WriteString(a)
	}
}

// SameShape reports whether two queries have one plan, which is kept.
func (s *Step) SameShape(other *Step) bool {
	a, b := s.shape(), other.shape()
	return a != nil && b != nil && a.same(b)
}

// same reports whether two shapes have the same plan.
func (s *shape) same(other *shape) bool {
	return slices.EqualFunc(s.verbs, other.verbs, func(a, b verbShape) bool {
		return a.name == b.name && a.slot == b.slot && slices.Equal(a.inputs, b.inputs) && slices.EqualFunc(a.arguments, b.arguments, sameArgument)
	}) && slices.EqualFunc(s.slots, other.slots, (*source.Slot).Fits)
}

func sameArgument(a, b any) bool {
	switch a := a.(type) {
	case []Expr:
		b, ok := b.([]Expr)
		return ok && slices.EqualFunc(a, b, Expr.same)
	case []Order:
		b, ok := b.([]Order)
		return ok && slices.EqualFunc(a, b, Order.same)
	case JoinTerms:
		b, ok := b.(JoinTerms)
		return ok && a.same(b)
	case []string:
		b, ok := b.([]string)
		return ok && slices.Equal(a, b)
	case GroupingSets:
		b, ok := b.(GroupingSets)
		return ok && (a == nil) == (b == nil) && slices.EqualFunc(a, b, slices.Equal[[]int])
	case plan.GroupOptions:
		b, ok := b.(plan.GroupOptions)
		return ok && a.Same(b)
	case int64, string, join.Kind:
		return a == b
	}
	return false
}

// tables returns the sources for the slots of a plan.
func (s *shape) tables(slots []*source.Slot) map[*source.Slot]source.Source {
	tables := make(map[*source.Slot]source.Source, len(slots))
	for i, slot := range slots {
		tables[slot] = s.sources[i]
	}
	return tables
}
