package querytest

import (
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// nearestTo matches each row with the nearest rows of an earlier state or of a new source, by vectors of two numbers.
func (g *generator) nearestTo(s state) state {
	other := g.seen[g.choose("side", len(g.seen))]
	if g.choose("new source", 2) == 0 {
		other = g.source()
	}
	left, ok := g.vector(s)
	right, fits := g.vector(other)
	if !ok || !fits || !s.table.Ordered || !other.table.Ordered || g.options.SQL || g.options.Texts { // the vectors have 32-bit offsets
		return s
	}
	n := vectorSearch{joined: joined{left: s.table, right: other.table}, on: left, with: right, k: 1 + g.choose("k", 4)}
	n.options = gpuframe.NearestOptions{
		Metric: gpuframe.Metric(g.choose("metric", 3)), MatchedOnly: g.choose("matched only", 2) == 0, Distance: g.newName(), Rank: g.newName(),
	}
	n.name()
	table := n.run()
	if len(table.Rows) > g.mostRows() {
		return s
	}
	distance := gpuframe.Col(n.options.Distance)
	q := s.query.NearestTo(other.query, gpuframe.On(left.expr, right.expr), n.k, n.options).With(distance.Cast(arrow.PrimitiveTypes.Float64))
	return s.then(q, table, "NearestTo(%s, %v = %v, %d, %+v)", other.text(), left.expr, right.expr, n.k, n.options)
}

// vectorValue is an expression with a vector of two numbers.
type vectorValue struct {
	expr  gpuframe.Expr
	model func(row Row) []float32
}

// vector draws two columns as a vector.
func (g *generator) vector(s state) (v vectorValue, ok bool) {
	a, ok := g.draw(s.table).column(Kind.isNumber)
	b, fits := g.draw(s.table).column(Kind.isNumber)
	if !ok || !fits {
		return v, false
	}
	narrow := func(e gpuframe.Expr) gpuframe.Expr { return e.Cast(arrow.PrimitiveTypes.Float32) }
	return vectorValue{gpuframe.ConcatList(narrow(a.expr), narrow(b.expr)), func(row Row) (elements []float32) {
		for _, value := range []any{a.model(row), b.model(row)} {
			switch value := value.(type) {
			case int64:
				elements = append(elements, float32(value))
			case float64:
				elements = append(elements, float32(value))
			default:
				return nil
			}
		}
		return elements
	}}, true
}

// vectorSearch finds the nearest rows of a table.
type vectorSearch struct {
	joined
	on, with vectorValue
	k        int
	options  gpuframe.NearestOptions
}

// run has the rows in the order of the left rows, and from the nearest one on.
func (n *vectorSearch) run() *Table {
	columns := append(slices.Clone(n.both), Column{Name: n.options.Distance, Kind: Float64}, Column{Name: n.options.Rank, Kind: Int64})
	table := &Table{Columns: columns, Ordered: true}
	for _, row := range n.left.Rows {
		matches := n.find(n.on.model(row))
		for i, m := range matches {
			table.Rows = append(table.Rows, append(n.pair(row, m.row), m.shown, int64(i+1)))
		}
		if len(matches) == 0 && !n.options.MatchedOnly {
			table.Rows = append(table.Rows, append(n.pair(row, nil), nil, nil))
		}
	}
	return table
}

// nearRow is a row with its distance, and the number that it is ordered by.
type nearRow struct {
	row   Row
	key   float32
	shown float64
}

func (n *vectorSearch) find(a []float32) (list []nearRow) {
	for _, row := range n.right.Rows {
		b := n.with.model(row)
		if a == nil || b == nil {
			continue
		}
		key, shown := n.distance(a, b)
		if key == key {
			list = append(list, nearRow{row, key, float64(shown)})
		}
	}
	slices.SortStableFunc(list, func(x, y nearRow) int {
		switch {
		case x.key < y.key:
			return -1
		case x.key > y.key:
			return 1
		}
		return 0
	})
	return list[:min(n.k, len(list))]
}

// distance computes in float32, each operation rounded.
func (n *vectorSearch) distance(a, b []float32) (key, shown float32) {
	sum := func(x, y []float32) (total float32) {
		for i := range x {
			total += float32(x[i] * y[i])
		}
		return total
	}
	root := func(x float32) float32 { return float32(math.Sqrt(float64(x))) }
	switch n.options.Metric {
	case gpuframe.Cosine:
		key = 1 - float32(sum(a, b)/float32(root(sum(a, a))*root(sum(b, b))))
		return key, key
	case gpuframe.DotProduct:
		return -sum(a, b), sum(a, b)
	}
	difference := []float32{a[0] - b[0], a[1] - b[1]}
	key = sum(difference, difference)
	return key, root(key)
}
