package substrait

import (
	"github.com/substrait-io/substrait-protobuf/go/substraitpb"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// comparisons are the operators of comparisons with subqueries.
var comparisons = map[substraitpb.Expression_Subquery_SetComparison_ComparisonOp]string{
	substraitpb.Expression_Subquery_SetComparison_COMPARISON_OP_EQ: "=",
	substraitpb.Expression_Subquery_SetComparison_COMPARISON_OP_NE: "<>",
	substraitpb.Expression_Subquery_SetComparison_COMPARISON_OP_LT: "<",
	substraitpb.Expression_Subquery_SetComparison_COMPARISON_OP_GT: ">",
	substraitpb.Expression_Subquery_SetComparison_COMPARISON_OP_LE: "<=",
	substraitpb.Expression_Subquery_SetComparison_COMPARISON_OP_GE: ">=",
}

// subquery translates a subquery of the relation with block b as its input.
func (t *translator) subquery(path string, b *block, e *substraitpb.Expression_Subquery) (tree.Expr, error) {
	switch s := e.GetSubqueryType().(type) {
	case *substraitpb.Expression_Subquery_Scalar_:
		q, err := t.within(path+".scalar", b, s.Scalar.GetInput(), 1)
		return &tree.Scalar{Query: q}, err
	case *substraitpb.Expression_Subquery_InPredicate_:
		needles, err := t.expressions(path+".inPredicate.needles", b, s.InPredicate.GetNeedles())
		if err != nil {
			return nil, err
		}
		q, err := t.within(path+".inPredicate.haystack", b, s.InPredicate.GetHaystack(), len(needles))
		if err != nil {
			return nil, err
		}
		if len(needles) == 1 {
			return &tree.In{X: needles[0], Query: q}, nil
		}
		return &tree.In{X: &tree.Row{Items: needles}, Query: q}, nil
	case *substraitpb.Expression_Subquery_SetPredicate_:
		if s.SetPredicate.GetPredicateOp() != substraitpb.Expression_Subquery_SetPredicate_PREDICATE_OP_EXISTS {
			return nil, failed(path+".setPredicate", "operation %s is not supported", s.SetPredicate.GetPredicateOp())
		}
		q, err := t.within(path+".setPredicate.tuples", b, s.SetPredicate.GetTuples(), -1)
		return &tree.Exists{Query: q}, err
	case *substraitpb.Expression_Subquery_SetComparison_:
		c := s.SetComparison
		op, ok := comparisons[c.GetComparisonOp()]
		if !ok || c.GetReductionOp() == substraitpb.Expression_Subquery_SetComparison_REDUCTION_OP_UNSPECIFIED {
			return nil, failed(path+".setComparison", "comparison %s with %s is not supported", c.GetComparisonOp(), c.GetReductionOp())
		}
		x, err := t.expression(path+".setComparison.left", b, c.GetLeft())
		if err != nil {
			return nil, err
		}
		q, err := t.within(path+".setComparison.right", b, c.GetRight(), 1)
		return &tree.Quantified{X: x, Op: op, All: c.GetReductionOp() == substraitpb.Expression_Subquery_SetComparison_REDUCTION_OP_ALL, Query: q}, err
	}
	return nil, failed(path, "the subquery has no type")
}

// within translates the relation of a subquery with a number of columns, or with any if it is negative.
func (t *translator) within(path string, b *block, r *substraitpb.Rel, columns int) (*tree.Query, error) {
	t.outer = append(t.outer, b)
	defer func() { t.outer = t.outer[:len(t.outer)-1] }()
	inner, err := t.relation(path, r)
	if err != nil {
		return nil, err
	}
	if columns >= 0 && len(inner.fields) != columns {
		return nil, failed(path, "the subquery has %d columns, expected %d", len(inner.fields), columns)
	}
	return inner.query(), nil
}
