package querytest

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe"
)

// asOf matches each row with the nearest row of an earlier state or of a new source.
func (g *generator) asOf(s state) state {
	other := g.seen[g.choose("side", len(g.seen))]
	if g.choose("new source", 2) == 0 {
		other = g.source()
	}
	on, ok := g.draw(s.table).column(Kind.isNumber)
	with, fits := g.draw(other.table).column(isKind(on.kind))
	if !ok || !fits || !s.table.Ordered || !other.table.Ordered || on.expr.Name() == with.expr.Name() {
		return s
	}
	j := nearest{
		joined: joined{kind: gpuframe.Left, left: s.table, right: other.table}, on: on, with: with,
		options:  gpuframe.AsOfOptions{Direction: gpuframe.Direction(g.choose("direction", 3)), NotEqual: g.choose("not equal", 3) == 0},
		farthest: math.Inf(1),
	}
	if g.choose("by", 2) == 0 {
		a, _ := g.draw(s.table).column(func(Kind) bool { return true })
		if b, ok := g.draw(other.table).column(isKind(a.kind)); ok && a.expr.Name() != b.expr.Name() {
			j.leftKeys, j.rightKeys = []expression{a}, []expression{b}
			j.options.By = []gpuframe.JoinTerm{gpuframe.On(a.expr, b.expr)}
		}
	}
	if g.choose("tolerance", 3) == 0 {
		distance := g.choose("distance", 4)
		j.options.Tolerance, j.farthest = distance, float64(distance)
	}
	j.options.MatchedOnly = g.choose("matched only", 3) == 0
	j.name()
	q := s.query.AsOf(other.query, gpuframe.On(on.expr, with.expr), j.options)
	result := s.then(q, j.run(), "AsOf(%s, %v = %v, by %v = %v, direction %v, not equal %v, tolerance %v, matched only %v)",
		other.text(), on, with, j.leftKeys, j.rightKeys, j.options.Direction, j.options.NotEqual, j.options.Tolerance, j.options.MatchedOnly)
	return j.inSQL(g, result, s, other)
}

// nearest is an as-of join of two tables.
type nearest struct {
	joined
	on, with expression
	options  gpuframe.AsOfOptions
	farthest float64
}

// run joins each left row with the right row that is found, in the order of the left rows.
func (n *nearest) run() *Table {
	table := &Table{Columns: n.both, Ordered: true}
	n.findKeys()
	for i, row := range n.left.Rows {
		match := n.find(i)
		if match == nil && n.options.MatchedOnly {
			continue
		}
		table.Rows = append(table.Rows, n.pair(row, match))
	}
	return table
}

// find returns the right row for a left row, or nil: of the rows before with the greatest key
// the last one, of those after with the least key the first one, and of both the nearer one.
func (n *nearest) find(left int) Row {
	x := n.on.model(n.left.Rows[left])
	if x == nil || isNaN(x) {
		return nil
	}
	var before, after Row
	for i, right := range n.right.Rows {
		y := n.with.model(right)
		if y == nil || isNaN(y) || !n.matches(left, i) || n.options.NotEqual && compare(y, x) == 0 || n.distance(x, y) > n.farthest {
			continue
		}
		if c := compare(y, x); c <= 0 && (before == nil || compare(y, n.with.model(before)) >= 0) {
			before = right
		}
		if c := compare(y, x); c >= 0 && (after == nil || compare(y, n.with.model(after)) < 0) {
			after = right
		}
	}
	switch {
	case n.options.Direction == gpuframe.Backward || n.options.Direction == gpuframe.Nearest && after == nil:
		return before
	case n.options.Direction == gpuframe.Forward || before == nil:
		return after
	case n.distance(x, n.with.model(after)) < n.distance(x, n.with.model(before)):
		return after
	}
	return before
}

// inSQL ranks the right rows of each left row.
func (n *nearest) inSQL(g *generator, to, left, right state) state {
	n.rightKeys, n.leftKeys = append(n.rightKeys, n.with), append(n.leftKeys, n.on)
	j := n.joined
	leftRows, rightRows, _ := j.sides(left, right)
	x, y := n.on.sql, fmt.Sprintf(`"right key %d"`, len(n.leftKeys)-1)
	distance := fmt.Sprintf("case when %[1]s = %[2]s then 0 else abs(cast(%[1]s as double) - cast(%[2]s as double)) end", x, y)
	on := "true"
	for i, k := range n.leftKeys[:len(n.leftKeys)-1] {
		on += fmt.Sprintf(` and %s = "right key %d"`, k.sql, i)
	}
	on += map[gpuframe.Direction]string{gpuframe.Backward: " and " + y + " <= " + x, gpuframe.Forward: " and " + y + " >= " + x, gpuframe.Nearest: ""}[n.options.Direction]
	if n.options.NotEqual {
		on += " and " + y + " <> " + x
	}
	if n.options.Tolerance != nil {
		on += fmt.Sprintf(" and %s <= %v", distance, n.farthest)
	}
	on += fmt.Sprintf(" and not isnan(cast(%s as double)) and not isnan(cast(%s as double))", x, y)
	// Of equal distances, which may be infinite, the rows before come first, and of these the last.
	order := fmt.Sprintf(`%[1]s, case when %[2]s <= %[3]s then 0 else 1 end, case when %[2]s <= %[3]s then -%[2]s else %[2]s end, case when %[2]s <= %[3]s then -"right order" else "right order" end`, distance, y, x)
	if n.options.Direction == gpuframe.Forward {
		order = fmt.Sprintf(`%s, %s, "right order"`, distance, y)
	}
	kind := "left"
	if n.options.MatchedOnly {
		kind = "inner"
	}
	return g.inSQL(to, `select %s, "left order" as %s from %s %s join %s on %s qualify row_number() over (partition by "left order" order by %s) = 1`,
		quotedList(to.table.names()), rowOrder, leftRows, kind, rightRows, on, order)
}

// distance is that of two keys. Equal infinite keys have none.
func (n *nearest) distance(x, y any) float64 {
	if compare(x, y) == 0 {
		return 0
	}
	return math.Abs(number(x) - number(y))
}
