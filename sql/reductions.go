package sql

import (
	"slices"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// isReduction are the names of list_reduce.
var isReduction = nameSet("list_reduce", "array_reduce", "reduce")

// reduction translates list_reduce of a list that is written out: the lambda of the first two elements, then of the
// result and the third one, and so on. The engine has no loop over lists of any length.
func (t *translation) reduction(s *scope, e *tree.Call, name string) value {
	if len(e.Args) < 2 || len(e.Args) > 3 {
		t.fail(e, "%s has %d arguments, expected a list, a lambda, and an initial value or not", name, len(e.Args))
	}
	lambda, ok := e.Args[1].Expr.(*tree.Lambda)
	if !ok || len(lambda.Variables) < 2 || len(lambda.Variables) > 3 {
		t.fail(e.Args[1].Expr, "the argument is no lambda of two values, and their number or not: expected (a, b) -> …")
	}
	list, isWritten := e.Args[0].Expr.(*tree.List)
	if !isWritten {
		if t.expr(s, e.Args[0].Expr).null {
			return value{null: true, uses: columnSet{}}
		}
		t.fail(e.Args[0].Expr, "%s of a list that is not written out, as [a, b], is not supported: use list_sum, list_min, list_max, array_to_string, flatten, or aggregates of unnest", name)
	}
	items := t.exprs(s, list.Items)
	number := int64(1)
	if len(e.Args) == 3 {
		items = slices.Insert(items, 0, t.expr(s, e.Args[2].Expr))
		number = 0
	}
	switch {
	case len(items) == 0:
		t.fail(e, "%s of an empty list needs an initial value", name)
	case areNull(items):
		return items[0]
	}
	items = t.alike(e, items)
	before := s.variables
	defer func() { s.variables = before }()
	result := items[0]
	for _, item := range items[1:] {
		number++
		s.variables = append(slices.Clip(before), variable{lambda.Variables[0].Text, result}, variable{lambda.Variables[1].Text, item})
		if len(lambda.Variables) == 3 {
			s.variables = append(s.variables, variable{lambda.Variables[2].Text, constant(number)})
		}
		result = t.convert(e, t.expr(s, lambda.Body), items[0].dataType)
	}
	return result
}
