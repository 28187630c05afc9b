package querytest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe"
)

// step draws a verb. A verb that does not fit leaves the state as it is.
func (g *generator) step(s state) state {
	verbs := []func(state) state{
		g.filter, g.filter, g.selection, g.with, g.with, g.drop, g.rename, g.sort, g.slice, g.slice, g.distinct,
		g.union, g.dropNulls, g.fillNull, g.group, g.group, g.whole, g.window, g.join, g.join, g.star, g.star, g.cache, g.unpivot, g.ordered,
		g.pivot, g.explode, g.sample, g.asOf, g.nearestTo, g.oddUnion, g.series, g.rolling, g.calendar, g.resample,
		g.sets, g.numbered, g.random, g.strata, g.crossTab, g.beyond,
	}
	next := verbs[g.choose("verb", len(verbs))](s)
	if g.choose("then filter", 3) == 0 { // what filters pass by
		return g.filter(next)
	}
	return next
}

func (g *generator) filter(s state) state {
	c := g.draw(s.table).condition(2)
	filtered := s.then(s.query.Filter(c.expr), s.table.with(keep(s.table.Rows, c)), "Filter(%v)", c)
	return g.inSQL(filtered, "select * from %s where %s", s.sql, c.sql)
}

// computed is a column with a definition.
type computed struct {
	Column
	model func(Row) any
	sql   string
}

// project computes the columns of a table.
func project(t *Table, columns []computed) *Table {
	projection := &Table{Ordered: t.Ordered, Rows: make([]Row, len(t.Rows))}
	for _, c := range columns {
		projection.Columns = append(projection.Columns, c.Column)
	}
	for i, row := range t.Rows {
		projection.Rows[i] = make(Row, len(columns))
		for j, c := range columns {
			projection.Rows[i][j] = c.model(row)
		}
	}
	return projection
}

// kept returns the columns of a table as they are.
func kept(t *Table) []computed {
	list := make([]computed, len(t.Columns))
	for i, c := range t.Columns {
		list[i] = computed{c, func(row Row) any { return row[i] }, quoted(c.Name)}
	}
	return list
}

func (g *generator) selection(s state) state {
	var list []gpuframe.Expression
	var columns []computed
	for range 1 + g.choose("selected", 3) {
		e, name := g.draw(s.table).value(2), g.newName()
		list = append(list, e.expr.As(name))
		columns = append(columns, computed{Column{Name: name, Kind: e.kind}, e.model, e.sql})
	}
	for i, c := range kept(s.table) {
		if g.choose("kept", 2) == 0 {
			list = append(list, gpuframe.Col(s.table.Columns[i].Name))
			columns = append(columns, c)
		}
	}
	return g.projected(s.then(s.query.Select(list), project(s.table, columns), "Select(%v)", list), s, columns)
}

func (g *generator) with(s state) state {
	e := g.draw(s.table).value(2)
	columns := kept(s.table)
	name := g.newName()
	if g.choose("replace", 3) == 0 {
		at := g.choose("replaced", len(columns))
		name = columns[at].Name
		columns[at] = computed{Column{Name: name, Kind: e.kind}, e.model, e.sql}
	} else {
		columns = append(columns, computed{Column{Name: name, Kind: e.kind}, e.model, e.sql})
	}
	return g.projected(s.then(s.query.With(e.expr.As(name)), project(s.table, columns), "With(%v as %s)", e, name), s, columns)
}

func (g *generator) drop(s state) state {
	if len(s.table.Columns) == 1 {
		return s
	}
	at := g.choose("dropped", len(s.table.Columns))
	name := s.table.Columns[at].Name
	columns := slices.Delete(kept(s.table), at, at+1)
	return g.projected(s.then(s.query.Drop(name), project(s.table, columns), "Drop(%s)", name), s, columns)
}

func (g *generator) rename(s state) state {
	return g.renamed(s, s.table.Columns[g.choose("renamed", len(s.table.Columns))].Name, g.newName())
}

// renamed gives a column another name.
func (g *generator) renamed(s state, before, name string) state {
	columns := kept(s.table)
	columns[s.table.place(before)].Name = name
	return g.projected(s.then(s.query.Rename(before, name), project(s.table, columns), "Rename(%s, %s)", before, name), s, columns)
}

// sortKey is a key of a sort.
type sortKey struct {
	expression
	descending, nullsFirst bool
}

