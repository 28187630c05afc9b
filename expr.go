package gpuframe

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/catalog"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Expression is an argument of the verbs of a [Query]: an [Expr] or a [Typed] column.
type Expression interface {
	Ordering
	expression() Expr
}

// Expr is an expression on the columns of a query: a column, a literal, an operation on
// other expressions, an aggregate, or a window. It is immutable and may be used from any
// goroutine and in any number of queries. It is checked when a query that it is part of is
// bound to its sources; until then nothing is an error.
//
// Methods with an operand of type any take an [Expression], or a Go value as a literal:
// Col("price").Mul(1.19). A string is a literal, not a column.
//
// The name of the result is the one that [Expr.As] gives. Without it, it is the name of
// the first column in the expression: price.Mul(qty) and price.Sum() are named "price".
type Expr struct {
	value expr.Expr
	parts parts
	// root is the name without As, given the name of As.
	root, given string
	// misuse is an error of the method that made the expression.
	misuse error
}

func (e Expr) expression() Expr { return e }

// Name returns the name of the expression's column in a result.
func (e Expr) Name() string {
	if e.given != "" {
		return e.given
	}
	return e.root
}

// String formats the expression for messages.
func (e Expr) String() string { return plan.Readable(e.value.String()) }

// As gives the expression a name.
func (e Expr) As(name string) Expr {
	e.given = name
	return e
}

// Col is the column with a name. Its type is found when the query is bound.
func Col(name string) Expr { return Expr{value: expr.Col(name), root: name} }

// Lit is a literal, for expressions that begin with one: Lit(1).Sub(Col("discount")). It
// may be a bool, a number, a string, []byte, time.Time or time.Duration.
func Lit(value any) Expr { return Expr{value: expr.Lit(value), root: "literal"} }

// LitOf is a literal of a type: a number, a decimal given as a string, a time, or nil for
// null.
func LitOf(t arrow.DataType, value any) Expr {
	return Expr{value: expr.LitOf(t, value), root: "literal"}
}

// operand returns the expression of an argument, which may be a Go value.
func operand(x any) Expr {
	if e, ok := x.(Expression); ok {
		return e.expression()
	}
	return Lit(x)
}

// apply makes an expression of a function of expressions. The first one gives it the name.
func apply(f func(list []expr.Expr) expr.Expr, operands ...Expr) Expr {
	var applied Expr
	values := make([]expr.Expr, len(operands))
	for i, o := range operands {
		if i == 0 {
			applied.root = o.Name()
		}
		applied.misuse = joinMisuse(applied.misuse, o.misuse)
		values[i] = applied.parts.join(o)
	}
	applied.value = f(values)
	return applied
}

func unary(e Expr, f func(expr.Expr) expr.Expr) Expr {
	return apply(func(list []expr.Expr) expr.Expr { return f(list[0]) }, e)
}

func binary(e Expr, x any, f func(a, b expr.Expr) expr.Expr) Expr {
	return apply(func(list []expr.Expr) expr.Expr { return f(list[0], list[1]) }, e, operand(x))
}

// misuses are the errors of an expression, each once: its operands may share parts.
type misuses []error

func (m misuses) Error() string { return errors.Join(m...).Error() }

// Unwrap returns the errors.
func (m misuses) Unwrap() []error { return m }

// joinMisuse returns the errors of two operands.
func joinMisuse(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	all := slices.Clone(misusesOf(a))
	for _, err := range misusesOf(b) {
		if !slices.Contains(all, err) {
			all = append(all, err)
		}
	}
	return all
}

func misusesOf(err error) misuses {
	if list, ok := err.(misuses); ok {
		return list
	}
	return misuses{err}
}

// part is an aggregate or a window in an expression. The expression has a column with
// its name in its place.
type part struct {
	aggregation plan.Aggregation
	// inner are the parts of the aggregation's own expressions.
	inner parts
	// window has the partition and the order. Without one the aggregate is of the rows of a
	// group.
	window *Window
	// frame is the rows of the partition that the function is of.
	frame plan.Frame
	// inherits gives the functions without a window in its own expressions the window of Over.
	inherits bool
}

// isWindow reports whether the part has a value for each row.
func (p part) isWindow() bool {
	return p.window != nil || p.frame.Kind != plan.WholePartition || p.aggregation.IsOfRow()
}

// isOver reports whether the part is computed in the order of its window.
func (p part) isOver() bool {
	ordered := p.window != nil && len(p.window.order) > 0 && p.aggregation.Properties().Order == catalog.RowOrder
	return ordered || !p.frame.Same(plan.Frame{}) || p.aggregation.IsOfRow()
}

// parts are the aggregates and windows of an expression by the names of their columns.
type parts map[string]*part

// join adds the parts of an expression to a map that no expression has yet, and returns its value
// on the columns of these parts. Equal parts are one column; other parts with the same text get
// another name.
func (p *parts) join(e Expr) expr.Expr {
	if len(e.parts) == 0 {
		return e.value
	}
	if *p == nil {
		*p = parts{}
	}
	joined := *p
	renamed := map[string]string{}
	for name, added := range e.parts {
		free := name
		for n := 2; ; n++ {
			known, ok := joined[free]
			if !ok || known.same(added) {
				break
			}
			free = fmt.Sprintf("%s (%d)", name, n)
		}
		if free != name {
			other := *added
			other.aggregation.Name = free
			added, renamed[name] = &other, free
		}
		joined[free] = added
	}
	return rename(e.value, renamed)
}

// rename replaces columns by columns of other names.
func rename(e expr.Expr, names map[string]string) expr.Expr {
	if len(names) == 0 {
		return e
	}
	return e.Substitute(func(sub expr.Expr) (expr.Expr, bool) {
		name, _ := sub.Column()
		other, ok := names[name]
		if !ok {
			return sub, false
		}
		return expr.Col(other), true
	})
}

// same reports whether two parts compute the same.
func (p *part) same(q *part) bool { return p == q || partPairs{}.same(p, q) }

// partPairs are the pairs of parts that have been found to be the same. Parts share inner ones.
type partPairs map[[2]*part]bool

func (known partPairs) same(p, q *part) bool {
	pair := [2]*part{p, q}
	if p == q || known[pair] {
		return true
	}
	known[pair] = p.isSame(q) && maps.EqualFunc(p.inner, q.inner, known.same)
	return known[pair]
}

// isSame compares two parts without their inner ones.
func (p *part) isSame(q *part) bool {
	a, b := p.aggregation, q.aggregation
	if a.Function != b.Function || a.Count != b.Count || a.Number != b.Number || a.Text != b.Text || a.SkipNulls != b.SkipNulls || len(a.Values) != len(b.Values) || !a.Where.Same(b.Where) || !p.window.same(q.window) || !p.frame.Same(q.frame) || p.inherits != q.inherits {
		return false
	}
	for i := range a.Values {
		if a.Values[i].Fingerprint() != b.Values[i].Fingerprint() || !a.Values[i].Same(b.Values[i]) {
			return false
		}
	}
	return true
}
