package sql

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// groupingSets collects the keys of GROUP BY and the sets of them.
type groupingSets struct {
	*translation
	scope  *scope
	list   []tree.Expr
	prints []string
}

// keys returns the keys, and the sets of their numbers if there is more than one.
func (g *groupingSets) keys(list []tree.GroupKey) (keys []tree.Expr, sets [][]int) {
	all := [][]int{{}}
	hasSets := false
	for _, key := range list {
		hasSets = hasSets || key.Kind != tree.KeyExpr && key.Kind != tree.KeySet
		all = g.product(key, all, g.sets(key))
	}
	if !hasSets {
		return g.list, nil
	}
	if len(all)*len(g.list) > bind.MostMembers {
		g.fail(list[0], "GROUP BY has %d grouping sets of %d keys, expected at most %d keys in all: group by fewer keys, or by expressions of them", len(all), len(g.list), bind.MostMembers)
	}
	return g.list, all
}

// product returns each set of one list with each set of the other.
func (g *groupingSets) product(at tree.Node, a, b [][]int) (all [][]int) {
	if len(a)*len(b) > bind.MostSets {
		g.fail(at, "GROUP BY has more than %d grouping sets", bind.MostSets)
	}
	for _, x := range a {
		for _, y := range b {
			all = append(all, slices.Concat(x, y))
		}
	}
	return all
}

// sets returns the sets that a key stands for.
func (g *groupingSets) sets(key tree.GroupKey) (sets [][]int) {
	switch key.Kind {
	case tree.KeySets:
		for _, set := range key.Sets {
			sets = append(sets, g.sets(set)...)
		}
		return sets
	case tree.KeyRollup:
		return bind.Rollup(g.parts(key)...)
	case tree.KeyCube:
		cube := bind.Cube(g.parts(key)...)
		if cube == nil {
			g.fail(key, "GROUP BY has more than %d grouping sets", bind.MostSets)
		}
		return cube
	}
	return [][]int{slices.Concat(g.parts(key)...)}
}

// parts returns the numbers of the keys of each element.
func (g *groupingSets) parts(key tree.GroupKey) (parts [][]int) {
	for _, e := range key.Exprs {
		if row, ok := e.(*tree.Row); ok {
			var numbers []int
			for _, item := range row.Items {
				numbers = append(numbers, g.number(item))
			}
			parts = append(parts, numbers)
			continue
		}
		parts = append(parts, []int{g.number(e)})
	}
	return parts
}

// number returns the number of a key: an expression, or an item of SELECT by its position.
func (g *groupingSets) number(e tree.Expr) int {
	if l, ok := e.(*tree.Literal); ok && l.Kind == tree.Integer {
		n, _ := g.literal(l).constant.(int64)
		if n < 1 || n > int64(len(g.scope.aliases)) {
			g.fail(e, "position %s is not one of the %d items of SELECT", l.Text, len(g.scope.aliases))
		}
		i := g.scope.aliases[n-1]
		if e = i.expr; i.column != nil {
			e = &tree.Column{Position: i.expr.Pos(), Name: []tree.Name{{Text: i.column.table}, {Text: i.column.name}}}
		}
	}
	print := g.fingerprint(g.scope, e)
	if at := slices.Index(g.prints, print); at >= 0 {
		return at
	}
	g.list, g.prints = append(g.list, e), append(g.prints, print)
	return len(g.list) - 1
}

// sets returns the groups of all grouping sets, one set after the other. Keys that a set lacks are null.
func (a *aggregation) sets(sets [][]int, carried int) *relation {
	all := a.keys
	marks := map[string]*column{}
	for print := range a.groups.group.keys {
		marks[print] = &column{id: a.unique("grouping"), dataType: int64Type}
	}
	var parts []gpuframe.Query
	columns := slices.Concat(all, a.columns)
	for _, o := range a.others {
		columns = append(columns, o.columns...)
	}
	for _, d := range a.distinct {
		columns = append(columns, d.column)
	}
	for _, q := range a.quantiles {
		columns = append(columns, q.column)
	}
	renamed := map[*column]*column{}
	for _, set := range sets {
		keys := slices.Clone(all[:carried])
		for i := carried; i < len(all); i++ {
			if slices.Contains(set, i-carried) {
				keys = append(keys, all[i])
			}
		}
		groups := a.result(keys)
		var list []gpuframe.Expression
		for _, c := range columns {
			if renamed[c] == nil {
				renamed[c] = &column{id: a.unique("group"), dataType: c.dataType, isNull: c.isNull}
			}
			e := gpuframe.Col(c.id)
			if slices.Contains(all, c) && !slices.Contains(keys, c) {
				e = a.nullOf(c.dataType).expr
			}
			list = append(list, e.As(renamed[c].id))
		}
		for print, c := range a.groups.group.keys {
			missing := int64(1)
			if slices.Contains(keys, c) {
				missing = 0
			}
			list = append(list, gpuframe.LitOf(int64Type, missing).As(marks[print].id))
		}
		parts = append(parts, groups.query.Select(sortedByName(list)))
	}
	g := a.groups.group
	for print, c := range g.keys {
		g.keys[print] = renamed[c]
	}
	for from, c := range g.columns {
		g.columns[from] = renamed[c]
	}
	for print, c := range g.aggregates {
		if !c.isNull {
			g.aggregates[print] = renamed[c]
		}
	}
	g.marks = marks
	return &relation{query: parts[0].Union(parts[1:]...)}
}

// sortedByName orders columns, so that all parts of a union have the same order.
func sortedByName(list []gpuframe.Expression) []gpuframe.Expression {
	slices.SortFunc(list, func(a, b gpuframe.Expression) int {
		x, y := a.(gpuframe.Expr).Name(), b.(gpuframe.Expr).Name()
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return list
}

// groupingValue translates GROUPING: a bit for each argument, 1 if its key is not grouped.
func (t *translation) groupingValue(s *scope, e *tree.Call) value {
	if len(e.Args) == 0 {
		t.fail(e, "GROUPING has no arguments, expected keys of GROUP BY")
	}
	result := value{expr: gpuframe.LitOf(int64Type, int64(0)), dataType: arrow.DataType(int64Type), uses: columnSet{}}
	for _, a := range e.Args {
		print := t.fingerprint(s, a.Expr)
		if _, ok := s.group.keys[print]; !ok {
			t.fail(a.Expr, "the argument of GROUPING is no key of GROUP BY")
		}
		bit := gpuframe.LitOf(int64Type, int64(0))
		if mark := s.group.marks[print]; mark != nil {
			bit = gpuframe.Col(mark.id)
			result.uses.add(mark.value().uses)
		}
		result.expr = result.expr.Mul(gpuframe.LitOf(int64Type, int64(2))).Add(bit)
	}
	return result
}
