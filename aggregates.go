package gpuframe

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// rowsFunction is an aggregate or a window function in an expression. Its node has the function
// without its expressions: these are the operands.
type rowsFunction struct {
	aggregation plan.Aggregation
	// windowed is set by Over, which gives the keys. Without it the function is of the rows of a group,
	// or of all rows.
	windowed bool
	keys     plan.WindowKeys
	// inherits gives the functions without a window in its own values the window of Over.
	inherits bool
}

// rowsFunctionOf returns the function if the outermost operation of an expression is one.
func rowsFunctionOf(e expr.Expr) (f rowsFunction, ok bool) {
	node, ok := e.RowsFunction()
	if !ok {
		return f, false
	}
	return node.(rowsFunction).with(e.Operands()), true
}

// tree returns the function as an expression.
func (f rowsFunction) tree() expr.Expr {
	operands := f.operands()
	return expr.OfRows(f.with(make([]expr.Expr, len(operands))), operands...)
}

// operands returns the values, the keys and the condition.
func (f rowsFunction) operands() []expr.Expr {
	operands := slices.Concat(f.aggregation.Values, f.keys.All())
	if !f.aggregation.Where.IsZero() {
		operands = append(operands, f.aggregation.Where)
	}
	return operands
}

// with returns the function of other operands. If there is one more than it has values and keys, it
// is the condition.
func (f rowsFunction) with(operands []expr.Expr) rowsFunction {
	values, keys := len(f.aggregation.Values), len(f.keys.Partition)
	f.aggregation.Values, operands = operands[:values:values], operands[values:]
	f.keys.Partition, operands = operands[:keys:keys], operands[keys:]
	f.keys.Order = slices.Clone(f.keys.Order)
	for i := range f.keys.Order {
		f.keys.Order[i].Value = operands[i]
	}
	f.aggregation.Where = expr.Expr{}
	if conditions := operands[len(f.keys.Order):]; len(conditions) > 0 {
		f.aggregation.Where = conditions[0]
	}
	return f
}

// Text implements [expr.RowsFunction].
func (f rowsFunction) Text(operands []expr.Expr) string {
	f = f.with(operands)
	text := f.aggregation.String()
	if f.windowed {
		text += " over " + windowText(f.keys)
	}
	return shortened(text)
}

// isWindow reports whether the function has a value for each row.
func (f rowsFunction) isWindow() bool {
	return f.windowed || f.aggregation.Frame.Kind != plan.WholePartition || f.aggregation.IsOfRow()
}

// isOver reports whether the function is computed in the order of its window.
func (f rowsFunction) isOver() bool { return f.aggregation.IsOrdered(len(f.keys.Order) > 0) }

// windowKeys returns the keys that the function is computed by, which have an order if it reads it.
func (f rowsFunction) windowKeys() plan.WindowKeys {
	keys := f.keys
	if !f.isOver() {
		keys.Order = nil
	}
	return keys
}

// sameRows reports whether two functions can be computed together.
func (f rowsFunction) sameRows(g rowsFunction) bool {
	return f.isOver() == g.isOver() && f.windowKeys().Unnamed().Same(g.windowKeys().Unnamed())
}

// aggregate returns the expression of an aggregate or a window function of values. It has the name of
// the first value, or that of the function.
func aggregate(aggregation plan.Aggregation, values ...Expr) Expr {
	computed := apply(func(list []expr.Expr) expr.Expr {
		aggregation.Values = list
		return rowsFunction{aggregation: aggregation}.tree()
	}, values...)
	if len(values) == 0 {
		computed.root = aggregation.Function
	}
	return computed
}

// longestText is the length of the longest text of a function. Aggregates and windows within each
// other repeat their texts.
const longestText = 200

// shortened returns a text of limited length, which differs for texts that differ.
func shortened(text string) string {
	if len(text) <= longestText {
		return text
	}
	sum := fnv.New64a()
	sum.Write([]byte(text))
	return fmt.Sprintf("%s … %016x", strings.ToValidUTF8(text[:longestText], ""), sum.Sum64())
}

// Where restricts the aggregates of an expression to the rows in which a condition is
// true. Several conditions must all be true. An expression without aggregates becomes an
// error when the query is bound.
func (e Expr) Where(condition Expression) Expr {
	c := condition.expression()
	e.misuse = joinMisuse(e.misuse, c.misuse)
	return e.eachAggregate(func(f *rowsFunction) {
		where := &f.aggregation.Where
		if where.IsZero() {
			*where = c.tree
		} else {
			*where = where.And(c.tree)
		}
	})
}

// SkipNulls makes First, Last, Nth, List, Lag and Lead skip rows in which the value is null, as IGNORE
// NULLS in SQL: x.Last().SkipNulls() is the last value that is not null. It comes before Over. Other
// aggregates always skip nulls: with it they become an error when the query is bound.
func (e Expr) SkipNulls() Expr {
	changed := false
	skipping := e.eachAggregate(func(f *rowsFunction) { f.aggregation.SkipNulls, changed = true, true })
	if !changed && len(skipping.misuse) == 0 {
		skipping.misuse = []error{fmt.Errorf("%v is a window: call SkipNulls before Over", e)}
	}
	return skipping
}

// eachAggregate changes the aggregates of an expression that are not windows yet.
func (e Expr) eachAggregate(change func(f *rowsFunction)) Expr {
	if !e.tree.ReadsRows() {
		e.misuse = []error{fmt.Errorf("Where, SkipNulls and Over apply to aggregates, and %v has none", e)}
		return e
	}
	e.tree = e.tree.Substitute(changing(change))
	return e
}

// changing returns a function of [expr.Expr.Substitute] that changes aggregates that are not windows.
func changing(change func(f *rowsFunction)) func(expr.Expr) (expr.Expr, bool) {
	return func(part expr.Expr) (expr.Expr, bool) {
		f, ok := rowsFunctionOf(part)
		if !ok || f.windowed {
			return part, ok || !part.ReadsRows()
		}
		change(&f)
		return f.tree(), true
	}
}