// sorted returns rows in order.
func sorted(rows []Row, keys []sortKey) []Row {
	ordered := slices.Clone(rows)
	slices.SortStableFunc(ordered, func(a, b Row) int {
		for _, k := range keys {
			x, y := k.model(a), k.model(b)
			switch {
			case x == nil && y == nil:
				continue
			case x == nil || y == nil:
				if (x == nil) == k.nullsFirst {
					return -1
				}
				return 1
			}
			c := compare(x, y)
			if k.descending {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	return ordered
}

func (k sortKey) ordering() gpuframe.Ordering {
	o := k.expr.Asc()
	if k.descending {
		o = k.expr.Desc()
	}
	if k.nullsFirst {
		o = o.NullsFirst()
	}
	return o
}

func (g *generator) sort(s state) state {
	var keys []sortKey
	var orders []gpuframe.Ordering
	for range 1 + g.choose("keys", 2) {
		k := sortKey{g.draw(s.table).value(1), g.choose("descending", 2) == 0, g.choose("nulls first", 3) == 0}
		keys, orders = append(keys, k), append(orders, k.ordering())
	}
	rows := sorted(s.table.Rows, keys)
	ordered := g.inSQL(s, "select * replace (row_number() over (order by %s) as %s) from %s", orderedSQL(keys), rowOrder, s.sql)
	if s.table.Ordered && g.choose("top", 2) == 0 {
		n := g.choose("top rows", 6)
		top := s.then(s.query.Top(int64(n), orders...), s.table.with(rows[:min(n, len(rows))]), "Top(%d, %v)", n, keys)
		return g.inSQL(top, "select * from %s where %s <= %d", ordered.sql, rowOrder, n)
	}
	return ordered.then(s.query.Sort(orders...), s.table.with(rows), "Sort(%v)", keys)
}

// byAll orders the rows by columns that no two rows have in common.
func (g *generator) byAll(s state, columns int) state {
	var keys []sortKey
	var orders []gpuframe.Ordering
	for i := range columns {
		k := sortKey{expression: g.draw(s.table).at(i)}
		keys, orders = append(keys, k), append(orders, k.ordering())
	}
	table := s.table.with(sorted(s.table.Rows, keys))
	table.Ordered = true
	ordered := s.then(s.query.Sort(orders...), table, "Sort(the first %d columns)", columns)
	return g.inSQL(ordered, "select * replace (row_number() over (order by %s) as %s) from %s", orderedSQL(keys), rowOrder, s.sql)
}

func (g *generator) slice(s state) state {
	if !s.table.Ordered {
		return s
	}
	rows := s.table.Rows
	n := g.choose("number", 9)
	var sliced state
	from, order := 0, rowOrder
	switch g.choose("part", 4) {
	case 0:
		order += " desc"
		sliced = s.then(s.query.Tail(int64(n)), s.table.with(rows[max(len(rows)-n, 0):]), "Tail(%d)", n)
	case 1:
		from = min(g.choose("from", 6), len(rows))
		sliced = s.then(s.query.Slice(int64(from), int64(n)), s.table.with(rows[from:min(from+n, len(rows))]), "Slice(%d, %d)", from, n)
	default:
		sliced = s.then(s.query.Head(int64(n)), s.table.with(rows[:min(n, len(rows))]), "Head(%d)", n)
	}
	return g.inSQL(sliced, "select * from %s order by %s limit %d offset %d", s.sql, order, n, from)
}

func (g *generator) distinct(s state) state {
	var columns []string
	var places []int
	for i, c := range s.table.Columns {
		if s.table.Ordered && g.choose("by", 2) == 0 {
			columns, places = append(columns, c.Name), append(places, i)
		}
	}
	if len(places) == 0 {
		for i := range s.table.Columns {
			places = append(places, i)
		}
	}
	seen := map[string]bool{}
	var rows []Row
	for _, row := range s.table.Rows {
		if key := keyOf(pick(row, places)); !seen[key] {
			seen[key] = true
			rows = append(rows, row)
		}
	}
	unique := s.then(s.query.Distinct(columns...), s.table.with(rows), "Distinct(%v)", columns)
	if len(columns) == 0 {
		columns = s.table.names()
	}
	return g.inSQL(unique, "select distinct on (%s) * from %s order by %s", quotedList(columns), s.sql, rowOrder)
}

func pick(row Row, places []int) []any {
	values := make([]any, len(places))
	for i, at := range places {
		values[i] = row[at]
	}
	return values
}

// sameColumns reports whether tables can be united.
func sameColumns(a, b *Table) bool {
	return slices.EqualFunc(a.Columns, b.Columns, func(x, y Column) bool { return x.Name == y.Name && x.Kind == y.Kind })
}

func (g *generator) union(s state) state {
	other := g.seen[g.choose("with", len(g.seen))]
	if !sameColumns(s.table, other.table) {
		other = s
	}
	if len(s.table.Rows)+len(other.table.Rows) > 200 {
		return s
	}
	united := &Table{slices.Clone(s.table.Columns), slices.Concat(s.table.Rows, other.table.Rows), s.table.Ordered && other.table.Ordered}
	return g.unionSQL(s.then(s.query.Union(other.query), united, "Union(%s)", other.text()), s.sql, other.sql)
}

// sets keeps the rows that another table has or has not.
func (g *generator) sets(s state) state {
	other := g.seen[g.choose("compared with", len(g.seen))]
	if !sameColumns(s.table, other.table) || other.query == s.query {
		other = g.filter(s)
	}
	verbs := []struct {
		name, sql string
		query     func(q, other gpuframe.Query) gpuframe.Query
	}{
		{"Except", "except", gpuframe.Query.Except}, {"ExceptAll", "except all", gpuframe.Query.ExceptAll},
		{"Intersect", "intersect", gpuframe.Query.Intersect}, {"IntersectAll", "intersect all", gpuframe.Query.IntersectAll},
	}
	verb := verbs[g.choose("sets", len(verbs))]
	all, theirs := strings.HasSuffix(verb.name, "All"), map[string]int{}
	places := make([]int, len(s.table.Columns))
	for i, c := range s.table.Columns {
		places[i] = other.table.place(c.Name)
	}
	for _, row := range other.table.Rows {
		theirs[keyOf(pick(row, places))]++
	}
	var rows []Row
	seen := map[string]int{}
	for _, row := range s.table.Rows {
		key := keyOf(row)
		seen[key]++
		inBoth := theirs[key] > 0
		if all {
			inBoth = seen[key] <= theirs[key]
		}
		if (all || seen[key] == 1) && inBoth == strings.HasPrefix(verb.name, "Intersect") {
			rows = append(rows, row)
		}
	}
	compared := s.then(verb.query(s.query, other.query), &Table{slices.Clone(s.table.Columns), rows, false}, "%s(%s)", verb.name, other.text())
	list := quotedList(s.table.names())
	return g.inSQL(compared, "select %s, row_number() over () as %s from (select %s from %s %s select %s from %s)", list, rowOrder, list, s.sql, verb.sql, list, other.sql)
}

// oddUnion adds rows of shapes that optimizers treat apart: none, none at all, one row of the
// query itself, and the query three times.
func (g *generator) oddUnion(s state) state {
	if !s.table.Ordered || 3*len(s.table.Rows) > g.mostRows() {
		return s
	}
	rows := s.table.Rows
	none, first := s.table.with(nil), s.table.with(rows[:min(1, len(rows))])
	switch g.choose("odd union", 5) {
	case 0: // an empty table between others
		q := s.query.Union(s.query.Filter(gpuframe.Lit(false)), s.query.Head(1))
		united := s.then(q, s.table.with(slices.Concat(rows, first.Rows)), "Union(of none, and of Head(1))")
		return g.unionSQL(united, s.sql, fmt.Sprintf("(select * from %s order by %s limit 1)", s.sql, rowOrder))
	case 1:
		return s.then(s.query.Head(0).Union(s.query), s.table, "Head(0).Union(itself)")
	case 2:
		united := s.then(s.query.Head(0).Union(s.query.Head(0)).Distinct(), none, "Head(0).Union(Head(0)).Distinct()")
		return g.inSQL(united, "select * from %s limit 0", s.sql)
	case 3:
		united := s.then(s.query.Union(s.query, s.query), s.table.with(slices.Concat(rows, rows, rows)), "Union(itself, itself)")
		return g.unionSQL(united, s.sql, s.sql, s.sql)
	}
	return s.then(s.query.Union(), s.table, "Union()")
}

func (g *generator) dropNulls(s state) state {
	name := s.table.Columns[g.choose("without null", len(s.table.Columns))].Name
	at := s.table.place(name)
	var rows []Row
	for _, row := range s.table.Rows {
		if row[at] != nil {
			rows = append(rows, row)
		}
	}
	kept := s.then(s.query.DropNulls(name), s.table.with(rows), "DropNulls(%s)", name)
	return g.inSQL(kept, "select * from %s where %s is not null", s.sql, quoted(name))
}

func (g *generator) cache(s state) state { return s.then(s.query.Cache(), s.table, "Cache()") }

func (g *generator) fillNull(s state) state {
	at := g.choose("filled", len(s.table.Columns))
	c := s.table.Columns[at]
	if c.Kind.isText() {
		return s
	}
	literal := g.draw(s.table).literal(c.Kind)
	columns := kept(s.table)
	columns[at].model = func(row Row) any {
		if row[at] == nil {
			return literal.model(row)
		}
		return row[at]
	}
	columns[at].sql = fmt.Sprintf("coalesce(%s, %s)", columns[at].sql, literal.sql)
	return g.projected(s.then(s.query.FillNull(literal.expr, c.Name), project(s.table, columns), "FillNull(%v, %s)", literal, c.Name), s, columns)
}
