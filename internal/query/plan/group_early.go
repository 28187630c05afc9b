package plan

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// rowsOfGroup is how many rows a group must be expected to have for a grouping below a join.
const rowsOfGroup = 4

// groupEarly groups one side of a join by the keys of the join before it, if a grouping above
// aggregates only values of that side. The join reads a row for each key in place of the
// side's rows, and the grouping above merges the results (eager aggregation; Yan and Larson, "Eager
// Aggregation and Lazy Aggregation", 1995). The other side must be a whole table: a join with
// few of its rows would leave out most rows before they are grouped.
func (o *optimization) groupEarly(root Node) (Node, error) {
	parents := parents(root)
	return o.rewriteEach(inputsFirst(root), func(n Node, inputs []Node) (Node, error) {
		rewritten, err := withInputs(n, inputs...)
		a, ok := rewritten.(*Aggregate)
		if err != nil || !ok {
			return rewritten, err
		}
		j, ok := a.input.(*Join)
		if !ok || parents[n.Inputs()[0]] != 1 {
			return rewritten, nil
		}
		e := earlyGroup{Analysis: o.Analysis, above: a, join: j}
		if !e.find() {
			return rewritten, nil
		}
		early, err := e.rewritten()
		if err != nil || sameColumns(rewritten.Schema(), early.Schema()) != nil {
			return rewritten, nil // a sum of sums has another type, for example
		}
		return early, nil
	})
}

// earlyGroup is a grouping above a join, one side of which can be grouped before.
type earlyGroup struct {
	*Analysis
	above *Aggregate
	join  *Join
	// side is that of the values: 0 is the left side.
	side int
	// keys are those of the grouping below the join. ofAbove has the column of each key of the
	// grouping above that becomes a key below.
	keys    []expr.Expr
	ofAbove map[int]string
}

// find reports whether one side can be grouped before the join, and finds it and its keys.
func (e *earlyGroup) find() bool {
	options, joining := e.above.options, e.join.options
	if len(e.above.keys) == 0 || options.Order != group.Unspecified || !options.Where.IsZero() {
		return false
	}
	if joining.Kind != join.Inner && joining.Kind != join.Left || !joining.Where.IsZero() || joining.NullsEqual {
		return false
	}
	return e.findSide() && e.merges() && e.findKeys() && e.pays()
}

// findSide finds the side with all columns of the aggregations.
func (e *earlyGroup) findSide() bool {
	read := columnSet{}
	for _, a := range e.above.aggregations {
		a.columns(read)
	}
	sides := map[int]bool{}
	for name := range read {
		if slices.ContainsFunc(e.join.options.Keys, func(k JoinKey) bool { shared, ok := k.shared(); return ok && shared == name }) {
			return false
		}
		sides[e.sideOf(name)] = true
	}
	e.side = 0
	if sides[1] {
		e.side = 1
	}
	return len(sides) == 1
}

// sideOf returns the side that a column of the join comes from.
func (e *earlyGroup) sideOf(name string) int {
	if e.join.fromRight[name] != "" {
		return 1
	}
	return 0
}

// merges reports whether the results of parts of a group give that of the group, to the bit and
// without overflow in between.
func (e *earlyGroup) merges() bool {
	return !slices.ContainsFunc(e.above.aggregations, func(a Aggregation) bool {
		f := a.Properties()
		switch {
		case f.Merge == "":
			return true
		case len(a.Values) == 0:
			// A left row without a match counts too.
			return e.fillsNulls()
		case f.Merge == "sum" && !f.CountsRows && !sumsFit(typeOf(a.Values[0], e.join.schema)):
			return true
		}
		return !e.isNullUnmatched(a.Values[0])
	})
}

// fillsNulls reports whether the join yields rows in which the columns of the values are null
// because there is no match. The grouping below the join does not see them.
func (e *earlyGroup) fillsNulls() bool { return e.join.options.Kind == join.Left && e.side == 1 }

// isNullUnmatched reports whether an expression on the join is null in rows without a match. The
// sum of fill_null(v, 1), for example, counts them, and so does a group by is_null(v).
func (e *earlyGroup) isNullUnmatched(value expr.Expr) bool {
	columns := map[string]bool{}
	for name := range e.join.fromRight {
		columns[name] = true
	}
	return !e.fillsNulls() || nullWith(columns)(value)
}

// mostDigits is the precision of decimals of which 10¹² have a sum of 38 digits.
const mostDigits = 38 - 12

// sumsFit reports whether no sum of values of a type can overflow in a table that fits memory.
func sumsFit(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.Decimal128Type:
		return t.Precision <= mostDigits
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type:
		return true
	}
	return false
}

// sideKey returns the expression of a key of the join on the side of the values, and on the
// other one.
func (e *earlyGroup) sideKey(k JoinKey) (value, other expr.Expr) {
	if e.side == 1 {
		return k.Right, k.Left
	}
	return k.Left, k.Right
}

