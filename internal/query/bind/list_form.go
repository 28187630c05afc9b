package bind

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// tree returns the function of a list. A list that it does not take is reported by the name of the function.
func (f *ListForm) tree(list expr.Expr, a plan.Aggregation) expr.Expr {
	return f.Tree(expr.Apply(formOperand{f, a.Count}, list), a)
}

// formOperand is the list of a form as it is. It refuses a list, or a number of values, that the form does not take.
type formOperand struct {
	form  *ListForm
	count int64
}

// Name implements expr.Operator.
func (o formOperand) Name() string { return o.form.Function }

// Result implements expr.Operator.
func (o formOperand) Result(operands []arrow.DataType) (arrow.DataType, error) {
	const name = "list"
	schema := arrow.NewSchema([]arrow.Field{{Name: name, Type: operands[0]}}, nil)
	_, _, err := o.form.Tree(expr.Col(name), plan.Aggregation{Count: o.count}).Type(schema)
	if err != nil {
		return nil, &callError{o.form.Function, innermost(err)}
	}
	return operands[0], nil
}

// Run implements expr.Operator.
func (formOperand) Run(_ context.Context, operands []*column.Column, _ kernels.Options) (*column.Column, error) {
	return operands[0], operands[0].Retain()
}

// callError is a problem of a call, which is reported without the expressions that compute it.
type callError struct {
	function string
	reason   error
}

// Error names the function.
func (e *callError) Error() string { return fmt.Sprintf("%s: %v", e.function, e.reason) }

// Unwrap returns the reason.
func (e *callError) Unwrap() error { return e.reason }

// innermost returns the reason why an operation within an expression was refused.
func innermost(err error) error {
	for {
		var refused *expr.Error
		if !errors.As(err, &refused) {
			return err
		}
		err = refused.Reason
	}
}
