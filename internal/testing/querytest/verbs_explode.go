package querytest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe"
)

// explode makes a list of each value of a column, and a row of each element: the parts of a
// text, or the integers below a number.
func (g *generator) explode(s state) state {
	e, ok := g.draw(s.table).column(func(k Kind) bool { return k.isText() || k == Int32 || k == Int64 })
	if !ok {
		return s
	}
	list, kind := e.expr.Split("a"), String
	if !e.kind.isText() {
		list, kind = e.expr.Clamp(-1, 4).Sequence(), Int64
	}
	options := gpuframe.ExplodeOptions{DropEmpty: g.choose("drop empty", 2) == 0}
	name := g.newName()
	exploded := &Table{Columns: append(slices.Clone(s.table.Columns), Column{Name: name, Kind: kind}), Ordered: s.table.Ordered}
	if g.choose("position", 2) == 0 {
		options.Position = g.newName()
		exploded.Columns = append(exploded.Columns, Column{Name: options.Position, Kind: Int64})
	}
	for _, row := range s.table.Rows {
		elements := elementsOf(e.model(row))
		for position, element := range elements {
			exploded.Rows = append(exploded.Rows, withElement(row, element, int64(position), options))
		}
		if len(elements) == 0 && !options.DropEmpty {
			exploded.Rows = append(exploded.Rows, withElement(row, nil, nil, options))
		}
	}
	if len(exploded.Rows) > g.mostRows() {
		return s
	}
	q := s.query.With(list.As(name)).ExplodeWith(options, name)
	result := s.then(q, exploded, "With(%v as %s).ExplodeWith(%+v, %s)", list, name, options, name)
	elements := fmt.Sprintf("string_split(%s, 'a')", e.sql)
	if !e.kind.isText() {
		elements = fmt.Sprintf("case when %[1]s is not null then range(greatest(least(%[1]s, 4), 0)) end", e.sql)
	}
	position := "position"
	if options.Position != "" {
		position += ", position as " + quoted(options.Position)
	}
	rows := fmt.Sprintf("select *, unnest(list) as element, unnest(range(len(list))) as position from %s where len(list) > 0", "(select *, "+elements+" as list from "+s.sql+")")
	if !options.DropEmpty {
		rows += fmt.Sprintf(" union all select *, null, null from %s where list is null or len(list) = 0", "(select *, "+elements+" as list from "+s.sql+")")
	}
	return g.inSQL(result, "select %s, row_number() over (order by %s, position) as %s from (select *, element as %s, %s from (%s))",
		quotedList(exploded.names()), rowOrder, rowOrder, quoted(name), position, rows)
}

// elementsOf returns the elements of the list of a value.
func elementsOf(value any) (list []any) {
	switch value := value.(type) {
	case string:
		for _, part := range strings.Split(value, "a") {
			list = append(list, part)
		}
	case int64:
		for i := range max(min(value, 4), 0) {
			list = append(list, i)
		}
	}
	return list
}

func withElement(row Row, element, position any, options gpuframe.ExplodeOptions) Row {
	wider := append(slices.Clone(row), element)
	if options.Position != "" {
		wider = append(wider, position)
	}
	return wider
}

// pivot makes a column for each of some values of an expression.
func (g *generator) pivot(s state) state {
	on, ok := g.draw(s.table).column(func(k Kind) bool { return k != Float64 })
	if !ok {
		return s
	}
	keys, columns, list := g.keys(s, 2)
	a := g.draw(s.table).plainAggregation()
	var values []any
	var names []string
	pivoted := &Table{Columns: columns}
	for range 1 + g.choose("pivoted values", 3) {
		value := drawValue(g.t, on.kind)
		if g.choose("null value", 5) == 0 {
			value = nil
		}
		name := showName(value)
		if slices.Contains(values, value) || name == "" || pivoted.place(name) >= 0 {
			continue
		}
		values, names = append(values, value), append(names, name)
		pivoted.Columns = append(pivoted.Columns, Column{Name: name, Kind: a.kind})
	}
	if len(values) == 0 {
		return s
	}
	groups, _ := grouped(s.table.Rows, keys)
	for _, rows := range groups {
		row := evaluate(rows[0], keys)
		for _, value := range values {
			var matching []Row
			for _, r := range rows {
				if on.model(r) == value {
					matching = append(matching, r)
				}
			}
			row = append(row, a.model(matching))
		}
		pivoted.Rows = append(pivoted.Rows, row)
	}
	typed := slices.Clone(values)
	for i, value := range typed {
		if n, ok := value.(int64); ok && on.kind == Int32 {
			typed[i] = int32(n)
		}
	}
	aggregates := make([]string, len(values))
	for i, value := range values {
		aggregates[i] = a.sql(on.sql+" is not distinct from "+literalSQL(on.kind, value), "")
	}
	result := s.then(s.query.GroupBy(list).Pivot(on.expr, typed, a.expr), pivoted, "GroupBy(%v).Pivot(%v, %v, %v)", list, on, values, a.expr)
	result = g.groupedSQL(result, s, keys, false, aggregates)
	// The columns have names that further verbs may make again.
	for _, name := range names {
		result = g.renamed(result, name, g.newName())
	}
	return result
}
