package bind

import (
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Expr is an expression of a verb. The zero Expr is a problem when it is bound.
type Expr struct {
	Tree expr.Expr
	// Name is the name of its column.
	Name string
	// Misuse are errors of the methods that made the expression.
	Misuse []error
}

// Named returns the tree with the name.
func (e Expr) Named() expr.Expr { return plan.Named(e.Tree, e.Name) }

// same reports whether two expressions are equal, with their names. Those with errors are not.
func (e Expr) same(other Expr) bool {
	return len(e.Misuse)+len(other.Misuse) == 0 && e.Name == other.Name && e.Tree.Same(other.Tree)
}

// Order is a key of a sort.
type Order struct {
	Key                    Expr
	Descending, NullsFirst bool
}

func (o Order) same(other Order) bool {
	return o.Descending == other.Descending && o.NullsFirst == other.NullsFirst && o.Key.same(other.Key)
}
