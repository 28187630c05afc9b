package plan

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Filter yields the rows for which a condition is true, not false or null.
type Filter struct {
	single
	condition expr.Expr
}

// NewFilter makes a filter. The condition must be of type bool.
func NewFilter(input Node, condition expr.Expr) (*Filter, error) {
	t, _, err := condition.Type(input.Schema())
	if err != nil {
		return nil, err
	}
	if t.ID() != arrow.BOOL {
		return nil, fmt.Errorf("%s is %v, expected bool, such as a comparison: %w", described(condition), t, expr.ErrType)
	}
	return &Filter{single{input, input.Schema()}, condition}, nil
}

// Condition returns the condition.
func (f *Filter) Condition() expr.Expr { return f.condition }

// WithInputs implements [Node].
func (f *Filter) WithInputs(inputs ...Node) (Node, error) {
	return node(NewFilter(inputs[0], f.condition))
}

// String implements [Node].
func (f *Filter) String() string { return "filter " + described(f.condition) }

// node makes a Node of the results of a constructor. A nil pointer becomes a nil Node.
func node[P interface {
	*T
	Node
}, T any](made P, err error) (Node, error) {
	if err != nil {
		return nil, err
	}
	return made, nil
}
