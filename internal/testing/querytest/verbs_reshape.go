package querytest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe"
)

// unpivot makes rows of the columns of one kind, and keeps some of the others.
func (g *generator) unpivot(s state) state {
	kind := s.table.Columns[g.choose("unpivoted", len(s.table.Columns))].Kind
	var columns, keep []string
	var places, with []int
	for i, c := range s.table.Columns {
		switch {
		case c.Kind == kind:
			columns, places = append(columns, c.Name), append(places, i)
		case g.choose("keep", 2) == 0:
			keep, with = append(keep, c.Name), append(with, i)
		}
	}
	if len(places)*len(s.table.Rows) > g.mostRows() {
		return s
	}
	unpivoted := &Table{Ordered: s.table.Ordered}
	for _, i := range with {
		unpivoted.Columns = append(unpivoted.Columns, s.table.Columns[i])
	}
	variable, value := g.newName(), g.newName()
	unpivoted.Columns = append(unpivoted.Columns, Column{Name: variable, Kind: String, Required: true}, Column{Name: value, Kind: kind})
	for i, at := range places {
		for _, row := range s.table.Rows {
			unpivoted.Rows = append(unpivoted.Rows, append(slices.Clone(pick(row, with)), columns[i], row[at]))
		}
	}
	q := s.query.Unpivot(columns, keep...).Rename("variable", variable).Rename("value", value)
	return g.inSQL(s.then(q, unpivoted, "Unpivot(%v, %v) as %s, %s", columns, keep, variable, value),
		"select %s, row_number() over (order by list_position(['%s'], %s), %s) as %s from %s unpivot include nulls (%s for %s in (%s))", quotedList(unpivoted.names()),
		strings.Join(columns, "', '"), quoted(variable), rowOrder, rowOrder, s.sql, quoted(value), quoted(variable), quotedList(columns))
}

// ordered adds a function of the order in partitions: the number of the row, its rank, or the value
// of a row before or after it. Rows with equal keys keep their order.
func (g *generator) ordered(s state) state {
	if !s.table.Ordered {
		return s
	}
	keys, _, list := g.keys(s, 2)
	k := sortKey{g.draw(s.table).value(1), g.choose("descending", 2) == 0, g.choose("nulls first", 3) == 0}
	e, name := g.draw(s.table).at(g.choose("before", len(s.table.Columns))), g.newName()
	order := orderedSQL([]sortKey{k})
	keyOnly := strings.TrimSuffix(order, ", "+rowOrder)
	neighbour := func(step int) func([]Row, int) any {
		return func(rows []Row, i int) any {
			if i+step < 0 || i+step >= len(rows) {
				return nil
			}
			return e.model(rows[i+step])
		}
	}
	functions := []struct {
		expr       gpuframe.Expr
		kind       Kind
		sql, order string
		model      func(rows []Row, i int) any
	}{
		{gpuframe.RowNumber(), Int64, "row_number()", order, func(_ []Row, i int) any { return int64(i + 1) }},
		{e.expr.Lag(1), e.kind, "lag(" + e.sql + ")", order, neighbour(-1)},
		{e.expr.Lead(2), e.kind, "lead(" + e.sql + ", 2)", order, neighbour(2)},
		{gpuframe.Rank(), Int64, "rank()", keyOnly, func(rows []Row, i int) any {
			for i > 0 && k.same(rows[i-1], rows[i]) {
				i--
			}
			return int64(i + 1)
		}},
		{gpuframe.DenseRank(), Int64, "dense_rank()", keyOnly, func(rows []Row, i int) any {
			n := int64(1)
			for ; i > 0; i-- {
				if !k.same(rows[i-1], rows[i]) {
					n++
				}
			}
			return n
		}},
	}
	f := functions[g.choose("function of the order", len(functions))]
	values, numbered := map[int]any{}, make([]Row, len(s.table.Rows))
	for i, row := range s.table.Rows {
		numbered[i] = append(slices.Clone(row), i)
	}
	groups, _ := grouped(numbered, keys)
	for _, rows := range groups {
		rows = sorted(rows, []sortKey{k})
		for i, row := range rows {
			values[numberOf(row)] = f.model(rows, i)
		}
	}
	window := gpuframe.By(list).OrderBy(k.ordering())
	text := fmt.Sprintf("%s over (%s order by %s)", f.sql, partitionSQL(keys), f.order)
	columns := append(kept(s.table), computed{Column: Column{Name: name, Kind: f.kind}, sql: text})
	next := s.then(s.query.With(f.expr.Over(window).As(name)), added(s, name, f.kind, values), "With(%v over %v order by %v as %s)", f.expr, list, k, name)
	return g.projected(next, s, columns)
}

// same reports whether two rows have equal keys.
func (k sortKey) same(a, b Row) bool {
	return keyOf([]any{k.model(a)}) == keyOf([]any{k.model(b)})
}
