package plan

import (
	"maps"
	"math"
	"slices"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// orderJoins joins the inputs of consecutive inner joins in another order, if nothing depends
// on the order of the rows. It joins the two inputs with the smallest expected result first,
// then takes the result as an input, and so on (greedy operator ordering; Fegaras, "A New
// Heuristic for Optimizing Large Queries", 1998). The larger side becomes the left one, which
// streams; the smaller one is held. package join builds its hash table on the smaller side.
func (o *optimization) orderJoins(root Node) (Node, error) {
	j := joinOrderer{optimization: o, read: orderIsRead(root), parents: parents(root), done: map[Node]Node{}}
	return j.apply(root)
}

type joinOrderer struct {
	*optimization
	read    map[Node]bool
	parents map[Node]int
	done    map[Node]Node
}

func (o *joinOrderer) apply(n Node) (ordered Node, err error) {
	if known, ok := o.done[n]; ok {
		return known, nil
	}
	defer func() {
		if err == nil {
			o.done[n] = ordered
		}
	}()
	if err := o.visit(); err != nil {
		return nil, err
	}
	if t := o.tree(n); t != nil {
		for i := range t.subtrees {
			leaf := &t.subtrees[i].node
			if *leaf, err = o.apply(*leaf); err != nil {
				return nil, err
			}
		}
		return t.joined(columnsOf(n.Schema()))
	}
	inputs := make([]Node, len(n.Inputs()))
	for i, input := range n.Inputs() {
		if inputs[i], err = o.apply(input); err != nil {
			return nil, err
		}
	}
	return withInputs(n, inputs...)
}

// mostOrdered is the largest number of joins of a joinTree. The time to order them grows with its
// square.
const mostOrdered = 32

// joinTree is consecutive inner joins: the inputs, the pairs of equal expressions and the
// other conditions.
type joinTree struct {
	subtrees   []subtree
	joins      int
	edges      []joinEdge
	conditions []expr.Expr
	// anyOrder is the option of the topmost join: the others are below it.
	anyOrder bool
}

// subtree is an input, or a join of some.
type subtree struct {
	node   Node
	leaves []int
	rows   float64
	// base is the number of rows of an input before filters.
	base float64
}

// joinEdge is a pair of equal expressions over the columns of two inputs.
type joinEdge struct {
	keys [2]expr.Expr
	from [2]int
	// distinct is the expected number of distinct values.
	distinct float64
}

// isInner reports whether a join can change places with others: columns keep their names, and
// its order of rows is free or not read.
func (o *joinOrderer) isInner(n Node) (*Join, bool) {
	j, ok := n.(*Join)
	if !ok || o.read[n] && !j.options.AnyOrder || j.options.Kind != join.Inner || j.options.NullsEqual {
		return nil, false
	}
	for _, k := range j.options.Keys {
		if _, shared := k.shared(); shared {
			return nil, false
		}
	}
	for name, from := range j.fromRight {
		if name != from {
			return nil, false
		}
	}
	return j, true
}

// tree returns the joins that begin with a node, perhaps below a filter, or nil if no two of them can change
// places.
func (o *joinOrderer) tree(n Node) *joinTree {
	first := n
	if f, ok := n.(*Filter); ok && o.parents[f.input] == 1 {
		first = f.input
	}
	topmost, ok := o.isInner(first)
	if !ok {
		return nil
	}
	t := &joinTree{anyOrder: topmost.options.AnyOrder}
	o.flatten(t, n, true)
	if !t.estimate(o.Analysis) || !t.connect() {
		return nil
	}
	return t
}

// flatten adds the inputs of a join, and of joins below it, to a tree.
func (o *joinOrderer) flatten(t *joinTree, n Node, top bool) {
	if top || o.parents[n] == 1 && t.joins < mostOrdered {
		if j, ok := o.isInner(n); ok {
			t.joins++
			for _, k := range j.options.Keys {
				t.edges = append(t.edges, joinEdge{keys: [2]expr.Expr{k.Left, k.Right}})
			}
			if !j.options.Where.IsZero() {
				t.conditions = append(t.conditions, j.options.Where.Conjuncts()...)
			}
			o.flatten(t, j.left, false)
			o.flatten(t, j.right, false)
			return
		}
		if conditions, ok := n.passes(); ok {
			input := n.Inputs()[0]
			if _, ok := o.isInner(input); ok && o.parents[input] == 1 {
				t.conditions = append(t.conditions, conditions...)
				o.flatten(t, input, false)
				return
			}
		}
	}
	t.subtrees = append(t.subtrees, subtree{node: n, leaves: []int{len(t.subtrees)}})
}

// onlyColumns reports whether a projection passes on columns by their names.
func (p *Project) onlyColumns() bool {
	return !slices.ContainsFunc(p.expressions, func(e expr.Expr) bool {
		name, ok := plainColumn(e)
		return !ok || name != e.Name()
	})
}

// estimate finds the expected rows of the inputs, or returns false if they are not known.
func (t *joinTree) estimate(a *Analysis) bool {
	for i := range t.subtrees {
		s := &t.subtrees[i]
		size := a.rowsOf(s.node)
		if size.Rows < 0 {
			return false
		}
		s.rows, s.base = float64(size.Rows), float64(max(a.baseRows(s.node), 1))
	}
	return true
}

// baseRows returns the rows of the source of a node, before filters and semi joins.
func (a *Analysis) baseRows(n Node) int64 {
	for below := n.rowsFrom(); below != nil; below = n.rowsFrom() {
		n = below
	}
	return a.rowsOf(n).Rows
}

// connect finds the inputs of the edges. It returns false if two inputs have a column of one
// name, or a side of an edge has the columns of no input or of several.
func (t *joinTree) connect() bool {
	from := map[string]int{}
	for i, s := range t.subtrees {
		for _, name := range columnsOf(s.node.Schema()) {
			if _, known := from[name]; known {
				return false
			}
			from[name] = i
		}
	}
	for i := range t.edges {
		for side, e := range t.edges[i].keys {
			columns := e.Columns()
			if len(columns) == 0 {
				return false
			}
			t.edges[i].from[side] = from[columns[0]]
			if slices.ContainsFunc(columns, func(name string) bool { return from[name] != from[columns[0]] }) {
				return false
			}
		}
		if t.edges[i].from[0] == t.edges[i].from[1] {
			return false
		}
	}
	t.countDistinct()
	return t.isConnected()
}

// isConnected reports whether edges lead from each input to all others.
func (t *joinTree) isConnected() bool {
	reached := map[int]bool{0: true}
	for range t.subtrees {
		for _, e := range t.edges {
			if reached[e.from[0]] || reached[e.from[1]] {
				reached[e.from[0]], reached[e.from[1]] = true, true
			}
		}
	}
	return len(reached) == len(t.subtrees)
}

// countDistinct estimates the distinct values of the edges. Expressions that are equal to each
// other, also by way of others, have no more values than the smallest of their tables has rows.
func (t *joinTree) countDistinct() {
	type end struct {
		input int
		text  string
	}
	class, members := map[end]int{}, [][]end{}
	for _, edge := range t.edges {
		var ends [2]end
		for side, e := range edge.keys {
			ends[side] = end{edge.from[side], Unnamed(e).String()}
			if _, known := class[ends[side]]; !known {
				class[ends[side]] = len(members)
				members = append(members, []end{ends[side]})
			}
		}
		if a, b := class[ends[0]], class[ends[1]]; a != b {
			for _, m := range members[b] {
				class[m] = a
			}
			members[a], members[b] = append(members[a], members[b]...), nil
		}
	}
	for i := range t.edges {
		edge := &t.edges[i]
		edge.distinct = math.Inf(1)
		for _, m := range members[class[end{edge.from[0], Unnamed(edge.keys[0]).String()}]] {
			edge.distinct = min(edge.distinct, t.subtrees[m.input].base)
		}
	}
}

// between returns the edges between two subtrees, with the first one on the left.
func (t *joinTree) between(a, b subtree) (list []joinEdge) {
	for _, e := range t.edges {
		switch {
		case slices.Contains(a.leaves, e.from[0]) && slices.Contains(b.leaves, e.from[1]):
			list = append(list, e)
		case slices.Contains(b.leaves, e.from[0]) && slices.Contains(a.leaves, e.from[1]):
			e.keys[0], e.keys[1] = e.keys[1], e.keys[0]
			e.from[0], e.from[1] = e.from[1], e.from[0]
			list = append(list, e)
		}
	}
	return list
}

// joined joins the inputs and returns a node with some columns.
func (t *joinTree) joined(columns []string) (Node, error) {
	inputs := slices.Clone(t.subtrees)
	rest := slices.Clone(t.subtrees)
	for len(rest) > 1 {
		left, right, rows := t.smallest(inputs, rest)
		a, b := rest[left], rest[right]
		if a.rows < b.rows {
			a, b = b, a
		}
		larger, err := t.join(a, b)
		if err != nil {
			return nil, err
		}
		rest[min(left, right)] = subtree{node: larger, leaves: slices.Concat(a.leaves, b.leaves), rows: rows}
		rest = slices.Delete(rest, max(left, right), max(left, right)+1)
	}
	return exactly(rest[0].node, columns)
}

// smallest returns the two subtrees with an edge with the smallest expected join, and its rows.
func (t *joinTree) smallest(inputs, rest []subtree) (left, right int, rows float64) {
	left, rows = -1, math.Inf(1)
	edges := t.pairs(rest)
	for _, p := range slices.SortedFunc(maps.Keys(edges), func(p, q [2]int) int { return slices.Compare(p[:], q[:]) }) {
		if n := rest[p[0]].rows * rest[p[1]].rows / combinations(inputs, edges[p]); left < 0 || n < rows {
			left, right, rows = p[0], p[1], n
		}
	}
	return left, right, max(rows, 1)
}

// pairs returns the edges between each two subtrees of a list.
func (t *joinTree) pairs(list []subtree) map[[2]int][]joinEdge {
	subtreeOf := make([]int, len(t.subtrees))
	for i, s := range list {
		for _, leaf := range s.leaves {
			subtreeOf[leaf] = i
		}
	}
	edges := map[[2]int][]joinEdge{}
	for _, e := range t.edges {
		a, b := subtreeOf[e.from[0]], subtreeOf[e.from[1]]
		if a != b {
			pair := [2]int{min(a, b), max(a, b)}
			edges[pair] = append(edges[pair], e)
		}
	}
	return edges
}

// combinations is the expected number of distinct combinations of the keys of some edges: at
// most the rows of the smallest of the tables that they come from.
func combinations(inputs []subtree, edges []joinEdge) float64 {
	product, most := 1.0, math.Inf(1)
	for _, e := range edges {
		product *= e.distinct
		most = min(most, inputs[e.from[0]].base, inputs[e.from[1]].base)
	}
	return max(min(product, most), 1)
}

// join joins two subtrees, with the conditions that read only their columns.
func (t *joinTree) join(a, b subtree) (Node, error) {
	options := JoinOptions{Kind: join.Inner, AnyOrder: t.anyOrder}
	for _, e := range t.between(a, b) {
		options.Keys = append(options.Keys, JoinKey{Left: e.keys[0], Right: e.keys[1]})
	}
	var rest, ready []expr.Expr
	has := map[string]bool{}
	for _, s := range []subtree{a, b} {
		for _, name := range columnsOf(s.node.Schema()) {
			has[name] = true
		}
	}
	for _, c := range t.conditions {
		if slices.ContainsFunc(c.Columns(), func(name string) bool { return !has[name] }) {
			rest = append(rest, c)
		} else {
			ready = append(ready, c)
		}
	}
	t.conditions = rest
	if len(ready) > 0 {
		options.Where = allOf(ready)
	}
	return node(NewJoin(a.node, b.node, options))
}
