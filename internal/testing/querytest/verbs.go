package querytest

import (
	"slices"

	"github.com/gpuframe/gpuframe"
)

// step draws a verb. A verb that does not fit leaves the state as it is.
func (g *generator) step(s state) state {
	verbs := []func(state) state{
		g.filter, g.filter, g.selection, g.with, g.with, g.drop, g.rename, g.sort, g.slice, g.slice, g.distinct,
		g.union, g.dropNulls, g.fillNull, g.group, g.group, g.whole, g.window, g.join, g.join, g.cache,
	}
	made := verbs[g.choose("verb", len(verbs))](s)
	if g.choose("then filter", 3) == 0 { // what filters pass by
		return g.filter(made)
	}
	return made
}

func (g *generator) filter(s state) state {
	c := g.draw(s.table).condition(2)
	return s.then(s.query.Filter(c.expr), s.table.with(keep(s.table.Rows, c)), "Filter(%v)", c)
}

// computed is a column with a definition.
type computed struct {
	Column
	of func(Row) any
}

// project computes the columns of a table.
func project(t *Table, columns []computed) *Table {
	made := &Table{Ordered: t.Ordered, Rows: make([]Row, len(t.Rows))}
	for _, c := range columns {
		made.Columns = append(made.Columns, c.Column)
	}
	for i, row := range t.Rows {
		made.Rows[i] = make(Row, len(columns))
		for j, c := range columns {
			made.Rows[i][j] = c.of(row)
		}
	}
	return made
}

// kept returns the columns of a table as they are.
func kept(t *Table) []computed {
	list := make([]computed, len(t.Columns))
	for i, c := range t.Columns {
		list[i] = computed{c, func(row Row) any { return row[i] }}
	}
	return list
}

func (g *generator) selection(s state) state {
	var list []gpuframe.Expression
	var columns []computed
	for range 1 + g.choose("selected", 3) {
		e, name := g.draw(s.table).value(2), g.newName()
		list = append(list, e.expr.As(name))
		columns = append(columns, computed{Column{Name: name, Kind: e.kind}, e.of})
	}
	for i, c := range kept(s.table) {
		if g.choose("kept", 2) == 0 {
			list = append(list, gpuframe.Col(s.table.Columns[i].Name))
			columns = append(columns, c)
		}
	}
	return s.then(s.query.Select(list...), project(s.table, columns), "Select(%v)", list)
}

func (g *generator) with(s state) state {
	e := g.draw(s.table).value(2)
	columns := kept(s.table)
	name := g.newName()
	if g.choose("replace", 3) == 0 {
		at := g.choose("replaced", len(columns))
		name = columns[at].Name
		columns[at] = computed{Column{Name: name, Kind: e.kind}, e.of}
	} else {
		columns = append(columns, computed{Column{Name: name, Kind: e.kind}, e.of})
	}
	return s.then(s.query.With(e.expr.As(name)), project(s.table, columns), "With(%v as %s)", e, name)
}

func (g *generator) drop(s state) state {
	if len(s.table.Columns) == 1 {
		return s
	}
	at := g.choose("dropped", len(s.table.Columns))
	name := s.table.Columns[at].Name
	columns := slices.Delete(kept(s.table), at, at+1)
	return s.then(s.query.Drop(name), project(s.table, columns), "Drop(%s)", name)
}

func (g *generator) rename(s state) state {
	columns := kept(s.table)
	at, name := g.choose("renamed", len(columns)), g.newName()
	before := columns[at].Name
	columns[at].Name = name
	return s.then(s.query.Rename(before, name), project(s.table, columns), "Rename(%s, %s)", before, name)
}

// sortKey is a key of a sort.
type sortKey struct {
	expression
	descending, nullsFirst bool
}

// sorted returns rows in order.
func sorted(rows []Row, keys []sortKey) []Row {
	made := slices.Clone(rows)
	slices.SortStableFunc(made, func(a, b Row) int {
		for _, k := range keys {
			x, y := k.of(a), k.of(b)
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
	return made
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
	if s.table.Ordered && g.choose("top", 2) == 0 {
		n := g.choose("top rows", 6)
		return s.then(s.query.Top(int64(n), orders...), s.table.with(rows[:min(n, len(rows))]), "Top(%d, %v)", n, keys)
	}
	return s.then(s.query.Sort(orders...), s.table.with(rows), "Sort(%v)", keys)
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
	return s.then(s.query.Sort(orders...), table, "Sort(the first %d columns)", columns)
}

func (g *generator) slice(s state) state {
	if !s.table.Ordered {
		return s
	}
	rows := s.table.Rows
	n := g.choose("number", 9)
	switch g.choose("part", 4) {
	case 0:
		return s.then(s.query.Tail(int64(n)), s.table.with(rows[max(len(rows)-n, 0):]), "Tail(%d)", n)
	case 1:
		from := min(g.choose("from", 6), len(rows))
		return s.then(s.query.Slice(int64(from), int64(n)), s.table.with(rows[from:min(from+n, len(rows))]), "Slice(%d, %d)", from, n)
	}
	return s.then(s.query.Head(int64(n)), s.table.with(rows[:min(n, len(rows))]), "Head(%d)", n)
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
	return s.then(s.query.Distinct(columns...), s.table.with(rows), "Distinct(%v)", columns)
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
	made := &Table{slices.Clone(s.table.Columns), slices.Concat(s.table.Rows, other.table.Rows), s.table.Ordered && other.table.Ordered}
	return s.then(s.query.Union(other.query), made, "Union(%s)", other.text())
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
	return s.then(s.query.DropNulls(name), s.table.with(rows), "DropNulls(%s)", name)
}

func (g *generator) cache(s state) state { return s.then(s.query.Cache(), s.table, "Cache()") }

func (g *generator) fillNull(s state) state {
	at := g.choose("filled", len(s.table.Columns))
	c := s.table.Columns[at]
	if c.Kind == String {
		return s
	}
	literal := g.draw(s.table).literal(c.Kind)
	columns := kept(s.table)
	columns[at].of = func(row Row) any {
		if row[at] == nil {
			return literal.of(row)
		}
		return row[at]
	}
	return s.then(s.query.FillNull(literal.expr, c.Name), project(s.table, columns), "FillNull(%v, %s)", literal, c.Name)
}
