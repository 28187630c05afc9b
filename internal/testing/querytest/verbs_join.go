package querytest

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// mostRows limits the results of joins and other verbs that make rows.
func (g *generator) mostRows() int { return max(150, 2*g.options.Rows) }

// join draws a join with an earlier state or a new source.
func (g *generator) join(s state) state {
	other := g.seen[g.choose("side", len(g.seen))]
	if g.choose("new source", 2) == 0 {
		other = g.source()
	}
	kinds := []gpuframe.JoinKind{gpuframe.Inner, gpuframe.Inner, gpuframe.Left, gpuframe.Right, gpuframe.Full, gpuframe.Semi, gpuframe.Anti, gpuframe.Cross}
	j := joined{kind: kinds[g.choose("join", len(kinds))], left: s.table, right: other.table}
	byCondition := j.kind != gpuframe.Cross && j.kind != gpuframe.Right && j.kind != gpuframe.Full && g.choose("by condition", 4) == 0
	if (byCondition || j.kind == gpuframe.Cross) && len(s.table.Rows)*len(other.table.Rows) > g.mostRows() {
		return s
	}
	var terms []gpuframe.JoinTerm
	if j.kind != gpuframe.Cross && !byCondition {
		for range 1 + g.choose("join keys", 2) {
			a, _ := g.draw(s.table).column(func(Kind) bool { return true })
			b, ok := g.draw(other.table).column(a.kind.hasKeysOf)
			if !ok {
				continue
			}
			name := a.expr.Name()
			if at := other.table.place(name); at >= 0 && other.table.Columns[at].Kind == a.kind {
				b = g.draw(other.table).at(at)
			}
			if b.expr.Name() == name {
				if slices.Contains(j.shared, name) {
					continue
				}
				j.shared = append(j.shared, name)
				terms = append(terms, gpuframe.Col(name))
			} else {
				a, b = g.ofTwoTypes(a, b)
				terms = append(terms, gpuframe.On(a.expr, b.expr))
			}
			j.leftKeys, j.rightKeys = append(j.leftKeys, a), append(j.rightKeys, b)
		}
		if len(j.leftKeys) == 0 {
			return s
		}
		if j.nulls = g.choose("nulls match", 4) == 0; j.nulls {
			terms = append(terms, gpuframe.NullsMatch())
		}
	}
	if j.anyOrder = g.choose("any order", 4) == 0; j.anyOrder {
		terms = append(terms, gpuframe.AnyOrder())
	}
	j.name()
	if byCondition || g.choose("matching", 3) == 0 {
		c := g.draw(&Table{Columns: j.both}).condition(1)
		j.where = &c
		terms = append(terms, gpuframe.Matching(c.expr))
	}
	table := j.run()
	if len(table.Rows) > g.mostRows() {
		return s
	}
	where := ""
	if j.where != nil {
		where = j.where.String()
	}
	result := s.then(s.query.Join(other.query, j.kind, terms...), table, "Join(%s, %v, on %v = %v, nulls match %v, any order %v, matching %s)", other.text(), j.kind, j.leftKeys, j.rightKeys, j.nulls, j.anyOrder, where)
	return j.inSQL(g, result, s, other)
}

// hasKeysOf reports whether keys of two kinds can be equal.
func (k Kind) hasKeysOf(other Kind) bool {
	return k == other || k.isInteger() && other.isInteger() || k.isText() && other.isText()
}

// keyTypes are lists of types that have the values of Int32, and of which each joins with the others
// of its list.
var keyTypes = [][]arrow.DataType{
	{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64},
	{&arrow.Decimal128Type{Precision: 10}, &arrow.Decimal128Type{Precision: 14, Scale: 2}, &arrow.Decimal128Type{Precision: 30, Scale: 7}},
	{&arrow.TimestampType{Unit: arrow.Second}, &arrow.TimestampType{Unit: arrow.Millisecond}, &arrow.TimestampType{Unit: arrow.Nanosecond}},
	{&arrow.DurationType{Unit: arrow.Second}, &arrow.DurationType{Unit: arrow.Microsecond}, &arrow.DurationType{Unit: arrow.Nanosecond}},
}

