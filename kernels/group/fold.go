package group

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Folding is an aggregate that expressions compute from lists: those of the values of each group of a table give a
// state, and those of the states of several tables one state. A long input so has lists of one table, and states.
type Folding struct {
	// Name is that of the function in messages.
	Name string
	// State is the type of a state.
	State arrow.DataType
	// Fold is the state of a list of values. The lists have no nulls.
	Fold func(list expr.Expr) expr.Expr
	// Merge is the state of a list of states that are not null, of values of a type.
	Merge func(list expr.Expr, values arrow.DataType) expr.Expr
	// Result is the value of the aggregate, computed from a state. Without it the state is the value.
	Result func(state expr.Expr, values arrow.DataType) expr.Expr
}

// Fold is the result of a folding of the values that are not null. Like Collect it depends on the order of the rows.
func Fold(e expr.Expr, f *Folding) Aggregate { return Aggregate{function: fold, value: e, folding: f} }

// foldedName is the column of lists or of states that the expressions of a folding read.
const foldedName = "list"

// folds plans the folding of an aggregate, of values of a type.
func (o *output) folds(values arrow.DataType) (err error) {
	o.folded = values
	schema := arrow.NewSchema([]arrow.Field{{Name: foldedName, Type: arrow.ListOf(values)}}, nil)
	o.dataType, o.nullable, err = o.resultOf(o.stateOf(expr.Col(foldedName))).Type(schema)
	for refused := (*expr.Error)(nil); errors.As(err, &refused); {
		err = refused.Reason // the aggregate is named, and its steps are no business of the caller
	}
	return err
}

// stateOf returns the state of lists.
func (o *output) stateOf(lists expr.Expr) expr.Expr {
	if o.merges {
		return o.aggregate.folding.Merge(lists, o.folded)
	}
	return o.aggregate.folding.Fold(lists)
}

// resultOf returns the result of a state.
func (o *output) resultOf(state expr.Expr) expr.Expr {
	if o.aggregate.folding.Result == nil {
		return state
	}
	return o.aggregate.folding.Result(state, o.folded)
}

// fold returns the result of each group.
func (m *members) fold() (*column.Column, error) {
	return m.folded(m.o.resultOf(m.o.stateOf(expr.Col(foldedName))))
}

// states returns the state of each group.
func (m *members) states() (*column.Column, error) {
	return m.folded(m.o.stateOf(expr.Col(foldedName)))
}

// folded computes an expression of the lists of the groups.
func (m *members) folded(e expr.Expr) (*column.Column, error) {
	lists, err := m.collect()
	if err != nil {
		return nil, err
	}
	m.owned.Add(lists)
	r := m.aggregation
	table, err := op.TableOf([]string{foldedName}, []*column.Column{lists}, r.groups.keys.Rows())
	if err != nil {
		return nil, err
	}
	columns, err := expr.Evaluate(r.call.Context(), table, []expr.Expr{e}, r.resultOptions())
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, err
	}
	return columns[0], nil
}
