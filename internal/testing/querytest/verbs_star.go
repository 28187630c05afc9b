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
			table.Rows = append(table.Rows, a.row([]any{key.model(rows[0])}, rows))
		}
		s = g.groupedSQL(s.then(by.Agg(a.list...), table, "GroupBy(%v).Agg(%v)", key, a.list), s, []expression{key}, false, inSQL(a.aggregations, ""))
		key = g.draw(table).at(0)
		return g.joinWith(s, few, key, fewKey, kinds[g.choose("join", len(kinds))])
	}
	left, right, leftKey, rightKey, from := s, few, key, fewKey, 0
	if g.choose("new table on the left", 2) == 0 {
		left, right, leftKey, rightKey, from = few, s, fewKey, key, len(few.table.Columns)
	}
	both := g.joinWith(left, right, leftKey, rightKey, kinds[g.choose("join", 2)])
	if len(both.table.Columns) != len(s.table.Columns)+len(few.table.Columns) {
		return both // a key is one column, or there are too many rows
	}
	fewFrom := len(s.table.Columns) - from
	if from > 0 {
		fewFrom = 0
	}
	by := g.draw(both.table).at(fewFrom + g.choose("group key", len(few.table.Columns)))
	a, columns := g.columnAggregates(both.table, from, from+len(s.table.Columns))
	name := g.newName()
	table := &Table{Columns: append([]Column{{Name: name, Kind: by.kind}}, columns...)}
	groups, _ := grouped(both.table.Rows, []expression{by})
	for _, rows := range groups {
		table.Rows = append(table.Rows, a.row([]any{by.model(rows[0])}, rows))
	}
	result := both.then(both.query.GroupBy(by.expr.As(name)).Agg(a.list...), table, "GroupBy(%v as %s).Agg(%v)", by, name, a.list)
	return g.groupedSQL(result, both, []expression{by}, false, inSQL(a.aggregations, ""))
}

// joinWith joins by one pair of keys.
func (g *generator) joinWith(left, right state, leftKey, rightKey expression, kind gpuframe.JoinKind) state {
	j := joined{kind: kind, left: left.table, right: right.table, leftKeys: []expression{leftKey}, rightKeys: []expression{rightKey}}
	term := gpuframe.JoinTerm(gpuframe.On(leftKey.expr, rightKey.expr))
	if name := leftKey.expr.Name(); name == rightKey.expr.Name() {
		j.shared, term = []string{name}, gpuframe.Col(name)
	}
	j.name()
	table := j.run()
	if len(table.Rows) > g.mostRows() {
		return left
	}
	return j.inSQL(g, left.then(left.query.Join(right.query, kind, term), table, "Join(%s, %v, on %v = %v)", right.text(), kind, leftKey, rightKey), left, right)
}

// aggregates are aggregates with names.
type aggregates struct {
	list         []gpuframe.Expression
	aggregations []aggregation
}

func (a aggregates) row(keys []any, rows []Row) Row {
	row := slices.Clone(keys)
	for _, aggregate := range a.aggregations {
		row = append(row, aggregate.model(rows))
	}
	return row
}

// columnAggregates draws aggregates of columns of a table, from one place to before another.
func (g *generator) columnAggregates(t *Table, from, to int) (a aggregates, columns []Column) {
	for range 1 + g.choose("aggregates", 3) {
		e := g.draw(t).at(from + g.choose("aggregated", to-from))
		drawn := aggregation{e.expr.Count(), Int64, func(rows []Row) any { return int64(len(notNull(e, rows))) }, aggregateSQL("count(VALUE)ROWS", e)}
		switch choice := g.choose("aggregate", 4); {
		case choice == 1 && e.kind == Int32:
			drawn = aggregation{e.expr.Sum(), Int64, func(rows []Row) any { return sum(Int64, notNull(e, rows)) }, aggregateSQL(sumSQL(Int64), e)}
		case choice == 2 && e.kind != Bool:
			drawn = aggregation{e.expr.Min(), e.kind, func(rows []Row) any { return extreme(notNull(e, rows), -1) }, extremeSQL("min", e)}
		case choice == 3 && e.kind != Bool:
			drawn = aggregation{e.expr.Max(), e.kind, func(rows []Row) any { return extreme(notNull(e, rows), 1) }, extremeSQL("max", e)}
		}
		name := g.newName()
		a.list, a.aggregations = append(a.list, drawn.expr.As(name)), append(a.aggregations, drawn)
		columns = append(columns, Column{Name: name, Kind: drawn.kind})
	}
	return a, columns
}

// notNull returns the values of an expression that are not null.
func notNull(e expression, rows []Row) (list []any) {
	for _, row := range rows {
		if value := e.model(row); value != nil {
			list = append(list, value)
		}
	}
	return list
}
