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
	var of, with []int
	for i, c := range s.table.Columns {
		switch {
		case c.Kind == kind:
			columns, of = append(columns, c.Name), append(of, i)
		case g.choose("keep", 2) == 0:
			keep, with = append(keep, c.Name), append(with, i)
		}
	}
	if len(of)*len(s.table.Rows) > mostPairs {
		return s
	}
	made := &Table{Ordered: s.table.Ordered}
	for _, i := range with {
		made.Columns = append(made.Columns, s.table.Columns[i])
	}
	variable, value := g.newName(), g.newName()
	made.Columns = append(made.Columns, Column{Name: variable, Kind: String, Required: true}, Column{Name: value, Kind: kind})
	for i, at := range of {
		for _, row := range s.table.Rows {
			made.Rows = append(made.Rows, append(slices.Clone(pick(row, with)), columns[i], row[at]))
		}
	}
	q := s.query.Unpivot(columns, keep...).Rename("variable", variable).Rename("value", value)
	return g.inSQL(s.then(q, made, "Unpivot(%v, %v) as %s, %s", columns, keep, variable, value),
		"select %s, row_number() over (order by list_position(['%s'], %s), %s) as %s from %s unpivot include nulls (%s for %s in (%s))", quotedList(made.names()),
		strings.Join(columns, "', '"), quoted(variable), rowOrder, rowOrder, s.sql, quoted(value), quoted(variable), quotedList(columns))
}

// ordered adds a function of the order in partitions: the number of the row, or the value of the
// row before. Rows with equal keys keep their order.
func (g *generator) ordered(s state) state {
	if !s.table.Ordered {
		return s
	}
	keys, _, list := g.keys(s, 2)
	k := sortKey{g.draw(s.table).value(1), g.choose("descending", 2) == 0, g.choose("nulls first", 3) == 0}
	e, name := g.draw(s.table).at(g.choose("before", len(s.table.Columns))), g.newName()
	numbers := g.choose("number", 2) == 0
	function, kind := e.expr.Lag(1), e.kind
	if numbers {
		function, kind = gpuframe.RowNumber(), Int64
	}
	values := make([]any, len(s.table.Rows))
	at := make([]Row, len(s.table.Rows)) // each row with its number behind it
	for i, row := range s.table.Rows {
		at[i] = append(slices.Clone(row), i)
	}
	groups, _ := grouped(at, keys)
	for _, rows := range groups {
		for i, row := range sorted(rows, []sortKey{k}) {
			number := row[len(row)-1].(int)
			switch {
			case numbers:
				values[number] = int64(i + 1)
			case i > 0:
				values[number] = e.of(sorted(rows, []sortKey{k})[i-1])
			}
		}
	}
	made := &Table{Columns: append(slices.Clone(s.table.Columns), Column{Name: name, Kind: kind}), Ordered: true}
	for i, row := range s.table.Rows {
		made.Rows = append(made.Rows, append(slices.Clone(row), values[i]))
	}
	window := gpuframe.By(list...).OrderBy(k.ordering())
	text := "lag(" + e.sql + ")"
	if numbers {
		text = "row_number()"
	}
	text += fmt.Sprintf(" over (%s order by %s)", partitionSQL(keys), orderedSQL([]sortKey{k}))
	columns := append(kept(s.table), computed{Column: Column{Name: name, Kind: kind}, sql: text})
	return g.projected(s.then(s.query.With(function.Over(window).As(name)), made, "With(%v over %v order by %v as %s)", function, list, k, name), s, columns)
}
