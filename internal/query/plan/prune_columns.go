package plan

import (
	"maps"
	"slices"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// pruneColumns removes what nothing above reads: columns of scans, expressions, aggregates,
// windows. It also merges projections that follow each other, and inlines them in groups.
func (o *optimization) pruneColumns(root Node) (Node, error) {
	merged, err := o.rewrite(root, mergeProjections)
	if err != nil {
		return nil, err
	}
	if merged, err = o.separate(merged); err != nil {
		return nil, err
	}
	p := columnPruner{needed: map[Node]columnSet{}}
	order := inputsFirst(merged)
	p.need(merged, columnsOf(merged.Schema())...)
	for _, n := range slices.Backward(order) {
		p.inputsOf(n)
	}
	pruned, err := o.rewriteEach(order, p.prune)
	if err != nil {
		return nil, err
	}
	if pruned, err = exactly(pruned, columnsOf(root.Schema())); err != nil {
		return nil, err
	}
	return o.rewrite(pruned, mergeProjections)
}

// columnSet is a set of names.
type columnSet map[string]bool

func (s columnSet) read(list ...expr.Expr) columnSet {
	for _, e := range list {
		addColumns(s, e)
	}
	return s
}

// with returns the names and the columns of expressions.
func (s columnSet) with(list ...expr.Expr) columnSet {
	both := maps.Clone(s)
	if both == nil {
		both = columnSet{}
	}
	return both.read(list...)
}

// and returns the names and others.
func (s columnSet) and(names []string) columnSet {
	both := s.with()
	for _, name := range names {
		both[name] = true
	}
	return both
}

// columnPruner knows which columns of each node are read.
type columnPruner struct{ needed map[Node]columnSet }

func (p *columnPruner) need(n Node, names ...string) {
	if p.needed[n] == nil {
		p.needed[n] = columnSet{}
	}
	for _, name := range names {
		p.needed[n][name] = true
	}
}

func (p *columnPruner) needSet(n Node, names columnSet) {
	p.need(n)
	for _, name := range columnsOf(n.Schema()) {
		if names[name] {
			p.need(n, name)
		}
	}
}

// inputsOf notes which columns a node reads of its inputs.
func (p *columnPruner) inputsOf(n Node) {
	wanted := p.needed[n]
	read := n.reads(wanted)
	for i, input := range n.Inputs() {
		if read == nil {
			p.need(input, columnsOf(input.Schema())...)
		} else {
			p.needSet(input, read[i])
		}
	}
}

// sides returns the columns that a join reads of its sides.
func (j *Join) sides(wanted columnSet) []columnSet {
	left, right := columnSet{}, columnSet{}
	for _, k := range j.options.Keys {
		left.read(k.Left)
		right.read(k.Right)
	}
	for name := range wanted.with(j.options.Where) {
		if from := j.fromRight[name]; from != "" {
			right[from] = true
		} else {
			left[name] = true
		}
	}
	return []columnSet{left, right}
}

// needed returns the expressions of the columns that are read, at least one.
func (p *Project) needed(names columnSet) []expr.Expr {
	var list []expr.Expr
	for _, e := range p.expressions {
		if names[e.Name()] {
			list = append(list, e)
		}
	}
	if len(list) > 0 || len(p.expressions) == 0 {
		return list
	}
	// The number of rows is all that is read. A column that is passed on costs nothing.
	for _, e := range p.expressions {
		if _, ok := plainColumn(e); ok {
			return []expr.Expr{e}
		}
	}
	return p.expressions[:1]
}

func wantedOf(list []Aggregation, names columnSet) []Aggregation {
	return slices.DeleteFunc(slices.Clone(list), func(a Aggregation) bool { return !names[a.Name] })
}

// needed returns the aggregations that are read. A grouping without keys has at least one.
func (a *Aggregate) needed(names columnSet) []Aggregation {
	list := wantedOf(a.aggregations, names)
	if len(list) == 0 && len(a.keys) == 0 {
		return a.aggregations[:1]
	}
	return list
}

// prune makes a node on pruned inputs. Its schema has at least the columns that are read.
func (p *columnPruner) prune(n Node, inputs []Node) (Node, error) {
	pruned, err := n.pruned(inputs, p.needed[n])
	if pruned != nil || err != nil {
		return pruned, err
	}
	return withInputs(n, inputs...)
}

// exactly returns a node with the named columns, in this order.
func exactly(n Node, names []string) (Node, error) {
	if slices.Equal(columnsOf(n.Schema()), names) {
		return n, nil
	}
	return node(NewColumns(n, names...))
}

// pruneJoin makes a join on sides with fewer columns. The name of a right column depends on
// other columns. If these are gone, it gets its name back.
func pruneJoin(j *Join, left, right Node, wanted columnSet) (Node, error) {
	if left == j.left && right == j.right {
		return j, nil
	}
	options := j.options
	options.Where = options.noCondition()
	joined, err := NewJoin(left, right, options)
	if err != nil {
		return nil, err
	}
	before, renamed := map[string]expr.Expr{}, false
	for name, from := range j.fromRight {
		if after := joined.named(from); after != "" {
			before[name] = expr.Col(after)
			renamed = renamed || after != name
		}
	}
	if !j.options.Where.IsZero() {
		options.Where = j.options.Where
		if renamed {
			options.Where = inline(options.Where, before)
		}
		if joined, err = NewJoin(left, right, options); err != nil {
			return nil, err
		}
	}
	if !renamed || j.options.Kind == join.Semi || j.options.Kind == join.Anti {
		return joined, nil
	}
	var list []expr.Expr
	for _, name := range columnsOf(j.schema) {
		if !wanted[name] {
			continue
		}
		if after, ok := before[name]; ok {
			list = append(list, Named(after, name))
		} else {
			list = append(list, expr.Col(name))
		}
	}
	if len(list) == 0 {
		return joined, nil
	}
	return node(NewProject(joined, list...))
}

// mergeProjections inlines a projection in one above it, or in the grouping above it, and
// removes one that changes nothing.
func mergeProjections(n Node) (Node, error) {
	if len(n.Inputs()) != 1 {
		return n, nil
	}
	if p, ok := n.(*Project); ok && p.changesNothing() {
		return p.input, nil
	}
	below, ok := n.Inputs()[0].(*Project)
	if !ok {
		return n, nil
	}
	merged, err := n.overProjection(below)
	if merged == nil && err == nil {
		return n, nil
	}
	return merged, err
}

func (p *Project) changesNothing() bool {
	names := columnsOf(p.input.Schema())
	if len(names) != len(p.expressions) {
		return false
	}
	for i, e := range p.expressions {
		if name, ok := plainColumn(e); !ok || name != names[i] || e.Name() != name {
			return false
		}
	}
	return true
}

func (p *Project) overProjection(below *Project) (Node, error) {
	definitions := below.definitions()
	list := make([]expr.Expr, len(p.expressions))
	for i, e := range p.expressions {
		list[i] = Named(inline(e, definitions), e.Name())
	}
	merged, err := NewProject(below.input, list...)
	if err != nil || sameColumns(p.schema, merged.schema) != nil {
		return p, nil // an operation takes only columns, for example
	}
	if merged.changesNothing() {
		return merged.input, nil
	}
	return merged, nil
}

func (a *Aggregate) overProjection(below *Project) (Node, error) {
	definitions := below.definitions()
	keys := make([]expr.Expr, len(a.keys))
	for i, k := range a.keys {
		keys[i] = Named(inline(k, definitions), k.Name())
	}
	list := make([]Aggregation, len(a.aggregations))
	for i, each := range a.aggregations {
		list[i] = each.over(definitions)
	}
	options := a.options
	if !options.Where.IsZero() {
		options.Where = inline(options.Where, definitions)
	}
	merged, err := NewAggregate(below.input, keys, list, options)
	if err != nil || sameColumns(a.schema, merged.schema) != nil {
		return a, nil
	}
	return merged, nil
}
