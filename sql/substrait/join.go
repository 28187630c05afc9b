package substrait

import (
	"strings"

	"github.com/substrait-io/substrait-protobuf/go/substraitpb"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// sides are the inputs of a join.
type sides interface {
	GetLeft() *substraitpb.Rel
	GetRight() *substraitpb.Rel
}

// inputs translates the inputs of a join.
func (t *translator) inputs(path string, s sides) (left, right *block, err error) {
	if left, err = t.relation(path+".left", s.GetLeft()); err != nil {
		return nil, nil, err
	}
	right, err = t.relation(path+".right", s.GetRight())
	return left, right, err
}

func (t *translator) cross(path string, r *substraitpb.CrossRel) (*block, error) {
	left, right, err := t.inputs(path, r)
	if err != nil {
		return nil, err
	}
	return t.joined(path, left, right, "INNER", func(*block) ([]tree.Expr, error) { return nil, nil })
}

// join translates a join by a condition.
func (t *translator) join(path string, r interface {
	sides
	GetExpression() *substraitpb.Expression
}) (*block, error) {
	left, right, err := t.inputs(path, r)
	if err != nil {
		return nil, err
	}
	var kind string
	var after *substraitpb.Expression
	switch r := r.(type) {
	case *substraitpb.JoinRel:
		kind, after = joinKind(r.GetType()), r.GetPostJoinFilter()
	case *substraitpb.NestedLoopJoinRel:
		kind = joinKind(r.GetType())
	}
	b, err := t.joined(path, left, right, kind, func(both *block) ([]tree.Expr, error) {
		if r.GetExpression() == nil {
			return nil, nil
		}
		e, err := t.expression(path+".expression", both, r.GetExpression())
		return []tree.Expr{e}, err
	})
	if err != nil || after == nil {
		return b, err
	}
	return t.filtered(path+".postJoinFilter", b, after)
}

// keyJoin translates a join by keys.
func (t *translator) keyJoin(path string, r interface {
	sides
	GetLeftKeys() []*substraitpb.Expression_FieldReference
	GetRightKeys() []*substraitpb.Expression_FieldReference
	GetKeys() []*substraitpb.ComparisonJoinKey
	GetPostJoinFilter() *substraitpb.Expression
}) (*block, error) {
	left, right, err := t.inputs(path, r)
	if err != nil {
		return nil, err
	}
	var kind string
	switch r := r.(type) {
	case *substraitpb.HashJoinRel:
		kind = joinKind(r.GetType())
	case *substraitpb.MergeJoinRel:
		kind = joinKind(r.GetType())
	}
	keys := r.GetKeys()
	if len(keys) == 0 { // the form before comparisons
		if len(r.GetLeftKeys()) != len(r.GetRightKeys()) {
			return nil, failed(path, "%d keys on the left, %d on the right", len(r.GetLeftKeys()), len(r.GetRightKeys()))
		}
		for i, l := range r.GetLeftKeys() {
			keys = append(keys, &substraitpb.ComparisonJoinKey{Left: l, Right: r.GetRightKeys()[i]})
		}
	}
	leftFields := &block{fields: left.fields}
	b, err := t.joined(path, left, right, kind, func(both *block) (list []tree.Expr, err error) {
		leftFields.fields = both.fields[:len(leftFields.fields)]
		rightFields := &block{fields: both.fields[len(leftFields.fields):]}
		for i, key := range keys {
			at := element(path+".keys", i)
			x, err := t.reference(at, leftFields, key.GetLeft())
			if err != nil {
				return nil, err
			}
			y, err := t.reference(at, rightFields, key.GetRight())
			if err != nil {
				return nil, err
			}
			switch key.GetComparison().GetSimple() {
			case substraitpb.ComparisonJoinKey_SIMPLE_COMPARISON_TYPE_UNSPECIFIED, substraitpb.ComparisonJoinKey_SIMPLE_COMPARISON_TYPE_EQ:
				list = append(list, binary("=", x, y))
			case substraitpb.ComparisonJoinKey_SIMPLE_COMPARISON_TYPE_IS_NOT_DISTINCT_FROM:
				list = append(list, &tree.Is{X: x, Not: true, State: tree.IsDistinct, From: y})
			default:
				return nil, failed(at, "comparison %s is not supported", key.GetComparison().GetSimple())
			}
		}
		return list, nil
	})
	if err != nil || r.GetPostJoinFilter() == nil {
		return b, err
	}
	return t.filtered(path+".postJoinFilter", b, r.GetPostJoinFilter())
}

// joinKind returns the kind of a join without the name of its type.
func joinKind(kind interface{ String() string }) string {
	return strings.TrimPrefix(kind.String(), "JOIN_TYPE_")
}

// kinds are the joins of SQL for those that keep columns of both sides, or of the left one.
var kinds = map[string]tree.JoinKind{
	"INNER": tree.InnerJoin, "OUTER": tree.FullJoin, "LEFT": tree.LeftJoin, "RIGHT": tree.RightJoin,
	"LEFT_SEMI": tree.SemiJoin, "LEFT_ANTI": tree.AntiJoin,
}

// joined joins two blocks. on returns the conditions on the fields of both.
func (t *translator) joined(path string, left, right *block, kind string, on func(both *block) ([]tree.Expr, error)) (*block, error) {
	if other, ok := strings.CutPrefix(kind, "RIGHT_"); ok { // the sides change places, the fields of the condition do not
		n := len(right.fields)
		swapped := func(fields []tree.Expr) []tree.Expr { return append(fields[n:len(fields):len(fields)], fields[:n]...) }
		b, err := t.joined(path, right, left, "LEFT_"+other, func(both *block) ([]tree.Expr, error) {
			return on(&block{fields: swapped(both.fields)})
		})
		if err == nil && other == "SINGLE" {
			b.fields = swapped(b.fields)
		}
		return b, err
	}
	k, ok := kinds[kind]
	if !ok && kind != "LEFT_SINGLE" && kind != "LEFT_MARK" {
		return nil, failed(path, "join %s is not supported", kind)
	}
	left = t.operand(left, kind == "OUTER" || kind == "RIGHT", kind == "OUTER" || kind == "RIGHT")
	right = t.operand(right, kind == "OUTER" || kind == "LEFT" || kind == "RIGHT", kind == "OUTER" || kind == "RIGHT")
	both := &block{fields: append(left.fields[:len(left.fields):len(left.fields)], right.fields...)}
	conditions, err := on(both)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "LEFT_MARK":
		return t.marked(path, left, right, conditions)
	case "LEFT_SINGLE":
		return t.single(path, left, right, conditions)
	}
	j := &tree.Join{Kind: k, Left: left.from, Right: right.from}
	b := &block{from: j, fields: both.fields, where: left.where}
	switch k {
	case tree.InnerJoin:
		b.where = append(b.where[:len(b.where):len(b.where)], right.where...)
	case tree.SemiJoin, tree.AntiJoin:
		b.fields = left.fields
		conditions = append(conditions, right.where...)
	case tree.LeftJoin:
		conditions = append(conditions, right.where...)
	}
	j.On = and(conditions)
	if j.On == nil {
		if k == tree.InnerJoin {
			j.Kind = tree.CrossJoin
		} else {
			j.On = &tree.Literal{Kind: tree.True}
		}
	}
	return b, nil
}

