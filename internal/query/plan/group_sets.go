package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
)

// GroupSets yields the groups of several groupings of the same rows, in the order of the groupings. Only groupings with
// keys that no other one has read the rows. The states of the others are merged of states of more keys.
type GroupSets struct {
	single
	sets []GroupSet
	// merges is set if the input has the states of the only grouping that would read the rows.
	merges bool
}

// GroupSet is one of the groupings of a [GroupSets].
type GroupSet struct {
	// Columns are those of the result, of an [Aggregate] of all rows.
	Columns *Project
	// Parent is the number of the grouping of which the states are merged, or −1 if the rows are grouped.
	Parent int
}

// Aggregate returns the grouping. All of a [GroupSets] have the same aggregations.
func (s GroupSet) Aggregate() *Aggregate { return s.Columns.input.(*Aggregate) }

// newGroupSets makes groupings of a node. The projections are of groupings of it.
func newGroupSets(input Node, projections []*Project) (*GroupSets, error) {
	inputs := make([]Node, len(projections))
	for i, p := range projections {
		inputs[i] = p
	}
	union, err := NewUnion(inputs...)
	if err != nil {
		return nil, err
	}
	g := &GroupSets{single: singleOf(input, union.schema)}
	for i, p := range projections {
		g.sets = append(g.sets, GroupSet{p, parentOf(i, projections)})
	}
	return g, nil
}

// parentOf returns the number of the grouping with the fewest keys among those that have all keys of one, or −1. Of equal
// groupings the first one is the parent.
func parentOf(number int, projections []*Project) int {
	parent, fewest := -1, 0
	own := projections[number].input.(*Aggregate).keys
	for i, p := range projections {
		keys := p.input.(*Aggregate).keys
		if i == number || len(keys) < len(own) || len(keys) == len(own) && i > number || !hasKeys(keys, own) {
			continue
		}
		if parent < 0 || len(keys) < fewest {
			parent, fewest = i, len(keys)
		}
	}
	return parent
}

// hasKeys reports whether all of some keys are among others.
func hasKeys(keys, part []expr.Expr) bool {
	return !slices.ContainsFunc(part, func(e expr.Expr) bool { return !slices.ContainsFunc(keys, e.Same) })
}

// Sets returns the groupings.
func (g *GroupSets) Sets() []GroupSet { return g.sets }

// Merges reports whether the input has states in place of rows.
func (g *GroupSets) Merges() bool { return g.merges }

// readers returns the groupings that read the rows.
func (g *GroupSets) readers() (list []*Aggregate) {
	for _, s := range g.sets {
		if s.Parent < 0 {
			list = append(list, s.Aggregate())
		}
	}
	return list
}

// WithInputs implements [Node].
func (g *GroupSets) WithInputs(inputs ...Node) (Node, error) {
	if g.merges {
		return &GroupSets{singleOf(inputs[0], g.schema), g.sets, true}, nil
	}
	return g.changed(inputs[0], func(a *Aggregate) (*Aggregate, error) {
		return NewAggregate(inputs[0], a.keys, a.aggregations, a.options)
	})
}

// changed returns the node with other groupings, of an input.
func (g *GroupSets) changed(input Node, change func(a *Aggregate) (*Aggregate, error)) (Node, error) {
	projections := make([]*Project, len(g.sets))
	for i, s := range g.sets {
		a, err := change(s.Aggregate())
		if err != nil {
			return nil, err
		}
		if projections[i], err = NewProject(a, s.Columns.expressions...); err != nil {
			return nil, err
		}
	}
	return node(newGroupSets(input, projections))
}

// String implements [Node].
func (g *GroupSets) String() string {
	texts := make([]string, len(g.sets))
	for i, s := range g.sets {
		texts[i] = "(" + joined(s.Aggregate().keys, ", ") + ")"
	}
	first := g.sets[0].Aggregate()
	where := ""
	if w := first.options.Where; !w.IsZero() {
		where = " of rows where " + described(w)
	}
	return fmt.Sprintf("group by sets %s, %d of the rows: %s%s", strings.Join(texts, ", "), len(g.readers()), describedAggregations(first.aggregations), where)
}

