package querytest

import (
	"slices"

	"github.com/gpuframe/gpuframe"
)

// star joins the rows so far with a new table of few rows, and groups: before the join by its
// key, or after it by columns of the new table with aggregates of the columns so far. These are
// the queries for which the optimizer moves a grouping below a join, or a join below a grouping.
func (g *generator) star(s state) state {
	key, ok := g.draw(s.table).column(isKind(Int32))
	if !ok {
		return s
	}
	few := g.sourceOf(min(g.options.Least, 3), min(g.options.Rows, 3))
	fewKey := g.draw(few.table).at(0)
	kinds := []gpuframe.JoinKind{gpuframe.Inner, gpuframe.Left, gpuframe.Right, gpuframe.Semi, gpuframe.Anti}
	if g.choose("group first", 2) == 0 {
		name := g.newName()
		by := s.query.GroupBy(key.expr.As(name))
		a, columns := g.columnAggregates(s.table, 0, len(s.table.Columns))
		groups, _ := grouped(s.table.Rows, []expression{key})
		table := &Table{Columns: append([]Column{{Name: name, Kind: Int32}}, columns...)}
		for _, rows := range groups {
			table.Rows = append(table.Rows, a.row([]any{key.of(rows[0])}, rows))
		}
		s = g.groupedSQL(s.then(by.Agg(a.list...), table, "GroupBy(%v).Agg(%v)", key, a.list), s, []expression{key}, false, inSQL(a.of, ""))
		key = g.draw(table).at(0)
		return g.joinWith(s, few, key, fewKey, kinds[g.choose("join", len(kinds))])
	}
	left, right, leftKey, rightKey, from := s, few, key, fewKey, 0
	if g.choose("new table on the left", 2) == 0 {
		left, right, leftKey, rightKey, from = few, s, fewKey, key, len(few.table.Columns)
	}
	made := g.joinWith(left, right, leftKey, rightKey, kinds[g.choose("join", 2)])
	if len(made.table.Columns) != len(s.table.Columns)+len(few.table.Columns) {
		return made // a key is one column, or there are too many rows
	}
	fewFrom := len(s.table.Columns) - from
	if from > 0 {
		fewFrom = 0
	}
	by := g.draw(made.table).at(fewFrom + g.choose("group key", len(few.table.Columns)))
	a, columns := g.columnAggregates(made.table, from, from+len(s.table.Columns))
	name := g.newName()
	table := &Table{Columns: append([]Column{{Name: name, Kind: by.kind}}, columns...)}
	groups, _ := grouped(made.table.Rows, []expression{by})
	for _, rows := range groups {
		table.Rows = append(table.Rows, a.row([]any{by.of(rows[0])}, rows))
	}
	result := made.then(made.query.GroupBy(by.expr.As(name)).Agg(a.list...), table, "GroupBy(%v as %s).Agg(%v)", by, name, a.list)
	return g.groupedSQL(result, made, []expression{by}, false, inSQL(a.of, ""))
}

// joinWith joins by one pair of keys.
func (g *generator) joinWith(left, right state, leftKey, rightKey expression, kind gpuframe.JoinKind) state {
	j := joined{kind: kind, left: left.table, right: right.table, leftKeys: []expression{leftKey}, rightKeys: []expression{rightKey}}
	term := gpuframe.JoinTerm(gpuframe.On(leftKey.expr, rightKey.expr))
	if name := leftKey.expr.Name(); name == rightKey.expr.Name() {
		j.shared, term = []string{name}, gpuframe.Col(name)
	}
	j.name()
	made := j.run()
	if len(made.Rows) > g.mostRows() {
		return left
	}
	return j.inSQL(g, left.then(left.query.Join(right.query, kind, term), made, "Join(%s, %v, on %v = %v)", right.text(), kind, leftKey, rightKey), left, right)
}

// aggregates are aggregates with names.
type aggregates struct {
	list []gpuframe.Expression
	of   []aggregation
}

func (a aggregates) row(keys []any, rows []Row) Row {
	row := slices.Clone(keys)
	for _, made := range a.of {
		row = append(row, made.of(rows))
	}
	return row
}

// columnAggregates draws aggregates of columns of a table, from one place to before another.
func (g *generator) columnAggregates(t *Table, from, to int) (a aggregates, columns []Column) {
	for range 1 + g.choose("aggregates", 3) {
		e := g.draw(t).at(from + g.choose("aggregated", to-from))
		made := aggregation{e.expr.Count(), Int64, func(rows []Row) any { return int64(len(notNull(e, rows))) }, aggregateSQL("count(VALUE)ROWS", e), false}
		switch choice := g.choose("aggregate", 4); {
		case choice == 1 && e.kind == Int32:
			made = aggregation{e.expr.Sum(), Int64, func(rows []Row) any { return sum(Int64, notNull(e, rows)) }, aggregateSQL(sumSQL(Int64), e), false}
		case choice == 2 && e.kind != Bool:
			made = aggregation{e.expr.Min(), e.kind, func(rows []Row) any { return extreme(notNull(e, rows), -1) }, extremeSQL("min", e), false}
		case choice == 3 && e.kind != Bool:
			made = aggregation{e.expr.Max(), e.kind, func(rows []Row) any { return extreme(notNull(e, rows), 1) }, extremeSQL("max", e), false}
		}
		name := g.newName()
		a.list, a.of = append(a.list, made.expr.As(name)), append(a.of, made)
		columns = append(columns, Column{Name: name, Kind: made.kind})
	}
	return a, columns
}

// notNull returns the values of an expression that are not null.
func notNull(e expression, rows []Row) (list []any) {
	for _, row := range rows {
		if value := e.of(row); value != nil {
			list = append(list, value)
		}
	}
	return list
}
