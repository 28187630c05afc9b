package bind

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// RowsFunction is an aggregate or a window function in an expression. Its node has the function
// without its expressions: these are the operands.
type RowsFunction struct {
	Aggregation plan.Aggregation
	// Inherits gives the functions without a window in its own values the window of Over.
	Inherits bool
	// form is set for functions of frequencies and of foldings. called is the name of such a function if it is a list
	// now.
	form   *ListForm
	called string
	// windowed is set by Over, which gives the keys. Without it the function is of the rows of a group,
	// or of all rows.
	windowed bool
	keys     plan.WindowKeys
}

// rowsFunctionOf returns the function if the outermost operation of an expression is one.
func rowsFunctionOf(e expr.Expr) (f RowsFunction, ok bool) {
	node, ok := e.RowsFunction()
	if !ok {
		return f, false
	}
	return node.(RowsFunction).with(e.Operands()), true
}

// Tree returns the function as an expression.
func (f RowsFunction) Tree() expr.Expr {
	operands := f.operands()
	return expr.OfRows(f.with(make([]expr.Expr, len(operands))), operands...)
}

// operands returns the values, the keys and the condition.
func (f RowsFunction) operands() []expr.Expr {
	operands := slices.Concat(f.Aggregation.Values, f.keys.All())
	if !f.Aggregation.Where.IsZero() {
		operands = append(operands, f.Aggregation.Where)
	}
	return operands
}

// with returns the function of other operands. One more than it has values and keys is the
// condition.
func (f RowsFunction) with(operands []expr.Expr) RowsFunction {
	values, keys := len(f.Aggregation.Values), len(f.keys.Partition)
	f.Aggregation.Values, operands = operands[:values:values], operands[values:]
	f.keys.Partition, operands = operands[:keys:keys], operands[keys:]
	f.keys.Order = slices.Clone(f.keys.Order)
	for i := range f.keys.Order {
		f.keys.Order[i].Value = operands[i]
	}
	f.Aggregation.Where = expr.Expr{}
	if conditions := operands[len(f.keys.Order):]; len(conditions) > 0 {
		f.Aggregation.Where = conditions[0]
	}
	return f
}

// Text implements [expr.RowsFunction].
func (f RowsFunction) Text(operands []expr.Expr) string {
	f = f.with(operands)
	text := f.Aggregation.String()
	if f.windowed {
		text += " over " + WindowText(f.keys)
	} else if len(f.keys.Order) > 0 {
		text += " " + strings.TrimSpace(f.keys.Unnamed().String())
	}
	return shortened(text)
}

// isWindow reports whether the function has a value for each row.
func (f RowsFunction) isWindow() bool {
	return f.windowed || f.Aggregation.Frame.Kind != plan.WholePartition || f.Aggregation.IsOfRow()
}

// isOver reports whether the function is computed in the order of its window.
func (f RowsFunction) isOver() bool { return f.Aggregation.IsOrdered(len(f.keys.Order) > 0) }

// windowKeys returns the keys that the function is computed by, which have an order if it reads it.
func (f RowsFunction) windowKeys() plan.WindowKeys {
	keys := f.keys
	if !f.isOver() {
		keys.Order = nil
	}
	return keys
}

// sameRows reports whether two functions can be computed together.
func (f RowsFunction) sameRows(g RowsFunction) bool {
	return f.isOver() == g.isOver() && f.windowKeys().Unnamed().Same(g.windowKeys().Unnamed())
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

// WindowText formats the keys of a window.
func WindowText(keys plan.WindowKeys) string { return "(" + keys.Unnamed().String() + ")" }

// EachFunction changes the functions of rows of an expression that are not windows yet.
func EachFunction(e expr.Expr, change func(f *RowsFunction)) expr.Expr {
	return e.Substitute(changing(change))
}

// changing returns a function of [expr.Expr.Substitute] that changes functions that are not windows.
func changing(change func(f *RowsFunction)) func(expr.Expr) (expr.Expr, bool) {
	return func(part expr.Expr) (expr.Expr, bool) {
		f, ok := rowsFunctionOf(part)
		if !ok || f.windowed {
			return part, ok || !part.ReadsRows()
		}
		change(&f)
		return f.Tree(), true
	}
}

// Over makes the functions of rows of an expression windows with keys. Those that take a frame, and have
// none, get the given one.
func Over(e expr.Expr, keys plan.WindowKeys, frame plan.Frame) expr.Expr {
	exec.UseWindows()
	e = ofLists(e)
	// The functions that inherit the window share operands.
	var inherited *expr.Substitution
	within := func(f *RowsFunction) {
		if f.Inherits {
			for i, v := range f.Aggregation.Values {
				f.Aggregation.Values[i] = inherited.Apply(v)
			}
		}
		order := f.keys.Order
		f.windowed, f.Inherits, f.keys = true, false, keys
		switch {
		case len(keys.Order) == 0:
			f.keys.Order = order
		case f.Aggregation.Function == "exponential_mean_by": // in the order of its times
			f.keys.Order = slices.Concat(order, keys.Order)
		}
	}
	inherited = expr.NewSubstitution(changing(within))
	if frame.Kind != plan.WholePartition {
		e = framedPairs(e, keys)
	}
	return EachFunction(e, func(f *RowsFunction) {
		within(f)
		switch {
		case !f.Aggregation.Properties().Framed:
		case f.Aggregation.Frame.Kind == plan.WholePartition:
			f.Aggregation.Frame = frame
		default:
			f.Aggregation.Frame.AtLeast = frame.AtLeast
		}
	})
}