func (g *GroupSets) estimate(a *Analysis, first Size) Size {
	total := Size{Exact: true}
	for _, s := range g.sets {
		size := s.Aggregate().estimate(a, first)
		if size.Rows < 0 {
			return size
		}
		total.Rows, total.Exact = total.Rows+size.Rows, total.Exact && size.Exact
	}
	return total
}

func (g *GroupSets) readsOrder(int, bool) bool { return false }

func (g *GroupSets) reads(wanted columnSet) []columnSet {
	read := columnSet{}
	list := g.needed(wanted)
	for _, s := range g.sets {
		read.read(s.Aggregate().keys...).read(s.Aggregate().options.Where)
	}
	for _, each := range list {
		each.columns(read)
	}
	return []columnSet{read}
}

// needed returns the aggregations that are read. All groupings have the same, at least one if one of them has no keys.
func (g *GroupSets) needed(wanted columnSet) []Aggregation {
	read, total := columnSet{}, false
	for _, s := range g.sets {
		read.read(s.Columns.needed(g.named(wanted))...)
		total = total || len(s.Aggregate().keys) == 0
	}
	all := g.sets[0].Aggregate().aggregations
	if list := wantedOf(all, read); len(list) > 0 || !total {
		return list
	}
	return all[:1]
}

// named returns the columns of the result that are read, at least one.
func (g *GroupSets) named(wanted columnSet) columnSet {
	names := columnsOf(g.schema)
	if slices.ContainsFunc(names, func(name string) bool { return wanted[name] }) {
		return wanted
	}
	return columnSet{names[0]: true}
}

func (g *GroupSets) pruned(inputs []Node, wanted columnSet) (Node, error) {
	list, names := g.needed(wanted), g.named(wanted)
	projections := make([]*Project, len(g.sets))
	for i, s := range g.sets {
		own := s.Aggregate()
		a, err := NewAggregate(inputs[0], own.keys, list, own.options)
		if err != nil {
			return nil, err
		}
		if projections[i], err = NewProject(a, s.Columns.needed(names)...); err != nil {
			return nil, err
		}
	}
	return node(newGroupSets(inputs[0], projections))
}

func (g *GroupSets) overProjection(below *Project) (Node, error) {
	merged, err := g.changed(below.input, func(a *Aggregate) (*Aggregate, error) {
		over, err := a.overProjection(below)
		if err != nil || over == Node(a) {
			return nil, errNotMerged
		}
		return over.(*Aggregate), err
	})
	if err != nil {
		return g, nil
	}
	return merged, nil
}

// errNotMerged is returned for a projection that a grouping cannot have in place of its columns.
var errNotMerged = fmt.Errorf("the projection has columns that the groups cannot have")

func (g *GroupSets) withConditions(input Node, conditions []expr.Expr) (Node, error) {
	return g.changed(input, func(a *Aggregate) (*Aggregate, error) {
		filtered, err := a.withConditions(input, conditions)
		if err != nil {
			return nil, err
		}
		return filtered.(*Aggregate), nil
	})
}

func (g *GroupSets) same(other Node) bool {
	o, ok := other.(*GroupSets)
	return ok && g.merges == o.merges && slices.EqualFunc(g.sets, o.sets, func(a, b GroupSet) bool {
		return a.Aggregate().same(b.Aggregate()) && a.Columns.same(b.Columns)
	})
}

// divided merges the states of all devices on the first one if few groups are expected. Otherwise the groupings are
// divided, each by itself.
func (g *GroupSets) divided(d *distribution, inputs []spread) (spread, error) {
	if !inputs[0].all {
		return spread{}, nil
	}
	readers := g.readers()
	if len(readers) > 1 || d.isWorthDividing(readers[0]) {
		return g.dividedApart(d, inputs[0].node)
	}
	partial, err := d.partial(readers[0], inputs[0].node)
	if err != nil {
		return spread{}, err
	}
	return spread{node: &GroupSets{singleOf(NewExchange(partial, Gather, d.devices), g.schema), g.sets, true}}, nil
}

