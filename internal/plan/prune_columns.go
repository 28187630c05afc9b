package plan

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

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
	read := columnSet{}
	switch n := n.(type) {
	case *Filter:
		read.read(n.condition)
	case *Project:
		read.read(n.needed(wanted)...)
		p.needSet(n.input, read)
		return
	case *Aggregate:
		read.read(n.keys...).read(n.options.Where)
		for _, a := range n.needed(wanted) {
			a.columns(read)
		}
		p.needSet(n.input, read)
		return
	case *Window:
		list := wantedOf(n.aggregations, wanted)
		for _, a := range list {
			a.columns(read)
		}
		if len(list) > 0 {
			read.read(n.partition...)
		}
	case *Over:
		if list := n.needed(wanted); len(list) > 0 {
			n.columns(read, list)
		}
	case *Distinct:
		for _, name := range n.columns {
			read[name] = true
		}
	case *Explode:
		for _, name := range n.columns {
			read[name] = true
		}
	case *Sort:
		for _, k := range n.keys {
			read.read(k.Value)
		}
	case *Join:
		p.sidesOf(n, wanted)
		return
	case *Slice, *Union, *Number, *Draw:
	default:
		for _, input := range n.Inputs() {
			p.need(input, columnsOf(input.Schema())...)
		}
		return
	}
	for _, input := range n.Inputs() {
		p.needSet(input, wanted)
		p.needSet(input, read)
	}
}

// sidesOf notes which columns a join reads of its sides.
func (p *columnPruner) sidesOf(j *Join, wanted columnSet) {
	left, right := columnSet{}, columnSet{}
	for _, k := range j.options.Keys {
		left.read(k.Left)
		right.read(k.Right)
	}
	names := columnSet{}.read(j.options.Where)
	for name := range wanted {
		names[name] = true
	}
	for name := range names {
		if from := j.fromRight[name]; from != "" {
			right[from] = true
		} else {
			left[name] = true
		}
	}
	p.needSet(j.left, left)
	p.needSet(j.right, right)
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
	wanted := p.needed[n]
	switch n := n.(type) {
	case *Scan:
		if len(wanted) == len(n.columns) {
			return n, nil
		}
		return n.WithColumns(wanted), nil
	case *Filter:
		filter, err := NewFilter(inputs[0], n.condition)
		if err != nil || len(wanted) == filter.schema.NumFields() {
			return node(filter, err)
		}
		return filter.WithColumns(wanted), nil
	case *Project:
		list := n.needed(wanted)
		if len(list) == len(n.expressions) {
			return withInputs(n, inputs...)
		}
		return node(NewProject(inputs[0], list...))
	case *Aggregate:
		list := n.needed(wanted)
		if len(list) == len(n.aggregations) {
			return withInputs(n, inputs...)
		}
		return node(NewAggregate(inputs[0], n.keys, list, n.options))
	case *Over:
		list := n.needed(wanted)
		switch len(list) {
		case 0:
			return inputs[0], nil
		case len(n.functions):
			return withInputs(n, inputs...)
		}
		return node(NewOver(inputs[0], n.partition, n.keys, list))
	case *Window:
		list := wantedOf(n.aggregations, wanted)
		switch len(list) {
		case 0:
			return inputs[0], nil
		case len(n.aggregations):
			return withInputs(n, inputs...)
		}
		return node(NewWindow(inputs[0], n.partition, list))
	case *Number:
		options := n.needed(wanted)
		if options.isEmpty() {
			return inputs[0], nil
		}
		return node(NewNumber(inputs[0], options))
	case *Union:
		return pruneUnion(n, inputs, wanted)
	case *Join:
		return pruneJoin(n, inputs[0], inputs[1], wanted)
	case *Nothing:
		return NewNothing(arrow.NewSchema(slices.DeleteFunc(slices.Clone(n.schema.Fields()), func(f arrow.Field) bool { return !wanted[f.Name] }), nil)), nil
	}
	return withInputs(n, inputs...)
}

// pruneUnion selects the same columns of all inputs.
func pruneUnion(u *Union, inputs []Node, wanted columnSet) (Node, error) {
	var names []string
	for _, name := range columnsOf(u.schema) {
		if wanted[name] {
			names = append(names, name)
		}
	}
	pruned := make([]Node, len(inputs))
	for i, input := range inputs {
		var err error
		if pruned[i], err = exactly(input, names); err != nil {
			return nil, err
		}
	}
	return withInputs(u, pruned...)
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
	options.Where = expr.Expr{}
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
			list = append(list, named(after, name))
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
	below, ok := n.Inputs()[0].(*Project)
	switch n := n.(type) {
	case *Project:
		if n.changesNothing() {
			return n.input, nil
		}
		if ok {
			return mergedProjections(n, below)
		}
	case *Aggregate:
		if ok {
			return mergedAggregate(n, below)
		}
	}
	return n, nil
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

func mergedProjections(above, below *Project) (Node, error) {
	definitions := below.definitions()
	list := make([]expr.Expr, len(above.expressions))
	for i, e := range above.expressions {
		list[i] = named(inline(e, definitions), e.Name())
	}
	merged, err := NewProject(below.input, list...)
	if err != nil || sameColumns(above.schema, merged.schema) != nil {
		return above, nil // an operation takes only columns, for example
	}
	if merged.changesNothing() {
		return merged.input, nil
	}
	return merged, nil
}

func mergedAggregate(a *Aggregate, below *Project) (Node, error) {
	definitions := below.definitions()
	keys := make([]expr.Expr, len(a.keys))
	for i, k := range a.keys {
		keys[i] = named(inline(k, definitions), k.Name())
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
