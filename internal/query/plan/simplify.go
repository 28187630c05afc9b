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
		simplified, err := n.simplified()
		if err != nil {
			return nil, err
		}
		if simplified == nil {
			simplified = n
		}
		if simplified.isEmpty() {
			return NewNothing(simplified.Schema()), nil
		}
		return simplified, nil
	})
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

// simplifyJoin simplifies the condition of a join. An anti join with no rows is its left side.
func simplifyJoin(n *Join) (Node, error) {
	if n.options.Kind == join.Anti && isNothing(n.right) {
		return n.left, nil
	}
	if n.options.Where.IsZero() {
		return n, nil
	}
	s := newSimplifier(n.both)
	options := n.options
	options.Where = s.condition(options.Where)
	if value, ok := options.Where.Literal(); ok && value == true {
		options.Where = options.noCondition()
	}
	if !s.changed {
		return n, nil
	}
	return node(NewJoin(n.left, n.right, options))
}

// typeOf returns the type of an expression, or nil if it does not fit the schema.
func typeOf(e expr.Expr, schema *arrow.Schema) arrow.DataType {
	t, _, err := e.Type(schema)
	if err != nil {
		return nil
	}
	return t
}