// dividedApart returns the union of the groupings of the rows of all devices.
func (g *GroupSets) dividedApart(d *distribution, input Node) (spread, error) {
	parts, all := make([]spread, len(g.sets)), true
	for i, s := range g.sets {
		var err error
		if parts[i], err = d.aggregate(s.Aggregate(), input); err != nil {
			return spread{}, err
		}
		all = all && parts[i].all
	}
	nodes := make([]Node, len(parts))
	for i, part := range parts {
		if !all {
			part.node = d.gather(part, "")
		}
		var err error
		if nodes[i], err = node(NewProject(part.node, g.sets[i].Columns.expressions...)); err != nil {
			return spread{}, err
		}
	}
	united, err := node(NewUnion(nodes...))
	return spread{node: united, all: all}, err
}

// mergeSets makes the groupings of one input that a union has, those of Rollup, Cube and GroupingSets, one node, if states of
// some can be merged to those of others.
func (o *optimization) mergeSets(root Node) (Node, error) {
	return o.rewrite(root, func(n Node) (Node, error) {
		u, ok := n.(*Union)
		if !ok {
			return n, nil
		}
		if sets := groupSetsOf(u); sets != nil && sameColumns(u.schema, sets.schema) == nil {
			return sets, nil
		}
		return n, nil
	})
}

// groupSetsOf returns the groupings of a union as one node, or nil.
func groupSetsOf(u *Union) *GroupSets {
	projections := make([]*Project, len(u.inputs))
	for i, input := range u.inputs {
		if projections[i] = projectedGroups(input); projections[i] == nil {
			return nil
		}
	}
	first := projections[0].input.(*Aggregate)
	if !first.hasMergedStates() {
		return nil
	}
	for i, p := range projections[1:] {
		a := p.input.(*Aggregate)
		if !a.options.Same(first.options) || !slices.EqualFunc(a.aggregations, first.aggregations, Aggregation.same) || !a.hasMergedStates() || !samePlan(a.input, first.input) {
			return nil
		}
		a, err := NewAggregate(first.input, a.keys, a.aggregations, a.options)
		if err != nil {
			return nil
		}
		if projections[i+1], err = NewProject(a, p.expressions...); err != nil {
			return nil
		}
	}
	sets, err := newGroupSets(first.input, projections)
	if err != nil || len(sets.readers()) == len(sets.sets) {
		return nil
	}
	return sets
}

// projectedGroups returns a projection of groups that yields the rows of a node, or nil.
func projectedGroups(n Node) *Project {
	if a, ok := n.(*Aggregate); ok {
		p, err := NewColumns(a, columnsOf(a.schema)...)
		if err != nil {
			return nil
		}
		return p
	}
	p, ok := n.(*Project)
	if !ok {
		return nil
	}
	if _, ok := p.input.(*Aggregate); ok {
		return p
	}
	below := projectedGroups(p.input)
	if below == nil {
		return nil
	}
	definitions := below.definitions()
	list := make([]expr.Expr, len(p.expressions))
	for i, e := range p.expressions {
		list[i] = Named(inline(e, definitions), e.Name())
	}
	merged, err := NewProject(below.input, list...)
	if err != nil {
		return nil
	}
	return merged
}

// samePlan reports whether two nodes are the same operations on the same sources.
func samePlan(a, b Node) bool {
	return a == b || keyOf(a).kind == keyOf(b).kind && a.same(b) && slices.EqualFunc(a.Inputs(), b.Inputs(), samePlan)
}

// mergedStates are the aggregates with states of a fixed size that give the same result to the bit, in any order of merging. States of the others are lists of the values: to merge them takes as long as to group the rows.
var mergedStates = map[string]bool{
	"count": true, "count_values": true, "null_count": true, "sum": true, "product": true, "bitwise_or": true, "bitwise_xor": true, "min": true, "max": true,
	"mean": true, "any": true, "all": true, "variance": true, "stddev": true, "skewness": true, "kurtosis": true, "kurtosis_pop": true, "correlation": true, "covariance": true,
}

// hasMergedStates reports whether the states of groups with more keys give the groups.
func (a *Aggregate) hasMergedStates() bool {
	for _, each := range a.aggregations {
		if !mergedStates[each.Function] {
			return false
		}
	}
	for _, k := range a.keys {
		if strings.HasPrefix(k.Name(), StatePrefix) {
			return false
		}
	}
	return a.Combines() && !a.options.DropNulls && a.options.Order == group.Unspecified && len(a.aggregations) > 0
}

// StatePrefix begins the names of the columns of states: see group.Query.Partial.
const StatePrefix = "state "
