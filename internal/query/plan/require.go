package plan

import (
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// RowFailure is a failure with a value of the first row that does not meet the condition.
type RowFailure interface {
	error
	// Column is the name of the column.
	Column() string
	// Of returns the failure with a value of the column, as text.
	Of(value string) error
}

// Require yields the rows of its input. The run fails if a condition is not true of one of them. No condition moves
// below it and no limit, so that it checks all rows that operations above it would have read.
type Require struct {
	single
	condition expr.Expr
	failure   error
}

// NewRequire makes a node that checks a condition, which must be of type bool. failure is the cause of the run's error.
func NewRequire(input Node, condition expr.Expr, failure error) (*Require, error) {
	filter, err := NewFilter(input, condition)
	if err != nil {
		return nil, err
	}
	return &Require{filter.single, condition, failure}, nil
}

// Broken is the condition of the rows with which the run fails.
func (r *Require) Broken() expr.Expr {
	return expr.Coalesce(r.condition, expr.Lit(false)).Not()
}

// Failure returns the cause of the run's error.
func (r *Require) Failure() error { return r.failure }

// WithInputs implements [Node].
func (r *Require) WithInputs(inputs ...Node) (Node, error) {
	return node(NewRequire(inputs[0], r.condition, r.failure))
}

// String implements [Node].
func (r *Require) String() string { return "require " + described(r.condition) }

func (r *Require) holdsRows() bool { return false }

func (r *Require) isEmpty() bool { return isNothing(r.input) }

func (r *Require) isLocal() bool { return true }

func (r *Require) rowNumbers() rowNumbers { return inputNumbers }

func (r *Require) readsOrder(_ int, own bool) bool { return own }

func (r *Require) sortedBy(keys []SortKey) (bool, []SortKey) { return false, keys }

func (r *Require) reads(wanted columnSet) []columnSet { return []columnSet{wanted.with(r.condition)} }

func (r *Require) pruned(inputs []Node, wanted columnSet) (Node, error) {
	checked, err := NewRequire(inputs[0], r.condition, r.failure)
	if err != nil || len(wanted) == 0 {
		return node(checked, err)
	}
	var kept []string
	for _, f := range checked.schema.Fields() {
		if wanted[f.Name] {
			kept = append(kept, f.Name)
		}
	}
	return exactly(checked, kept)
}
