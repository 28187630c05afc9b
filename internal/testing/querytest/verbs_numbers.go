package querytest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe"
)

// numbered adds a column of the numbers of rows.
func (g *generator) numbered(s state) state {
	if !s.table.Ordered {
		return s
	}
	name := g.newName()
	numbers := map[int]any{}
	for i := range s.table.Rows {
		numbers[i] = int64(i)
	}
	next := s.then(s.query.WithRowNumber(name), added(s, name, Int64, numbers), "WithRowNumber(%s)", name)
	columns := append(kept(s.table), computed{Column: Column{Name: name, Kind: Int64}, sql: fmt.Sprintf("row_number() over (order by %s) - 1", rowOrder)})
	return g.projected(next, s, columns)
}

// random adds a column of random numbers from 0 to 1.
func (g *generator) random(s state) state {
	if !s.table.Ordered || g.options.SQL {
		return s
	}
	name, seed, numbers := g.newName(), uint64(g.choose("seed", 1000))<<30, map[int]any{}
	for i := range s.table.Rows {
		numbers[i] = float64(philox(seed, uint64(i))>>11) / (1 << 53)
	}
	return s.then(s.query.WithRandom(name, seed), added(s, name, Float64, numbers), "WithRandom(%s, %d)", name, seed)
}

// strata keeps a number or a fraction of the rows of each group.
func (g *generator) strata(s state) state {
	if !s.table.Ordered || g.options.SQL {
		return s
	}
	keys, _, list := g.keys(s, 2)
	seed := uint64(g.choose("seed", 1000)) << 30
	numbered := make([]Row, len(s.table.Rows))
	for i, row := range s.table.Rows {
		numbered[i] = append(slices.Clone(row), i)
	}
	n, eighths := g.choose("rows of a group", 4), g.choose("eighths", 9)
	byNumber := g.choose("by number", 2) == 0
	groups, _ := grouped(numbered, keys)
	var kept []int
	for _, rows := range groups {
		slices.SortStableFunc(rows, func(a, b Row) int {
			return cmp.Compare(philox(seed, uint64(numberOf(a))), philox(seed, uint64(numberOf(b))))
		})
		for i, row := range rows {
			if byNumber && i < n || !byNumber && float64(i+1) <= float64(len(rows))*float64(eighths)/8+0.5 {
				kept = append(kept, numberOf(row))
			}
		}
	}
	slices.Sort(kept)
	options := gpuframe.SampleOptions{Seed: seed, By: list}
	table := s.table.with(at(s.table.Rows, kept))
	if byNumber {
		return s.then(s.query.SampleRows(int64(n), options), table, "SampleRows(%d by %v, seed %d)", n, list, seed)
	}
	return s.then(s.query.Sample(float64(eighths)/8, options), table, "Sample(%d / 8 by %v, seed %d)", eighths, list, seed)
}

// crossTab counts the rows for each value of one column and some values of another.
func (g *generator) crossTab(s state) state {
	isValue := func(k Kind) bool { return k != Float64 }
	rows, ok := g.draw(s.table).column(isValue)
	on, _ := g.draw(s.table).column(isValue)
	if !ok {
		return s
	}
	value := drawValue(g.t, on.kind)
	name := showName(value)
	if name == "" || name == rows.expr.Name() {
		return s
	}
	given := value
	if n, isInteger := value.(int64); isInteger && on.kind == Int32 {
		given = int32(n)
	}
	table := &Table{Columns: []Column{{Name: rows.expr.Name(), Kind: rows.kind}, {Name: name, Kind: Int64}}}
	groups, _ := grouped(s.table.Rows, []expression{rows})
	for _, group := range groups {
		n := int64(0)
		for _, row := range group {
			if on.model(row) == value {
				n++
			}
		}
		table.Rows = append(table.Rows, Row{rows.model(group[0]), n})
	}
	first := sortKey{expression: g.draw(table).at(0)}
	table.Rows, table.Ordered = sorted(table.Rows, []sortKey{first}), true
	next := s.then(s.query.CrossTab(rows.expr, on.expr, []any{given}), table, "CrossTab(%v, %v, %v)", rows, on, value)
	count := fmt.Sprintf("count(*) filter (where %s is not distinct from %s)", on.sql, literalSQL(on.kind, value))
	next = g.groupedSQL(next, s, []expression{rows}, false, []string{count})
	next = g.inSQL(next, "select * replace (row_number() over (order by %s) as %s) from %s", orderedSQL([]sortKey{first}), rowOrder, next.sql)
	return g.renamed(next, name, g.newName())
}

// beyond keeps the rows whose value is less or more than an extreme of all rows.
func (g *generator) beyond(s state) state {
	e, ok := g.draw(s.table).column(func(k Kind) bool { return k == Int32 || k == Int64 })
	other, _ := g.draw(s.table).column(isKind(e.kind))
	if !ok {
		return s
	}
	extremeOf := extreme(notNull(other, s.table.Rows), 1)
	var rows []Row
	for _, row := range s.table.Rows {
		if x := e.model(row); x != nil && extremeOf != nil && compare(x, extremeOf) < 0 {
			rows = append(rows, row)
		}
	}
	c := e.expr.Lt(other.expr.Max())
	next := s.then(s.query.Filter(c), s.table.with(rows), "Filter(%v)", c)
	return g.inSQL(next, "select * from %s where %s < (select max(%s) from %s)", s.sql, e.sql, other.sql, s.sql)
}