// findKeys finds the keys of the grouping below: those of the join, which are columns without
// several values that are equal, and those of the grouping above that read the side.
func (e *earlyGroup) findKeys() bool {
	schema := e.join.Inputs()[e.side].Schema()
	joined := columnSet{}
	for _, k := range e.join.options.Keys {
		value, _ := e.sideKey(k)
		name, ok := plainColumn(value)
		t := typeOf(value, schema)
		if !ok || t == nil || isFloat(t) {
			return false
		}
		if !joined[name] {
			joined[name] = true
			e.keys = append(e.keys, expr.Col(name))
		}
	}
	e.ofAbove = map[int]string{}
	for i, k := range e.above.keys {
		sides := map[int]bool{}
		for _, name := range k.Columns() {
			sides[e.sideOf(name)] = true
		}
		if len(sides) != 1 {
			return false
		}
		if !sides[e.side] {
			continue
		}
		below := e.below(Unnamed(k))
		if name, ok := below.Column(); ok && joined[name] {
			e.ofAbove[i] = name
			continue
		}
		if !fewValues[below.Operation()] || !e.isNullUnmatched(Unnamed(k)) {
			return false
		}
		e.ofAbove[i] = Computed(fmt.Sprintf("early key %d", i))
		e.keys = append(e.keys, below.As(e.ofAbove[i]))
	}
	return true
}

// fewValues are operations with few distinct results.
var fewValues = map[string]bool{"year": true, "quarter": true, "month": true, "is_null": true, "is_valid": true}

// below returns an expression on the join as one on the side of the values.
func (e *earlyGroup) below(value expr.Expr) expr.Expr {
	if e.side == 0 {
		return value
	}
	names := map[string]expr.Expr{}
	for name, from := range e.join.fromRight {
		names[name] = expr.Col(from)
	}
	return inline(value, names)
}

// pays reports whether the other side is a whole table, and the side of the values has several
// rows for each of its rows.
func (e *earlyGroup) pays() bool {
	other := e.join.Inputs()[1-e.side]
	if p, ok := other.(*Project); ok {
		other = p.input
	}
	if scan, ok := other.(*Scan); !ok || len(scan.where) > 0 || scan.limit > 0 {
		return false
	}
	few, many := e.rowsOf(other).Rows, e.rowsOf(e.join.Inputs()[e.side]).Rows
	return few >= 0 && many >= 0 && few <= many/rowsOfGroup
}

// rewritten groups the side of the values, joins, and merges the groups.
func (e *earlyGroup) rewritten() (Node, error) {
	partial := make([]Aggregation, len(e.above.aggregations))
	for i, a := range e.above.aggregations {
		partial[i] = a
		partial[i].Name = Computed(fmt.Sprintf("early %d", i))
		partial[i].Values = slices.Clone(a.Values)
		for k, v := range a.Values {
			partial[i].Values[k] = e.below(v)
		}
		if !a.Where.IsZero() {
			partial[i].Where = e.below(a.Where)
		}
	}
	inputs := slices.Clone(e.join.Inputs())
	grouped, err := NewAggregate(inputs[e.side], e.keys, partial, GroupOptions{})
	if err != nil {
		return nil, err
	}
	inputs[e.side] = grouped
	joined, err := NewJoin(inputs[0], inputs[1], e.join.options)
	if err != nil {
		return nil, err
	}
	merged, err := NewAggregate(joined, e.keysAbove(joined), e.merging(joined), e.above.options)
	if err != nil {
		return nil, err
	}
	return e.results(merged)
}

// keysAbove returns the keys of the grouping above on the new join.
func (e *earlyGroup) keysAbove(joined *Join) []expr.Expr {
	names := map[string]expr.Expr{}
	for name, from := range e.join.fromRight {
		names[name] = expr.Col(joined.nameOfRight(from))
	}
	keys := make([]expr.Expr, len(e.above.keys))
	for i, k := range e.above.keys {
		column, isBelow := e.ofAbove[i]
		switch {
		case isBelow && e.side == 1:
			keys[i] = Named(expr.Col(joined.nameOfRight(column)), k.Name())
		case isBelow:
			keys[i] = Named(expr.Col(column), k.Name())
		default:
			keys[i] = Named(inline(Unnamed(k), names), k.Name())
		}
	}
	return keys
}

// nameOfRight returns the name of a right column in the result, also of one that is the key of
// both sides.
func (j *Join) nameOfRight(right string) string {
	if name := j.named(right); name != "" {
		return name
	}
	return right
}

// merging returns the aggregations of the results of parts.
func (e *earlyGroup) merging(joined *Join) []Aggregation {
	list := make([]Aggregation, len(e.above.aggregations))
	for i, a := range e.above.aggregations {
		name := Computed(fmt.Sprintf("early %d", i))
		if e.side == 1 {
			name = joined.nameOfRight(name)
		}
		list[i] = Aggregation{Function: a.Properties().Merge, Values: []expr.Expr{expr.Col(name)}, Name: a.Name}
	}
	return list
}

// results makes 0 of the counts of groups that have no rows on the side of the values.
func (e *earlyGroup) results(merged *Aggregate) (Node, error) {
	var list []expr.Expr
	for _, k := range merged.keys {
		list = append(list, expr.Col(k.Name()))
	}
	fills := false
	for _, a := range e.above.aggregations {
		value := expr.Col(a.Name)
		if a.Properties().CountsRows {
			value, fills = value.FillNull(expr.LitOf(arrow.PrimitiveTypes.Int64, int64(0))).As(a.Name), true
		}
		list = append(list, value)
	}
	if !fills {
		return merged, nil
	}
	return node(NewProject(merged, list...))
}
