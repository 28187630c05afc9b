package substrait

import (
	"fmt"
	"math"
	"strings"

	"github.com/substrait-io/substrait-protobuf/go/substraitpb"
	"github.com/substrait-io/substrait-protobuf/go/substraitpb/extensions"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// translator translates one plan.
type translator struct {
	// functions are the names of functions by their anchors, in lower case and without types.
	functions map[uint32]string
	bound     map[uint32]*substraitpb.Expression_Literal
	// relations are those of the plan, which references name by their places.
	relations []*substraitpb.Rel
	aliases   int
	// replacing is set if a projection without a choice of columns has its expressions alone.
	replacing bool
	// outer are the inputs of the relations around a subquery, the innermost one last.
	outer []*block
	// levels is the depth of the relation or expression, parts the number of all until now.
	levels, parts int
	// text is about the length of the repeated expressions of the statement, weights those of expressions.
	text    int
	weights map[tree.Expr]int
	// tables are the whole names of tables by their last parts.
	tables map[string]string
}

// enter counts a part of the plan. Its caller calls leave.
func (t *translator) enter(path string) error {
	t.levels++
	t.parts++
	if t.levels > maxLevels {
		return failed(path, "the plan has more than %d levels", maxLevels)
	}
	if t.parts > maxParts {
		return failed(path, "the plan has more than %d parts", maxParts)
	}
	return nil
}

func (t *translator) leave() { t.levels-- }

// relation translates a relation and chooses the columns that it emits.
func (t *translator) relation(path string, r *substraitpb.Rel) (*block, error) {
	if err := t.enter(path); err != nil {
		return nil, err
	}
	defer t.leave()
	var b *block
	var err error
	var common interface {
		GetCommon() *substraitpb.RelCommon
		GetAdvancedExtension() *extensions.AdvancedExtension
	}
	switch r := r.GetRelType().(type) {
	case *substraitpb.Rel_Read:
		common = r.Read
		b, err = t.read(path+".read", r.Read)
	case *substraitpb.Rel_Filter:
		common = r.Filter
		b, err = t.filter(path+".filter", r.Filter)
	case *substraitpb.Rel_Project:
		common = r.Project
		b, err = t.project(path+".project", r.Project)
	case *substraitpb.Rel_Fetch:
		common = r.Fetch
		b, err = t.fetch(path+".fetch", r.Fetch)
	case *substraitpb.Rel_Sort:
		common = r.Sort
		b, err = t.sort(path+".sort", r.Sort)
	case *substraitpb.Rel_Aggregate:
		common = r.Aggregate
		b, err = t.aggregate(path+".aggregate", r.Aggregate)
	case *substraitpb.Rel_Set:
		common = r.Set
		b, err = t.set(path+".set", r.Set)
	case *substraitpb.Rel_Join:
		common = r.Join
		b, err = t.join(path+".join", r.Join)
	case *substraitpb.Rel_NestedLoopJoin:
		common = r.NestedLoopJoin
		b, err = t.join(path+".nestedLoopJoin", r.NestedLoopJoin)
	case *substraitpb.Rel_HashJoin:
		common = r.HashJoin
		b, err = t.keyJoin(path+".hashJoin", r.HashJoin)
	case *substraitpb.Rel_MergeJoin:
		common = r.MergeJoin
		b, err = t.keyJoin(path+".mergeJoin", r.MergeJoin)
	case *substraitpb.Rel_Cross:
		common = r.Cross
		b, err = t.cross(path+".cross", r.Cross)
	case *substraitpb.Rel_Window:
		common = r.Window
		b, err = t.windows(path+".window", r.Window)
	case *substraitpb.Rel_Exchange: // where rows are does not matter
		common = r.Exchange
		b, err = t.relation(path+".exchange", r.Exchange.GetInput())
	case *substraitpb.Rel_Reference:
		n := int(r.Reference.GetSubtreeOrdinal())
		if n < 0 || n >= len(t.relations) || t.relations[n] == nil {
			return nil, failed(path+".reference", "the plan has no relation %d", n)
		}
		return t.relation(path+".reference", t.relations[n])
	case nil:
		return nil, failed(path, "a relation is missing")
	default:
		return nil, failed(path, "relation %s is not supported", strings.TrimPrefix(fmt.Sprintf("%T", r), "*substraitpb.Rel_"))
	}
	if err != nil {
		return nil, err
	}
	if common.GetAdvancedExtension().GetEnhancement() != nil || common.GetCommon().GetAdvancedExtension().GetEnhancement() != nil {
		return nil, failed(path, "the relation has an enhancement: these alter what it means, and none is known")
	}
	return t.emitted(path, b, common.GetCommon())
}

// emitted chooses the columns that a relation emits.
func (t *translator) emitted(path string, b *block, common *substraitpb.RelCommon) (*block, error) {
	emit := common.GetEmit()
	if emit == nil {
		return b, nil
	}
	fields := make([]tree.Expr, len(emit.GetOutputMapping()))
	for i, place := range emit.GetOutputMapping() {
		f, err := b.field(path, place)
		if err != nil {
			return nil, err
		}
		if err := t.use(path, f); err != nil {
			return nil, err
		}
		fields[i] = f
	}
	b.fields = fields
	return b, nil
}

// field returns a field by its place.
func (b *block) field(path string, place int32) (tree.Expr, error) {
	if place < 0 || int(place) >= len(b.fields) {
		return nil, failed(path, "field %d of a relation with %d fields", place, len(b.fields))
	}
	return b.fields[place], nil
}

func (t *translator) filter(path string, r *substraitpb.FilterRel) (*block, error) {
	b, err := t.relation(path, r.GetInput())
	if err != nil {
		return nil, err
	}
	return t.filtered(path+".condition", b, r.GetCondition())
}

// filtered keeps the rows of a block with a condition.
func (t *translator) filtered(path string, b *block, condition *substraitpb.Expression) (*block, error) {
	if b.windowed || b.limited() || b.grouped && hasSubquery(condition) {
		b = t.wrap(b)
	}
	e, err := t.expression(path, b, condition)
	if err != nil {
		return nil, err
	}
	b.filter(e)
	return b, nil
}

// replacing are the producers, in lower case, that write projections without a choice of columns for their expressions
// alone. In the specification these have the columns of the input too.
var replacing = map[string]bool{"duckdb": true, "datafusion": true}

// maxExpression is the size of an expression above which its operands become columns of a table, because each use
// of a field repeats its expression.
const maxExpression = 200

func (t *translator) project(path string, r *substraitpb.ProjectRel) (*block, error) {
	b, err := t.relation(path, r.GetInput())
	if err != nil {
		return nil, err
	}
	parts := partsOf(r.GetExpressions())
	if b.windowed && !b.columnsOnly() && parts.windows || b.limited() && parts.windows || (b.grouped || b.windowed) && parts.subqueries {
		b = t.wrap(b)
	}
	list, err := t.expressions(path+".expressions", b, r.GetExpressions())
	if err != nil {
		return nil, err
	}
	if !b.columnsOnly() && tooLarge(list) {
		b = t.wrap(b)
		if list, err = t.expressions(path+".expressions", b, r.GetExpressions()); err != nil {
			return nil, err
		}
	}
	if t.replacing && r.GetCommon() == nil {
		b.fields = nil
	}
	b.fields = append(b.fields[:len(b.fields):len(b.fields)], list...)
	b.windowed = b.windowed || parts.windows
	return b, nil
}

// tooLarge reports whether an expression has more parts than maxExpression.
func tooLarge(list []tree.Expr) bool {
	for _, e := range list {
		parts := 0
		tree.Walk(e, func(tree.Node, int) bool {
			parts++
			return parts <= maxExpression
		})
		if parts > maxExpression {
			return true
		}
	}
	return false
}

func (t *translator) sort(path string, r *substraitpb.SortRel) (*block, error) {
	b, err := t.relation(path, r.GetInput())
	if err != nil {
		return nil, err
	}
	if b.limited() {
		b = t.wrap(b)
	}
	b.order, err = t.orderBy(path+".sorts", b, r.GetSorts())
	return b, err
}

// orderBy translates keys of an order. Literals do not order, and would be places in SQL.
func (t *translator) orderBy(path string, b *block, list []*substraitpb.SortField) (*tree.OrderBy, error) {
	o := &tree.OrderBy{}
	for i, s := range list {
		at := element(path, i)
		e, err := t.expression(at, b, s.GetExpr())
		if err != nil {
			return nil, err
		}
		if s.GetSortKind() != nil && s.GetComparisonFunctionReference() != 0 {
			return nil, failed(at, "orders of a comparison function are not supported: use a direction")
		}
		if _, ok := e.(*tree.Literal); ok {
			continue
		}
		key := tree.OrderKey{Expr: e, Nulls: tree.NullsLast}
		switch s.GetDirection() {
		case substraitpb.SortField_SORT_DIRECTION_ASC_NULLS_FIRST:
			key.Nulls = tree.NullsFirst
		case substraitpb.SortField_SORT_DIRECTION_DESC_NULLS_FIRST:
			key.Descending, key.Nulls = true, tree.NullsFirst
		case substraitpb.SortField_SORT_DIRECTION_DESC_NULLS_LAST:
			key.Descending = true
		}
		o.Keys = append(o.Keys, key)
	}
	if len(o.Keys) == 0 {
		return nil, nil
	}
	return o, nil
}

func (t *translator) fetch(path string, r *substraitpb.FetchRel) (*block, error) {
	b, err := t.relation(path, r.GetInput())
	if err != nil {
		return nil, err
	}
	if b.limited() {
		b = t.wrap(b)
	}
	offset, err := t.rows(path+".offset", r.GetOffset(), r.GetOffsetExpr(), 0)
	if err != nil {
		return nil, err
	}
	count := int64(-1)
	if r.GetCountMode() != nil {
		if count, err = t.rows(path+".count", r.GetCount(), r.GetCountExpr(), -1); err != nil {
			return nil, err
		}
	}
	if count >= 0 {
		b.limit = integer(count)
	}
	if offset < 0 {
		return nil, failed(path+".offset", "it is %d, expected 0 or more", offset)
	}
	if offset > 0 {
		b.offset = integer(offset)
	}
	return b, nil
}

// rows returns a number of rows: a constant, or a literal of integers. A null is its default.
func (t *translator) rows(path string, constant int64, e *substraitpb.Expression, ofNull int64) (int64, error) {
	if e == nil {
		return constant, nil
	}
	switch l := e.GetLiteral().GetLiteralType().(type) {
	case *substraitpb.Expression_Literal_I8:
		return int64(l.I8), nil
	case *substraitpb.Expression_Literal_I16:
		return int64(l.I16), nil
	case *substraitpb.Expression_Literal_I32:
		return int64(l.I32), nil
	case *substraitpb.Expression_Literal_I64:
		return l.I64, nil
	case *substraitpb.Expression_Literal_Null:
		return ofNull, nil
	}
	return 0, failed(path, "a number of rows must be a literal from 0 to %d", int64(math.MaxInt64))
}
