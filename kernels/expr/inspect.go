package expr

import (
	"slices"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// IsZero reports whether e is the zero Expr, which is no expression.
func (e Expr) IsZero() bool { return e.node == nil }

// Operation returns the name of the outermost operation as messages have it: "column",
// "literal", "as", "add", "and", "if_else". It returns "" for the zero Expr.
func (e Expr) Operation() string {
	if e.node == nil {
		return ""
	}
	return e.node.name()
}

// Operands returns the operands of the outermost operation: none for a column or a
// literal, the renamed expression for [Expr.As].
func (e Expr) Operands() []Expr {
	if e.node == nil {
		return nil
	}
	operands := make([]Expr, len(e.node.arguments))
	for i, argument := range e.node.arguments {
		operands[i] = Expr{argument}
	}
	return operands
}

// Column returns the name of the column if e is one.
func (e Expr) Column() (name string, ok bool) {
	if e.node == nil || e.node.op != exprtree.Column {
		return "", false
	}
	return e.node.text, true
}

// Literal returns the value of the literal if e is one: the value that was passed to
// [Lit] or [LitOf], or nil for a null.
func (e Expr) Literal() (value any, ok bool) {
	if e.node == nil || e.node.op != exprtree.Literal {
		return nil, false
	}
	return e.node.value, true
}

// Walk calls visit for e and then for its operands, and theirs, from left to right. It
// does not descend below an expression for which visit returns false. A part that
// occurs in several places is visited once, at the first of them, so that Walk is fast for
// expressions that share parts. The zero Expr is not visited.
func (e Expr) Walk(visit func(Expr) bool) {
	seen := make(map[*node]bool)
	var walk func(*node)
	walk = func(n *node) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		if !visit(Expr{n}) {
			return
		}
		for _, argument := range n.arguments {
			walk(argument)
		}
	}
	walk(e.node)
}

// Columns returns the names of the columns that the expression uses, each once, in the
// order of their first use.
func (e Expr) Columns() []string {
	var names []string
	e.Walk(func(part Expr) bool {
		if name, ok := part.Column(); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
		return true
	})
	return names
}
