package substrait

import (
	"github.com/substrait-io/substrait-protobuf/go/substraitpb"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// set translates a set operation of two or more inputs.
func (t *translator) set(path string, r *substraitpb.SetRel) (*block, error) {
	var bodies []tree.Body
	columns := 0
	for i, input := range r.GetInputs() {
		at := element(path+".inputs", i)
		b, err := t.relation(at, input)
		if err != nil {
			return nil, err
		}
		if i > 0 && len(b.fields) != columns {
			return nil, failed(at, "it has %d columns, the first input %d", len(b.fields), columns)
		}
		columns = len(b.fields)
		q := b.query()
		if q.OrderBy == nil && !b.limited() {
			bodies = append(bodies, q.Body)
		} else {
			bodies = append(bodies, &tree.Nested{Query: q})
		}
	}
	if len(bodies) < 2 {
		return nil, failed(path, "it has %d inputs, expected two or more", len(bodies))
	}
	first := bodies[0]
	fold := func(kind tree.SetKind, all bool, first tree.Body, rest []tree.Body) tree.Body {
		for _, b := range rest {
			first = &tree.SetOperation{Kind: kind, All: all, Left: first, Right: b}
		}
		return first
	}
	var body tree.Body
	switch r.GetOp() {
	case substraitpb.SetRel_SET_OP_UNION_ALL:
		body = fold(tree.Union, true, first, bodies[1:])
	case substraitpb.SetRel_SET_OP_UNION_DISTINCT:
		body = fold(tree.Union, false, first, bodies[1:])
	case substraitpb.SetRel_SET_OP_INTERSECTION_MULTISET:
		body = fold(tree.Intersect, false, first, bodies[1:])
	case substraitpb.SetRel_SET_OP_INTERSECTION_MULTISET_ALL:
		body = fold(tree.Intersect, true, first, bodies[1:])
	case substraitpb.SetRel_SET_OP_INTERSECTION_PRIMARY: // rows of the first that are in any of the others
		body = &tree.SetOperation{Kind: tree.Intersect, Left: first, Right: fold(tree.Union, true, bodies[1], bodies[2:])}
	case substraitpb.SetRel_SET_OP_MINUS_PRIMARY:
		body = fold(tree.Except, false, first, bodies[1:])
	case substraitpb.SetRel_SET_OP_MINUS_PRIMARY_ALL:
		body = fold(tree.Except, true, first, bodies[1:])
	default:
		return nil, failed(path, "operation %s is not supported", r.GetOp())
	}
	return t.derived(&tree.Query{Body: body}, columns), nil
}
