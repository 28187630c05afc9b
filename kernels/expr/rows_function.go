package expr

import "fmt"

// RowsFunction is a function of the values of several rows: an aggregate or a window function.
// [Bind] refuses it. A planner computes it as a column, which it substitutes for the function.
//
// Functions with equal fields and operands are the same: see [Expr.Same]. They are immutable.
type RowsFunction interface {
	// Text formats the function of operands for messages.
	Text(operands []Expr) string
}

// OfRows is a function of several rows of operands. It is written like a column whose name is the
// text of the function.
func OfRows(f RowsFunction, operands ...Expr) Expr {
	applied := makeMany(ofRows, operands...)
	applied.node.value = f
	return Expr{linked(applied.node)}
}

// RowsFunction returns the function if the outermost operation of e is one of several rows.
func (e Expr) RowsFunction() (f RowsFunction, ok bool) {
	if e.node == nil || e.node.op != ofRows {
		return nil, false
	}
	f, ok = e.node.value.(RowsFunction)
	return f, ok
}

// ReadsRows reports whether e is a function of several rows or has one in its operands.
func (e Expr) ReadsRows() bool { return e.node != nil && e.node.rows }

// rowsText returns the text of a function of several rows. It is stored with the node, because functions
// within each other share operands.
func (n *node) rowsText() string {
	if known := n.written.Load(); known != nil {
		return *known
	}
	text := n.name()
	if f, ok := n.value.(RowsFunction); ok {
		text = f.Text(Expr{n}.Operands())
	}
	n.written.Store(&text)
	return text
}

// refuseRows is the error of Bind for a function of several rows.
func refuseRows(n *node) error {
	return fmt.Errorf("%s is a function of several rows, which only a query computes: %w", n.rowsText(), ErrType)
}