// operand returns the block as a side of a join. If the join adds rows of nulls to it, its fields are columns of one
// table. Its conditions become the join's, unless they have to hold before it.
func (t *translator) operand(b *block, nulls, before bool) *block {
	_, isJoin := b.from.(*tree.Join)
	if b.from == nil || !b.plain() || nulls && (!b.columnsOnly() || isJoin) || before && len(b.where) > 0 {
		return t.wrap(b)
	}
	return b
}

// marked adds a column to the left side: whether a row of the right side meets the condition.
func (t *translator) marked(path string, left, right *block, conditions []tree.Expr) (*block, error) {
	if len(conditions) != 1 {
		return nil, failed(path, "a mark join needs one condition")
	}
	// An equality is null, not false, if a null may be equal.
	if eq, ok := conditions[0].(*tree.Binary); ok && eq.Op == "=" {
		x, y := eq.X, eq.Y
		if within(x, right) && within(y, left) {
			x, y = y, x
		}
		if within(x, left) && within(y, right) {
			q := &block{from: right.from, where: right.where, fields: []tree.Expr{y}}
			left.fields = append(left.fields[:len(left.fields):len(left.fields)], &tree.In{X: x, Query: q.query()})
			return left, nil
		}
	}
	return nil, failed(path, "the condition of a mark join must be an equality between its sides")
}

// single joins the only row of the right side. More than one row for a row of the left is an error of the run.
func (t *translator) single(path string, left, right *block, conditions []tree.Expr) (*block, error) {
	fields := left.fields[:len(left.fields):len(left.fields)]
	for _, f := range right.fields {
		q := &block{from: right.from, where: append(right.where[:len(right.where):len(right.where)], conditions...), fields: []tree.Expr{f}}
		fields = append(fields, &tree.Scalar{Query: q.query()})
	}
	left.fields = fields
	return left, nil
}

// within reports whether an expression has columns of a block alone.
func within(e tree.Expr, b *block) bool {
	columns := map[string]bool{}
	for _, f := range b.fields {
		tree.Walk(f, func(n tree.Node, _ int) bool {
			if c, ok := n.(*tree.Column); ok {
				columns[c.Name[0].Text] = true
			}
			return true
		})
	}
	inside := true
	tree.Walk(e, func(n tree.Node, _ int) bool {
		if c, ok := n.(*tree.Column); ok && !columns[c.Name[0].Text] {
			inside = false
		}
		return inside
	})
	return inside
}