// ofTwoTypes draws types for a pair of keys of Int32. The values of the model stay integers.
func (g *generator) ofTwoTypes(a, b expression) (left, right expression) {
	if a.kind != Int32 || b.kind != Int32 || g.choose("two types", 2) == 0 {
		return a, b
	}
	types := keyTypes[g.choose("family", len(keyTypes))]
	cast := func(e expression) expression {
		e.expr = e.expr.Cast(arrow.PrimitiveTypes.Int64).Cast(types[0]).Cast(types[g.choose("key type", len(types))])
		return e
	}
	return cast(a), cast(b)
}

// joined is a join of two tables.
type joined struct {
	kind                gpuframe.JoinKind
	left, right         *Table
	leftKeys, rightKeys []expression
	// leftTexts and rightTexts are the keys of all rows, empty for keys that match nothing.
	leftTexts, rightTexts []string
	// shared are the names of keys that are one column.
	shared []string
	nulls  bool
	// anyOrder is set if the order of the rows is free.
	anyOrder bool
	where    *expression
	// both are the columns of an inner join.
	both []Column
	// rest are the places of the right columns in the result.
	rest []int
}

// name finds the columns.
func (j *joined) name() {
	j.both = slices.Clone(j.left.Columns)
	taken := map[string]bool{}
	for _, c := range j.both {
		taken[c.Name] = true
	}
	for i, c := range j.right.Columns {
		if slices.Contains(j.shared, c.Name) {
			continue
		}
		before := c.Name
		for taken[c.Name] || c.Name != before && j.right.place(c.Name) >= 0 {
			c.Name += "_right"
		}
		taken[c.Name] = true
		j.both, j.rest = append(j.both, c), append(j.rest, i)
	}
}

// pair makes a row of a left and a right row, of which one may be nil.
func (j *joined) pair(left, right Row) Row {
	row := make(Row, len(j.left.Columns), len(j.both))
	copy(row, left)
	if left == nil {
		for _, name := range j.shared {
			row[j.left.place(name)] = right[j.right.place(name)]
		}
	}
	for _, at := range j.rest {
		if right == nil {
			row = append(row, nil)
		} else {
			row = append(row, right[at])
		}
	}
	return row
}

// findKeys finds the texts of the keys of all rows.
func (j *joined) findKeys() {
	texts := func(rows []Row, keys []expression) (list []string) {
		for _, row := range rows {
			values, text := evaluate(row, keys), ""
			if j.nulls || !hasNull(values) {
				text = "=" + keyOf(values)
			}
			list = append(list, text)
		}
		return list
	}
	j.leftTexts, j.rightTexts = texts(j.left.Rows, j.leftKeys), texts(j.right.Rows, j.rightKeys)
}

// matches reports whether two rows match, which have these numbers.
func (j *joined) matches(left, right int) bool {
	if j.leftTexts[left] == "" || j.leftTexts[left] != j.rightTexts[right] {
		return false
	}
	return j.where == nil || j.where.model(j.pair(j.left.Rows[left], j.right.Rows[right])) == true
}

// run computes the rows: in the order of the left side, then right rows without a match.
func (j *joined) run() *Table {
	table := &Table{Columns: j.both, Ordered: j.left.Ordered && j.right.Ordered && !j.anyOrder}
	leftOnly := j.kind == gpuframe.Semi || j.kind == gpuframe.Anti
	if leftOnly {
		table.Columns = j.left.Columns
	}
	j.findKeys()
	matched := make([]bool, len(j.right.Rows))
	for at, left := range j.left.Rows {
		hasMatch := false
		for i, right := range j.right.Rows {
			if !j.matches(at, i) {
				continue
			}
			hasMatch, matched[i] = true, true
			if !leftOnly {
				table.Rows = append(table.Rows, j.pair(left, right))
			}
		}
		switch {
		case leftOnly && hasMatch == (j.kind == gpuframe.Semi):
			table.Rows = append(table.Rows, left)
		case !hasMatch && (j.kind == gpuframe.Left || j.kind == gpuframe.Full):
			table.Rows = append(table.Rows, j.pair(left, nil))
		}
	}
	if j.kind == gpuframe.Right || j.kind == gpuframe.Full {
		for i, right := range j.right.Rows {
			if !matched[i] {
				table.Rows = append(table.Rows, j.pair(nil, right))
			}
		}
	}
	return table
}
