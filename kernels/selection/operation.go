package selection

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// operation runs an operator with the one option that may be given, and puts its name
// before the error. The name is formatted only for an error.
func operation[Options, Result any](name any, given []Options, run func(Options) (Result, error)) (result Result, err error) {
	only, err := op.Only(given)
	if err == nil {
		result, err = run(only)
	}
	if err != nil {
		var none Result
		return none, fmt.Errorf("selection: %v: %w", name, err)
	}
	return result, nil
}

// byPredicate is the name of a filter by a predicate.
type byPredicate struct{ predicate expr.Expr }

func (f byPredicate) String() string { return fmt.Sprintf("filter by %v", f.predicate) }
