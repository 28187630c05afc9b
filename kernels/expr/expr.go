package expr

import (
	"slices"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// Expr is an expression: a column, a literal, or an operation on other expressions.
// It is immutable, may be used from any goroutine, and may be part of any number of other
// expressions. The methods accept all arguments; [Bind] checks them. The zero value is no
// expression, and Bind refuses it.
//
// Reuse an Expr that is evaluated often: the result of Bind is stored with it.
type Expr struct{ node *node }

// node is one operation. Nodes do not change, except for the cached result of Bind.
type node struct {
	op        exprtree.Op
	arguments []*node
	// text is the name of a column or of an unknown function, or the new name of an
	// alias.
	text string
	// value is a literal as the user passed it, or the operator or the function of several rows
	// that is applied. to is the type of a cast or literal.
	value any
	to    arrow.DataType
	// bound has results of Bind for lists of expressions that begin with this node.
	bound atomic.Pointer[boundList]
	// written is the text of a function of several rows, or nil if it is not known.
	written atomic.Pointer[string]
	// fingerprint is that of the node, or zero if it is not known.
	fingerprint atomic.Uint64
	// typed is the type for the last schema.
	typed atomic.Pointer[typed]
	// steps is set if the node is, or has in its operands, an operator or a cast that may be one.
	steps bool
	// rows is set if the node is, or has in its operands, a function of several rows.
	rows bool
}

// linked completes a node that has its operands.
func linked(n *node) *node {
	n.steps = n.op == apply || mayParse(n) || mayBeDecimal(n) || slices.ContainsFunc(n.arguments, func(a *node) bool { return a != nil && a.steps })
	n.rows = n.op == ofRows || slices.ContainsFunc(n.arguments, func(a *node) bool { return a != nil && a.rows })
	return n
}

// Operations of the language that are composed of operations of exprtree.
const (
	alias = exprtree.Ops + 1 + iota
	fillNull
	clamp
	trueDivide
	floorDivide
	floorRemainder
	roundDigits
	exceeds
	contains
	find
	like
	substring
	substringAt
	trim
	trimStart
	trimEnd
	oneOf
	splitPart
	padStart
	padEnd
	capitalize
	repeat
	count
	trimPrefix
	trimSuffix
	addDays
	addMonths
	addYears
	truncate
	daysSince
	apply
	ofRows
)

func make1(op exprtree.Op, e Expr) Expr {
	return Expr{linked(&node{op: op, arguments: []*node{e.node}})}
}

func make2(op exprtree.Op, left, right Expr) Expr {
	return Expr{linked(&node{op: op, arguments: []*node{left.node, right.node}})}
}

func makeMany(op exprtree.Op, expressions ...Expr) Expr {
	n := &node{op: op, arguments: make([]*node, len(expressions))}
	for i, e := range expressions {
		n.arguments[i] = e.node
	}
	return Expr{linked(n)}
}

// Col is the column with a name, the first one if several have it.
func Col(name string) Expr { return Expr{&node{op: exprtree.Column, text: name}} }

// As gives the expression a name, which is the name of its column in [Project]. It changes
// nothing else.
func (e Expr) As(name string) Expr {
	return Expr{linked(&node{op: alias, arguments: []*node{e.node}, text: name})}
}

// Name returns the name that As gave, or for a column its own, for a function of several rows its
// text, and for any other expression what String returns.
func (e Expr) Name() string {
	switch {
	case e.node == nil:
	case e.node.op == alias || e.node.op == exprtree.Column:
		return e.node.text
	case e.node.op == ofRows:
		return e.node.rowsText()
	}
	return e.String()
}
