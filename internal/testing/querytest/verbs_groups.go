package querytest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe"
)

// grouped divides rows by keys. The groups are in the order of their first rows.
func grouped(rows []Row, keys []expression) (groups [][]Row, numbers map[string]int) {
	numbers = map[string]int{}
	for _, row := range rows {
		key := keyOf(evaluate(row, keys))
		at, ok := numbers[key]
		if !ok {
			at = len(groups)
			numbers[key], groups = at, append(groups, nil)
		}
		groups[at] = append(groups[at], row)
	}
	return groups, numbers
}

func evaluate(row Row, list []expression) []any {
	values := make([]any, len(list))
	for i, e := range list {
		values[i] = e.model(row)
	}
	return values
}

// keys draws keys of groups with their names.
func (g *generator) keys(s state, most int) (keys []expression, columns []Column, list []gpuframe.Expression) {
	taken := map[string]bool{}
	for range 1 + g.choose("group keys", most) {
		d := g.draw(s.table)
		e, _ := d.column(func(Kind) bool { return true })
		name := e.expr.Name()
		if taken[name] || g.choose("computed key", 4) == 0 {
			e, name = d.value(1), g.newName()
		}
		taken[name] = true
		keys, list = append(keys, e), append(list, e.expr.As(name))
		columns = append(columns, Column{Name: name, Kind: e.kind})
	}
	return keys, columns, list
}

func (g *generator) group(s state) state {
	keys, columns, list := g.keys(s, 2)
	var aggregations []aggregation
	var expressions []gpuframe.Expression
	for range 1 + g.choose("aggregates", 3) {
		a, name := g.draw(s.table).aggregation(), g.newName()
		aggregations, expressions = append(aggregations, a), append(expressions, a.expr.As(name))
		columns = append(columns, Column{Name: name, Kind: a.kind})
	}
	groups, _ := grouped(s.table.Rows, keys)
	table := &Table{Columns: columns}
	drop := g.choose("drop nulls", 4) == 0
	for _, rows := range groups {
		row := evaluate(rows[0], keys)
		if drop && hasNull(row) {
			continue
		}
		for _, a := range aggregations {
			row = append(row, a.model(rows))
		}
		table.Rows = append(table.Rows, row)
	}
	by := s.query.GroupBy(list)
	if drop {
		by = by.DropNulls()
	}
	result := g.groupedSQL(s.then(by.Agg(expressions...), table, "GroupBy(%v, drop nulls %v).Agg(%v)", list, drop, expressions), s, keys, drop, inSQL(aggregations, ""))
	if g.choose("sort groups", 4) > 0 {
		return g.byAll(result, len(keys))
	}
	return result
}

// inSQL returns aggregates in SQL.
func inSQL(list []aggregation, window string) []string {
	texts := make([]string, len(list))
	for i, a := range list {
		texts[i] = a.sql("", window)
	}
	return texts
}

func hasNull(values []any) bool {
	for _, value := range values {
		if value == nil {
			return true
		}
	}
	return false
}

// whole aggregates all rows.
func (g *generator) whole(s state) state {
	var list []gpuframe.Expression
	var aggregations []aggregation
	table := &Table{Rows: []Row{nil}, Ordered: true}
	for range 1 + g.choose("aggregates", 3) {
		a, name := g.draw(s.table).aggregation(), g.newName()
		list, aggregations = append(list, a.expr.As(name)), append(aggregations, a)
		table.Columns = append(table.Columns, Column{Name: name, Kind: a.kind})
		table.Rows[0] = append(table.Rows[0], a.model(s.table.Rows))
	}
	next := s.then(s.query.Select(list), table, "Select(%v)", list)
	columns := make([]string, len(list))
	for i, text := range inSQL(aggregations, "") {
		columns[i] = fmt.Sprintf("cast(%s as %s) as %s", text, sqlTypes[table.Columns[i].Kind], quoted(table.Columns[i].Name))
	}
	return g.inSQL(next, "select %s, 0 as %s from %s", strings.Join(columns, ", "), rowOrder, s.sql)
}

// window adds an aggregate of partitions, and perhaps columns of the same window and of a window of it.
func (g *generator) window(s state) state {
	keys, _, list := g.keys(s, 2)
	if g.choose("all rows", 4) == 0 {
		keys, list = nil, nil
	}
	a, name := g.draw(s.table).aggregation(), g.newName()
	window := func() gpuframe.Expr { return a.expr.Over(gpuframe.By(list)) }
	value := ofPartitions(s.table.Rows, keys, a.model)
	with := []gpuframe.Expression{window().As(name)}
	columns := append(kept(s.table), computed{Column{Name: name, Kind: a.kind}, value, a.sql("", " over ("+partitionSQL(keys)+")")})
	if !g.options.SQL && g.choose("nested", 2) == 0 {
		outer, _, outerList := g.keys(s, 1)
		count := func(rows []Row) any {
			return int64(len(slices.DeleteFunc(slices.Clone(rows), func(row Row) bool { return value(row) == nil })))
		}
		with = append(with, window().IsValid().As(name+"valid"), window().Count().Over(gpuframe.By(outerList)).As(name+"count"))
		columns = append(columns,
			computed{Column{Name: name + "valid", Kind: Bool}, func(row Row) any { return value(row) != nil }, ""},
			computed{Column{Name: name + "count", Kind: Int64}, ofPartitions(s.table.Rows, outer, count), ""})
	}
	return g.projected(s.then(s.query.With(with...), project(s.table, columns), "With(%v over %v)", with, list), s, columns)
}

// ofPartitions returns the value of the partition of a row.
func ofPartitions(rows []Row, keys []expression, model func(rows []Row) any) func(row Row) any {
	groups, numbers := grouped(rows, keys)
	values := make([]any, len(groups))
	for i, group := range groups {
		values[i] = model(group)
	}
	return func(row Row) any { return values[numbers[keyOf(evaluate(row, keys))]] }
}

// partitionSQL is the partition of a window.
func partitionSQL(keys []expression) string {
	list := make([]string, len(keys))
	for i, k := range keys {
		list[i] = k.sql
	}
	if len(list) == 0 {
		return ""
	}
	return "partition by " + strings.Join(list, ", ")
}
