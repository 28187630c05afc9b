package plan

import "github.com/gpuframe/gpuframe/kernels/expr"

// traits are the properties of an operation that passes read. They stand in the file of the operation;
// those of [cautious] are right for every operation, and leave its plan as it is.
type traits interface {
	// holdsRows reports whether the operation by itself needs all rows of an input at a time.
	holdsRows() bool
	// estimate returns the expected size of the result without the bytes of a row. first is that of the
	// first input.
	estimate(a *Analysis, first Size) Size
	// isEmpty reports whether the result has no rows because of an input without rows, or of a limit.
	isEmpty() bool
	// isLocal reports whether the results of parts of the rows are parts of the result.
	isLocal() bool
	// isRowByRow reports whether the result has a row for each row of the input, in the same order.
	isRowByRow() bool
	// keepsFirst reports whether the first rows of the result depend on no more of the first rows of
	// the input.
	keepsFirst() bool
	// readsOrder reports whether the rows or the order of the result depend on the order of an input.
	// own is set if the order of the result is read.
	readsOrder(input int, own bool) bool
	// sortedBy reports whether the result is in the order of some keys, one or more. If that depends on
	// the order of the input, it returns the keys of the input.
	sortedBy(keys []SortKey) (sorted bool, below []SortKey)
	// conditionBelow returns a function that translates a condition on the result to one on the input
	// that keeps the same rows, or reports that it cannot. It may be nil.
	conditionBelow() func(c expr.Expr) (below expr.Expr, ok bool)
	// reads returns the names of the columns that are read of each input for some columns of the
	// result. They may include others. Nil is all columns.
	reads(wanted columnSet) []columnSet
	// pruned returns the operation on inputs with fewer columns, without expressions of columns that are
	// not read. Nil is the same operation on the inputs.
	pruned(inputs []Node, wanted columnSet) (Node, error)
	// simplified returns the operation with simpler expressions. Nil is the same operation.
	simplified() (Node, error)
	// same reports whether another node yields the same rows if its inputs are the same.
	same(other Node) bool
}

// cautious are traits of an operation of which nothing is known.
type cautious struct{}

func (cautious) holdsRows() bool                                   { return true }
func (cautious) estimate(_ *Analysis, first Size) Size             { return first }
func (cautious) isEmpty() bool                                     { return false }
func (cautious) isLocal() bool                                     { return false }
func (cautious) isRowByRow() bool                                  { return false }
func (cautious) keepsFirst() bool                                  { return false }
func (cautious) readsOrder(int, bool) bool                         { return true }
func (cautious) sortedBy([]SortKey) (bool, []SortKey)              { return false, nil }
func (cautious) conditionBelow() func(expr.Expr) (expr.Expr, bool) { return nil }
func (cautious) reads(columnSet) []columnSet                       { return nil }
func (cautious) pruned([]Node, columnSet) (Node, error)            { return nil, nil }
func (cautious) simplified() (Node, error)                         { return nil, nil }
func (cautious) same(Node) bool                                    { return false }
