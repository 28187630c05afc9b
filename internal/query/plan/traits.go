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
	// rowNumbers is what is known of the numbers of the rows before they are counted.
	rowNumbers() rowNumbers
	// rowsFrom returns the input of which the result has some or all rows, each at most once. It may be nil.
	rowsFrom() Node
	// passes reports whether the result has the rows of the only input that meet conditions, perhaps
	// none, and columns of it by their own names.
	passes() (conditions []expr.Expr, ok bool)
	// origin returns the column of an input that a column of the result is, if rows of that input may be
	// left out when rows with the same value in the column are not of interest. The input may be nil.
	origin(name string) (input Node, column string)
	// determined adds columns to known ones of the result: rows with equal values in the known columns have equal values in
	// the added ones too.
	determined(o *optimization, known columnSet) (columnSet, error)
	// readsOrder reports whether the rows or the order of the result depend on the order of an input.
	// own is set if the order of the result is read.
	readsOrder(input int, own bool) bool
	// sortedBy reports whether the result is in the order of some keys, one or more. If that depends on
	// the order of the input, it returns the keys of the input.
	sortedBy(keys []SortKey) (sorted bool, below []SortKey)
	// conditionBelow returns a function that translates a condition on the result to one on the input
	// that keeps the same rows, or reports that it cannot. It may be nil.
	conditionBelow() func(c expr.Expr) (below expr.Expr, ok bool)
	// pushed returns the rows of the result that meet conditions, which it pushes into the inputs in
	// another way than by conditionBelow. It may be nil.
	pushed(p *filterPusher, conditions []expr.Expr) (Node, error)
	// first returns an operation with the same first rows, which needs no more than the first rows of its
	// inputs. It may yield fewer other rows. Nil is the same operation.
	first(p *limitPusher, rows int64) (Node, error)
	// sliced returns the rows of a slice of the result in another way. It may be nil.
	sliced(p *limitPusher, slice *Slice) (Node, error)
	// reads returns the names of the columns that are read of each input for some columns of the
	// result. They may include others. Nil is all columns.
	reads(wanted columnSet) []columnSet
	// pruned returns the operation on inputs with fewer columns, without expressions of columns that are
	// not read. Nil is the same operation on the inputs.
	pruned(inputs []Node, wanted columnSet) (Node, error)
	// overProjection returns the operation on the input of a projection, which is its only input, with
	// the expressions in place of the columns. Nil is the same operation.
	overProjection(below *Project) (Node, error)
	// simplified returns the operation with simpler expressions. Nil is the same operation.
	simplified() (Node, error)
	// sharesMemory reports whether the result may have columns that exist before the query runs.
	sharesMemory() bool
	// divided returns the operation on inputs of which all devices may have a part. Without a node it
	// runs on the first device.
	divided(d *distribution, inputs []spread) (spread, error)
	// dividedAsMoved is divided for inputs with rows that may not be in order. It comes first, and
	// may return a reason in place of a node.
	dividedAsMoved(d *distribution, inputs []spread) (spread, error)
	// partialTables is what tables of a [Partial] of the operation have.
	partialTables() partialTables
	// hasStates reports whether the tables have the states of groups instead of the columns of the schema.
	hasStates() bool
	// same reports whether another node yields the same rows if its inputs are the same.
	same(other Node) bool
}

// rowNumbers is what is known of the numbers of rows before they are counted.
type rowNumbers uint8

const (
	// unknownNumbers are known when the rows before have been counted.
	unknownNumbers rowNumbers = iota
	// inputNumbers are those of the rows of the input: the result has a row for each of them. Only a
	// sort has another order.
	inputNumbers
	// knownNumbers are known without the rows.
	knownNumbers
)

// partialTables is what the tables of partial results have.
type partialTables uint8

const (
	// partialRows are the columns of the operation.
	partialRows partialTables = iota
	// partialStates are the states of groups.
	partialStates
	// positionedRows are the columns of the operation and that of a [Position].
	positionedRows
)

// cautious are traits of an operation of which nothing is known.
type cautious struct{}

func (cautious) holdsRows() bool                                                { return true }
func (cautious) estimate(_ *Analysis, first Size) Size                          { return first }
func (cautious) isEmpty() bool                                                  { return false }
func (cautious) isLocal() bool                                                  { return false }
func (cautious) rowNumbers() rowNumbers                                         { return unknownNumbers }
func (cautious) rowsFrom() Node                                                 { return nil }
func (cautious) passes() ([]expr.Expr, bool)                                    { return nil, false }
func (cautious) origin(string) (Node, string)                                   { return nil, "" }
func (cautious) determined(_ *optimization, known columnSet) (columnSet, error) { return known, nil }
func (cautious) readsOrder(int, bool) bool                                      { return true }
func (cautious) sortedBy([]SortKey) (bool, []SortKey)                           { return false, nil }
func (cautious) conditionBelow() func(expr.Expr) (expr.Expr, bool)              { return nil }
func (cautious) pushed(*filterPusher, []expr.Expr) (Node, error)                { return nil, nil }
func (cautious) first(*limitPusher, int64) (Node, error)                        { return nil, nil }
func (cautious) sliced(*limitPusher, *Slice) (Node, error)                      { return nil, nil }
func (cautious) reads(columnSet) []columnSet                                    { return nil }
func (cautious) pruned([]Node, columnSet) (Node, error)                         { return nil, nil }
func (cautious) overProjection(*Project) (Node, error)                          { return nil, nil }
func (cautious) simplified() (Node, error)                                      { return nil, nil }
func (cautious) sharesMemory() bool                                             { return false }
func (cautious) divided(*distribution, []spread) (spread, error)                { return spread{}, nil }
func (cautious) dividedAsMoved(*distribution, []spread) (spread, error)         { return spread{}, nil }
func (cautious) partialTables() partialTables                                   { return partialRows }
func (cautious) hasStates() bool                                                { return false }
func (cautious) same(Node) bool                                                 { return false }
