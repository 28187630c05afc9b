package plan

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// simplify computes what is known before the query runs: constants in expressions, filters
// that keep all rows or none, and operations on no rows.
func (o *optimization) simplify(root Node) (Node, error) {
	return o.rewrite(root, func(n Node) (Node, error) {
		simplified, err := simplifyExpressions(n)
		if err != nil {
			return nil, err
		}
		if yieldsNothing(simplified) {
			return NewNothing(simplified.Schema()), nil
		}
		switch node := simplified.(type) {
		case *Union:
			return withoutEmptyInputs(node)
		case *Join:
			if node.options.Kind == join.Anti && isNothing(node.right) {
				return node.left, nil
			}
		}
		return simplified, nil
	})
}

// simplifyExpressions simplifies the expressions of one node.
func simplifyExpressions(n Node) (Node, error) {
	switch n := n.(type) {
	case *Filter:
		return simplifyFilter(n)
	case *Project:
		return simplifyProject(n)
	case *Aggregate:
		s := newSimplifier(n.input.Schema())
		keys := s.all(n.keys)
		aggregations := s.aggregations(n.aggregations)
		if !s.changed {
			return n, nil
		}
		return node(NewAggregate(n.input, keys, aggregations, n.options))
	case *Window:
		s := newSimplifier(n.input.Schema())
		partition := s.all(n.partition)
		aggregations := s.aggregations(n.aggregations)
		if !s.changed {
			return n, nil
		}
		return node(NewWindow(n.input, partition, aggregations))
	case *Sort:
		return simplifySort(n)
	case *Join:
		return simplifyJoin(n)
	}
	return n, nil
}

func simplifyFilter(n *Filter) (Node, error) {
	s := newSimplifier(n.input.Schema())
	var kept []expr.Expr
	known := conditionSet{}
	for _, part := range s.condition(n.condition).Conjuncts() {
		if value, ok := part.Literal(); ok {
			if value == true {
				continue
			}
			return NewNothing(n.schema), nil
		}
		if known.add(part) {
			kept = append(kept, part)
		}
	}
	if !s.changed && len(kept) == len(n.condition.Conjuncts()) {
		return n, nil
	}
	rest, err := n.input, error(nil)
	if len(kept) > 0 { // filters that follow each other become one when filters are pushed
		rest, err = node(NewFilter(n.input, allOf(kept)))
	}
	if err != nil {
		return nil, err
	}
	return exactly(rest, columnsOf(n.schema))
}

func simplifyProject(n *Project) (Node, error) {
	s := newSimplifier(n.input.Schema())
	simplified := s.all(n.expressions)
	if !s.changed {
		return n, nil
	}
	return node(NewProject(n.input, simplified...))
}

// simplifySort also removes keys that are constant or follow the same key.
func simplifySort(n *Sort) (Node, error) {
	s := newSimplifier(n.input.Schema())
	var keys []SortKey
	for _, k := range n.keys {
		k.Value = s.value(k.Value)
		_, constant := Unnamed(k.Value).Literal()
		if constant || slices.ContainsFunc(keys, func(other SortKey) bool { return other.Value.Same(k.Value) }) {
			s.changed = true
			continue
		}
		keys = append(keys, k)
	}
	switch {
	case !s.changed:
		return n, nil
	case len(keys) > 0:
		return node(NewSort(n.input, keys, n.limit))
	case n.limit == All:
		return n.input, nil
	}
	return node(NewSlice(n.input, 0, n.limit))
}

// simplifyJoin simplifies the condition of a join.
func simplifyJoin(n *Join) (Node, error) {
	if n.options.Where.IsZero() {
		return n, nil
	}
	s := newSimplifier(n.both)
	options := n.options
	options.Where = s.condition(options.Where)
	if value, ok := options.Where.Literal(); ok && value == true {
		options.Where = expr.Expr{}
	}
	if !s.changed {
		return n, nil
	}
	return node(NewJoin(n.left, n.right, options))
}

// yieldsNothing reports whether a node has no rows because of its inputs or its limit.
func yieldsNothing(n Node) bool {
	switch n := n.(type) {
	case *Filter, *Project, *Window, *Distinct, *Explode, *Number, *Draw:
		return isNothing(n.Inputs()[0])
	case *Aggregate:
		return isNothing(n.input) && len(n.keys) > 0
	case *Sort:
		return isNothing(n.input) || n.limit == 0
	case *Slice:
		return isNothing(n.input) || n.length == 0
	case *Over:
		return isNothing(n.input)
	case *Union:
		return !slices.ContainsFunc(n.inputs, func(input Node) bool { return !isNothing(input) })
	case *Join:
		left, right := isNothing(n.left), isNothing(n.right)
		switch n.options.Kind {
		case join.Inner, join.Cross, join.Semi:
			return left || right
		case join.Left, join.Anti:
			return left
		case join.Right:
			return right
		}
		return left && right
	}
	return false
}

// withoutEmptyInputs removes the inputs of a union that yield nothing.
func withoutEmptyInputs(u *Union) (Node, error) {
	var kept []Node
	for _, input := range u.inputs {
		if !isNothing(input) {
			kept = append(kept, input)
		}
	}
	switch len(kept) {
	case len(u.inputs):
		return u, nil
	case 1:
		return kept[0], nil
	}
	return node(NewUnion(kept...))
}

// typeOf returns the type of an expression, or nil if it does not fit the schema.
func typeOf(e expr.Expr, schema *arrow.Schema) arrow.DataType {
	t, _, err := e.Type(schema)
	if err != nil {
		return nil
	}
	return t
}
