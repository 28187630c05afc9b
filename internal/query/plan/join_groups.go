package plan

import (
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// joinGroups moves a join with a table from below a group to above it, if the key of the join is unique in the table and the
// other keys of the group determine it: the join then reads a row for each group in place of the rows, and the group
// does not compare the columns of the table. SQL names all columns of a customer as keys, for example. (Yan and Larson,
// "Performing Group-By before Join", 1994.) Its conditions: the aggregates read the other side only, the join has one
// key, and the table is a whole one, with a row for a good part of the values that the other side can have.
func (o *optimization) joinGroups(root Node) (Node, error) {
	parents := parents(root)
	return o.rewriteEach(inputsFirst(root), func(n Node, inputs []Node) (Node, error) {
		rewritten, err := withInputs(n, inputs...)
		a, ok := rewritten.(*Aggregate)
		if err != nil || !ok || !isReadOnce(n.Inputs()[0], parents) {
			return rewritten, err
		}
		moved, err := o.joinLater(a)
		if err != nil || moved == nil || sameColumns(a.schema, moved.Schema()) != nil {
			return rewritten, err
		}
		return moved, nil
	})
}

// isReadOnce reports whether nothing else reads a node, or the joins and projections below it.
func isReadOnce(n Node, parents map[Node]int) bool {
	switch n.(type) {
	case *Join, *Project:
		return parents[n] == 1 && !slices.ContainsFunc(n.Inputs(), func(input Node) bool { return !isReadOnce(input, parents) })
	}
	return true
}

// joinLater returns the group with the joins of its input above it, or nil without a join to move.
func (o *optimization) joinLater(a *Aggregate) (Node, error) {
	if a.options.Order != group.Unspecified || a.options.DropNulls || !a.options.Where.IsZero() || !ofAnyOrder(a.aggregations) {
		return nil, nil
	}
	if p, ok := a.input.(*Project); ok && p.onlyColumns() {
		merged, err := a.overProjection(p)
		if over, ok := merged.(*Aggregate); err == nil && ok {
			a = over
		}
	}
	j, ok := a.input.(*Join)
	if !ok || j.options.Kind != join.Inner || len(j.options.Keys) != 1 || !j.options.Where.IsZero() || j.options.NullsEqual {
		return nil, nil
	}
	for side := range j.Inputs() {
		l := laterJoin{optimization: o, group: a, join: j, side: side}
		if moves, err := l.find(); err != nil || moves {
			if err != nil {
				return nil, err
			}
			return l.moved()
		}
	}
	return nil, nil
}

// laterJoin is a join below a group that may be moved above it.
type laterJoin struct {
	*optimization
	group *Aggregate
	join  *Join
	// side is that of the table: 0 is the left side.
	side int
	// key is the column of the table that the join compares, other that of the other side.
	key, other string
	// isTableKey is set for the keys of the group on the table. The others are on the other side.
	isTableKey []bool
}

// spanPerRow is the most integers between the values of the other side's key for each row of the table: if there were
// many more, most groups could have no row in the table, and the join below the group leaves them out early.
const spanPerRow = 4

// find reports whether the join can be moved. It looks at the rows of tables last.
func (l *laterJoin) find() (bool, error) {
	k := l.join.options.Keys[0]
	key, isKey := plainColumn([]expr.Expr{k.Left, k.Right}[l.side])
	other, isOther := plainColumn([]expr.Expr{k.Left, k.Right}[1-l.side])
	if l.key, l.other = key, other; !isKey || !isOther || l.facts == nil {
		return false, nil
	}
	table, rows := l.join.Inputs()[l.side], l.join.Inputs()[1-l.side]
	few, many := l.rowsOf(table).Rows, l.rowsOf(rows).Rows
	if few < 0 || few > many || !isWhole(table) || !l.divides() {
		return false, nil
	}
	l.mostCounted = many
	if determined, err := l.determinesKey(); err != nil || !determined {
		return false, err
	}
	scan, column := scanOf(rows, other)
	if scan == nil {
		return false, nil
	}
	span, ok, err := l.facts.Span(l.ctx, scan.source, column)
	if err != nil || !ok || span/spanPerRow > uint64(few) {
		return false, err
	}
	return l.isUnique(table, key)
}

// scanOf returns the scan and its column that a column of a node is, or nil.
func scanOf(n Node, name string) (scan *Scan, column string) {
	for n != nil {
		if scan, ok := n.(*Scan); ok {
			return scan, name
		}
		n, name = n.origin(name)
	}
	return nil, ""
}

// isWhole reports whether a node has all rows of a table, or those of a join of such tables.
func isWhole(n Node) bool {
	switch n := n.(type) {
	case *Project:
		return isWhole(n.input)
	case *Join:
		return n.options.Kind == join.Inner && n.options.Where.IsZero() && isWhole(n.left) && isWhole(n.right)
	case *Scan:
		return len(n.where) == 0 && n.limit == 0
	}
	return false
}

// divides reports whether each key of the group is of one side, at least one of them of the table and not its key, and
// no aggregate reads the table.
func (l *laterJoin) divides() bool {
	read := columnSet{}
	for _, a := range l.group.aggregations {
		a.columns(read)
	}
	for name := range read {
		if l.isOf(l.side, name) && !l.isOf(1-l.side, name) {
			return false
		}
	}
	moves := false
	for _, k := range l.group.keys {
		names := k.Columns()
		ofOther := !slices.ContainsFunc(names, func(name string) bool { return !l.isOf(1-l.side, name) })
		if !ofOther && slices.ContainsFunc(names, func(name string) bool { return !l.isOf(l.side, name) }) {
			return false
		}
		l.isTableKey = append(l.isTableKey, !ofOther)
		name, isColumn := plainColumn(k)
		moves = moves || !ofOther && !(isColumn && l.columnOfSide(l.side, name) == l.key)
	}
	return moves
}

// isOf reports whether a column of the join is one of a side. The key of both sides is of both.
func (l *laterJoin) isOf(side int, name string) bool {
	_, ok := l.join.columnOf(side, name)
	return ok
}

// columnOfSide returns the column of a side that a column of the join is.
func (l *laterJoin) columnOfSide(side int, name string) string {
	from, _ := l.join.columnOf(side, name)
	return from
}

// onSide returns an expression on the join as one on a side.
func (l *laterJoin) onSide(side int, e expr.Expr) expr.Expr {
	names := map[string]expr.Expr{}
	for _, name := range e.Columns() {
		names[name] = expr.Col(l.columnOfSide(side, name))
	}
	return inline(e, names)
}

// determinesKey reports whether rows with equal keys of the group have the same row of the table.
func (l *laterJoin) determinesKey() (bool, error) {
	known := columnSet{}
	for _, k := range l.group.keys {
		if name, ok := plainColumn(k); ok {
			known[name] = true
		}
	}
	isKnown := func(columns columnSet) bool {
		for name := range columns {
			if l.isOf(1-l.side, name) && l.columnOfSide(1-l.side, name) == l.other || l.isOf(l.side, name) && l.columnOfSide(l.side, name) == l.key {
				return true
			}
		}
		return false
	}
	if isKnown(known) {
		return true, nil
	}
	all, err := l.join.determined(l.optimization, known)
	if err != nil {
		return false, err
	}
	return isKnown(all), nil
}

// moved groups the other side by its keys and that of the join, and joins the groups with the table.
func (l *laterJoin) moved() (Node, error) {
	grouped, joined, err := l.grouped()
	if err != nil {
		return nil, err
	}
	groups := Node(grouped)
	if later, err := l.joinLater(grouped); err != nil {
		return nil, err
	} else if later != nil && sameColumns(grouped.schema, later.Schema()) == nil {
		groups = later
	}
	tableKey := Computed("table key")
	columns := []expr.Expr{expr.Col(l.key).As(tableKey)}
	results := make([]expr.Expr, 0, len(l.group.keys)+len(l.group.aggregations))
	for i, k := range l.group.keys {
		name := laterName("key", i)
		if l.isTableKey[i] {
			columns = append(columns, l.onSide(l.side, Unnamed(k)).As(name))
		}
		results = append(results, Named(expr.Col(name), k.Name()))
	}
	for i, a := range l.group.aggregations {
		results = append(results, Named(expr.Col(laterName("value", i)), a.Name))
	}
	table, err := NewProject(l.join.Inputs()[l.side], columns...)
	if err != nil {
		return nil, err
	}
	options := JoinOptions{Kind: join.Inner, Keys: []JoinKey{{Left: expr.Col(joined), Right: expr.Col(tableKey)}}, AnyOrder: true}
	above, err := NewJoin(groups, table, options)
	if err != nil {
		return nil, err
	}
	return node(NewProject(above, results...))
}

// grouped returns the groups of the other side, and their column of the key of the join.
func (l *laterJoin) grouped() (grouped *Aggregate, joined string, err error) {
	other := 1 - l.side
	var keys []expr.Expr
	for i, k := range l.group.keys {
		if l.isTableKey[i] {
			continue
		}
		k = l.onSide(other, Unnamed(k))
		if name, ok := plainColumn(k); ok && name == l.other {
			joined = laterName("key", i)
		}
		keys = append(keys, k.As(laterName("key", i)))
	}
	if joined == "" {
		joined = Computed("joined key")
		keys = append(keys, expr.Col(l.other).As(joined))
	}
	list := make([]Aggregation, len(l.group.aggregations))
	for i, a := range l.group.aggregations {
		names := map[string]expr.Expr{}
		read := columnSet{}
		a.columns(read)
		for name := range read {
			names[name] = expr.Col(l.columnOfSide(other, name))
		}
		list[i] = a.over(names)
		list[i].Name = laterName("value", i)
	}
	grouped, err = NewAggregate(l.join.Inputs()[other], keys, list, l.group.options)
	return grouped, joined, err
}

// laterName is the name of a column of the groups.
func laterName(kind string, i int) string { return Computed(fmt.Sprintf("later %s %d", kind, i)) }
