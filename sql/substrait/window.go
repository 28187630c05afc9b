package substrait

import (
	"github.com/substrait-io/substrait-protobuf/go/substraitpb"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// windowFunctions are the functions of windows that are no aggregates.
var windowFunctions = map[string]string{
	"row_number": "row_number", "rank": "rank", "dense_rank": "dense_rank", "percent_rank": "percent_rank", "cume_dist": "cume_dist", "ntile": "ntile",
	"first_value": "first_value", "last_value": "last_value", "nth_value": "nth_value", "lead": "lead", "lag": "lag",
}

// framed are the functions that look at a frame, not at the partition.
var framed = map[string]bool{"first_value": true, "last_value": true, "nth_value": true}

// windowCall is a window function, of an expression or of a relation.
type windowCall interface {
	called
	GetLowerBound() *substraitpb.Expression_WindowFunction_Bound
	GetUpperBound() *substraitpb.Expression_WindowFunction_Bound
	GetBoundsType() substraitpb.Expression_WindowFunction_BoundsType
	GetPhase() substraitpb.AggregationPhase
	GetInvocation() substraitpb.AggregateFunction_AggregationInvocation
}

// windowFunction translates a window function of an expression.
func (t *translator) windowFunction(path string, b *block, e *substraitpb.Expression_WindowFunction) (tree.Expr, error) {
	return t.over(path, b, e, e.GetPartitions(), e.GetSorts())
}

// windows adds window functions with the same partitions to a relation.
func (t *translator) windows(path string, r *substraitpb.ConsistentPartitionWindowRel) (*block, error) {
	b, err := t.relation(path, r.GetInput())
	if err != nil {
		return nil, err
	}
	if b.windowed || b.limited() {
		b = t.wrap(b)
	}
	fields := b.fields[:len(b.fields):len(b.fields)]
	for i, f := range r.GetWindowFunctions() {
		e, err := t.over(element(path+".windowFunctions", i), b, f, r.GetPartitionExpressions(), r.GetSorts())
		if err != nil {
			return nil, err
		}
		fields = append(fields, e)
	}
	b.fields, b.windowed = fields, true
	return b, nil
}

// over translates a window function with its window.
func (t *translator) over(path string, b *block, f windowCall, partitions []*substraitpb.Expression, sorts []*substraitpb.SortField) (tree.Expr, error) {
	c, err := t.invocation(path, b, f)
	if err != nil {
		return nil, err
	}
	if err := whole(c.path, f.GetPhase()); err != nil {
		return nil, err
	}
	name, ok := windowFunctions[c.name]
	isAggregate := !ok
	if isAggregate {
		if name, err = aggregateName(c, "window function"); err != nil {
			return nil, err
		}
	}
	e := aggregated(c, name, f.GetInvocation())
	e.Over = &tree.Window{}
	if e.Over.Partition, err = t.expressions(path+".partitions", b, partitions); err != nil {
		return nil, err
	}
	if e.Over.OrderBy, err = t.orderBy(path+".sorts", b, sorts); err != nil {
		return nil, err
	}
	if isAggregate || framed[name] {
		if e.Over.Frame, err = frame(path, f); err != nil {
			return nil, err
		}
	}
	return finished(c, e)
}

// frame translates the bounds of a window. Without a unit they are whole partitions or counts of rows.
func frame(path string, f windowCall) (*tree.Frame, error) {
	w := &tree.Frame{Unit: tree.Rows}
	if f.GetBoundsType() == substraitpb.Expression_WindowFunction_BOUNDS_TYPE_RANGE {
		w.Unit = tree.Range
	}
	var err error
	if w.Start, err = bound(path+".lowerBound", f.GetLowerBound(), tree.UnboundedPreceding); err != nil {
		return nil, err
	}
	w.End, err = bound(path+".upperBound", f.GetUpperBound(), tree.UnboundedFollowing)
	return w, err
}

// bound translates an end of a frame. One that is missing is unbounded.
func bound(path string, b *substraitpb.Expression_WindowFunction_Bound, unbounded tree.BoundKind) (tree.Bound, error) {
	offset := func(kind tree.BoundKind, n int64) (tree.Bound, error) {
		if n < 0 {
			return tree.Bound{}, failed(path, "offset %d is negative", n)
		}
		return tree.Bound{Kind: kind, Offset: integer(n)}, nil
	}
	switch k := b.GetKind().(type) {
	case *substraitpb.Expression_WindowFunction_Bound_Preceding_:
		return offset(tree.Preceding, k.Preceding.GetOffset())
	case *substraitpb.Expression_WindowFunction_Bound_Following_:
		return offset(tree.Following, k.Following.GetOffset())
	case *substraitpb.Expression_WindowFunction_Bound_CurrentRow_:
		return tree.Bound{Kind: tree.CurrentRow}, nil
	}
	return tree.Bound{Kind: unbounded}, nil
}
