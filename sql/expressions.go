package sql

import (
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// expr translates an expression.
func (t *translation) expr(s *scope, e tree.Expr) value {
	t.step(e)
	switch e := e.(type) {
	case *tree.Column:
		if v, ok := t.variableOf(s, e); ok {
			return v
		}
	case *tree.Call:
		if calls := fractionLists(e); calls != nil {
			return t.quantileList(s, e, calls)
		}
	case *tree.Exists, *tree.Scalar, *tree.Quantified:
		t.refuseInLambda(s, e, "a subquery")
	}
	if s.group != nil {
		if v, ok := t.grouped(s, e); ok {
			return v
		}
	}
	switch e := e.(type) {
	case *tree.Column:
		return t.columnValue(s, e)
	case *tree.Literal:
		return t.literal(e)
	case *tree.TypedText:
		return t.typedText(e)
	case *tree.Interval:
		return t.intervalValue(s, e)
	case *tree.Parameter:
		return t.parameter(e)
	case *tree.Unary:
		return t.unary(s, e)
	case *tree.Binary:
		if rows, ok := rowsOf(e.X, e.Y); ok {
			return t.compareRows(s, e, rows[0], rows[1])
		}
		return t.binary(e, e.Op, t.expr(s, e.X), t.expr(s, e.Y))
	case *tree.Logic:
		return t.logic(e, e.Or, t.exprs(s, e.Terms))
	case *tree.Is:
		return t.isState(s, e)
	case *tree.Between:
		return t.between(s, e)
	case *tree.In:
		return t.in(s, e)
	case *tree.Like:
		return t.like(s, e)
	case *tree.Case:
		return t.choice(s, e)
	case *tree.Cast:
		return t.castValue(e, t.expr(s, e.X))
	case *tree.Call:
		return t.call(s, e)
	case *tree.Exists:
		return t.existsValue(s, e)
	case *tree.Scalar:
		return t.scalarValue(s, e)
	case *tree.Quantified:
		return t.quantified(s, e)
	case *tree.Struct:
		return t.structValue(s, e)
	case *tree.FieldOf:
		return t.fieldOf(s, e)
	case *tree.List:
		return t.listLiteral(s, e)
	case *tree.Comprehension:
		return t.comprehension(s, e)
	case *tree.Subscript:
		return t.subscript(e, t.expr(s, e.X), t.expr(s, e.Index))
	case *tree.Slice:
		return t.slice(s, e)
	case *tree.AtTimeZone:
		return t.atTimeZone(e, t.expr(s, e.X), t.literalText(e.Zone, t.expr(s, e.Zone), "the time zone"))
	}
	t.unsupported(e)
	return value{}
}

// unsupported fails for an expression of a kind that is not supported.
func (t *translation) unsupported(e tree.Expr) {
	switch e := e.(type) {
	case *tree.Star:
		t.fail(e, "* is possible as an item of SELECT and in count(*) only")
	case *tree.Columns:
		t.fail(e, "COLUMNS is possible as an item of SELECT and as an argument of its function only, it is not supported here: list the columns")
	case *tree.Map:
		t.fail(e, "map literals are not supported")
	case *tree.Row:
		t.fail(e, "rows of values are not supported here: compare each value, joined by AND")
	case *tree.Lambda:
		t.fail(e, "a lambda is possible as an argument of list_transform, list_filter and list_reduce only, it is not supported here")
	case *tree.Collate:
		t.fail(e, "COLLATE is not supported: texts are compared by bytes; use lower(…)")
	case *tree.Default:
		t.fail(e, "DEFAULT is no value here")
	default:
		t.fail(e, "this form of expression is not supported")
	}
}

func (t *translation) exprs(s *scope, list []tree.Expr) []value {
	values := make([]value, len(list))
	for i, e := range list {
		values[i] = t.expr(s, e)
	}
	return values
}

// unary translates an operator before an expression.
func (t *translation) unary(s *scope, e *tree.Unary) value {
	v := t.expr(s, e.X)
	switch strings.ToLower(e.Op) {
	case "not":
		return t.not(e, v)
	case "+":
		return v
	case "-":
		return t.negated(e, v)
	}
	t.fail(e, "operator %s is not supported", e.Op)
	return v
}

// not is the negation of a condition.
func (t *translation) not(at tree.Node, v value) value {
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].Not() }, t.condition(at, v))
}

// condition returns a value that is a bool.
func (t *translation) condition(at tree.Node, v value) value {
	if v.null {
		return t.nullOf(boolType)
	}
	if !isBool(v.dataType) {
		t.fail(at, "the condition is %s, expected BOOLEAN: compare it with a value", typeName(v.dataType))
	}
	return v
}

func (t *translation) negated(at tree.Node, v value) value {
	switch x := v.constant.(type) {
	case int64:
		return constant(-x)
	case float64:
		return constant(-x)
	case decimalText:
		if digits, isNegative := strings.CutPrefix(string(x), "-"); isNegative {
			return t.decimalLiteral(at, digits)
		}
		if x == "9223372036854775808" {
			return constant(int64(-1 << 63))
		}
		return t.decimalLiteral(at, "-"+string(x))
	}
	if v.interval != nil {
		v.interval = t.negative(at, v.interval)
		return v
	}
	if v.null {
		return v
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].Neg() }, t.widened(at, v))
}

// widened returns an integer as int64, so that arithmetic of narrower ones does not overflow, and uint64 as a
// decimal.
func (t *translation) widened(at tree.Node, v value) value {
	if isInteger(v.dataType) && !v.isConstant() && v.dataType.ID() == arrow.UINT64 {
		return t.cast(at, v, &arrow.Decimal128Type{Precision: 20})
	}
	if isInteger(v.dataType) && !v.isConstant() && v.dataType.ID() != arrow.INT64 {
		bits := bitsOf(v)
		v = t.cast(at, v, int64Type)
		v.bits = bits
		return v
	}
	if _, ok := v.constant.(int64); ok {
		v.expr = gpuframe.LitOf(int64Type, v.constant)
	}
	return v
}

// logic translates a chain of AND or OR as a tree of little depth.
func (t *translation) logic(at tree.Node, or bool, terms []value) value {
	for i := range terms {
		terms[i] = t.condition(at, terms[i])
	}
	return t.junction(or, terms)
}

func (t *translation) junction(or bool, terms []value) value {
	if len(terms) == 1 {
		return terms[0]
	}
	a, b := t.junction(or, terms[:len(terms)/2]), t.junction(or, terms[len(terms)/2:])
	joined := value{dataType: boolType, uses: columnSet{}}
	joined.uses.add(a.uses)
	joined.uses.add(b.uses)
	if or {
		joined.expr = a.expr.Or(b.expr)
	} else {
		joined.expr = a.expr.And(b.expr)
	}
	return joined
}

// isState translates IS.
func (t *translation) isState(s *scope, e *tree.Is) value {
	if e.State == tree.IsDistinct {
		result := t.distinct(e, t.expr(s, e.X), t.expr(s, e.From))
		if e.Not {
			return t.not(e, result)
		}
		return result
	}
	v := t.settled(t.expr(s, e.X))
	var result value
	switch e.State {
	case tree.IsTrue, tree.IsFalse:
		expected := e.State == tree.IsTrue
		result = t.typed(e, func(list []gpuframe.Expr) gpuframe.Expr {
			if !expected {
				return list[0].Not().FillNull(false)
			}
			return list[0].FillNull(false)
		}, t.condition(e.X, v))
	case tree.IsUnknown:
		v = t.condition(e.X, v)
		fallthrough
	default:
		result = t.isNull(e, v)
	}
	if e.Not {
		return t.not(e, result)
	}
	return result
}

func (t *translation) isNull(at tree.Node, v value) value {
	if v.null {
		return constant(true)
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].IsNull() }, v)
}

// distinct is IS DISTINCT FROM: null is a value like others.
func (t *translation) distinct(at tree.Node, a, b value) value {
	both := t.unified(at, a, b)
	a, b = both[0], both[1]
	switch {
	case a.null && b.null:
		return constant(false)
	case a.null:
		return t.not(at, t.isNull(at, b))
	case b.null:
		return t.not(at, t.isNull(at, a))
	case isNested(a.dataType) || isNested(b.dataType):
		both = t.alike(at, both)
		return t.binary(at, "<>", t.order(at, both[0], both[1]), constant(int64(0)))
	}
	if a.isConstant() {
		a, b = b, a
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr {
		if b.isConstant() {
			return list[0].Ne(list[1]).FillNull(true)
		}
		return list[0].Ne(list[1]).FillNull(list[0].IsNull().Xor(list[1].IsNull()))
	}, a, b)
}

// between translates [NOT] BETWEEN.
func (t *translation) between(s *scope, e *tree.Between) value {
	x, low, high := t.expr(s, e.X), t.expr(s, e.Low), t.expr(s, e.High)
	result := t.logic(e, false, []value{t.binary(e, ">=", x, low), t.binary(e, "<=", x, high)})
	if e.Symmetric {
		other := t.logic(e, false, []value{t.binary(e, ">=", x, high), t.binary(e, "<=", x, low)})
		result = t.logic(e, true, []value{result, other})
	}
	if e.Not {
		return t.not(e, result)
	}
	return result
}

// in translates [NOT] IN.
func (t *translation) in(s *scope, e *tree.In) value {
	var result value
	row, isRow := e.X.(*tree.Row)
	switch {
	case isRow && e.Of == nil:
		result = t.rowIn(s, e, row)
	case e.Query != nil:
		t.refuseInLambda(s, e, "a subquery")
		result = t.inQuery(s, e, e.X, e.Query)
	case e.Of != nil:
		list, ok := e.Of.(*tree.List)
		if ok {
			result = t.isListed(s, e, e.X, list)
		} else {
			result = t.listContains(e, t.expr(s, e.Of), t.expr(s, e.X))
		}
	default:
		result = t.inList(e, t.expr(s, e.X), t.exprs(s, e.List))
	}
	if e.Not {
		return t.not(e, result)
	}
	return result
}

// inList reports whether a value is one of a list.
func (t *translation) inList(at tree.Node, x value, list []value) value {
	all := t.unified(at, append([]value{x}, list...)...)
	x, list = all[0], all[1:]
	if x.null {
		return t.nullOf(boolType)
	}
	var literals []any
	var terms []value
	for _, v := range list {
		switch {
		case v.null && x.isConstant():
			terms = append(terms, t.nullOf(boolType))
		case v.null:
			literals = append(literals, nil)
		case v.isConstant() && !isBool(v.dataType) && !x.isConstant():
			literals = append(literals, v.expr)
		default:
			terms = append(terms, t.binary(at, "=", x, v))
		}
	}
	if len(literals) > 0 {
		terms = append(terms, t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].In(literals...) }, x))
	}
	return t.logic(at, true, terms)
}

// choice translates CASE.
func (t *translation) choice(s *scope, e *tree.Case) value {
	var conditions, results []value
	var x value
	if e.X != nil {
		x = t.expr(s, e.X)
	}
	for _, branch := range e.Branches {
		when := t.expr(s, branch.When)
		if e.X != nil {
			when = t.binary(branch.When, "=", x, when)
		}
		conditions = append(conditions, t.condition(branch.When, when))
		results = append(results, t.expr(s, branch.Then))
	}
	if e.Else != nil {
		results = append(results, t.expr(s, e.Else))
	} else {
		results = append(results, value{null: true, uses: columnSet{}})
	}
	return t.cases(e, conditions, results)
}

// cases returns the result of the first condition that is true, or the last result.
func (t *translation) cases(at tree.Node, conditions, results []value) value {
	if areNull(results) {
		return results[0]
	}
	results = t.alike(at, results)
	if isNested(results[0].dataType) {
		return t.nestedChoice(at, conditions, results)
	}
	n := len(conditions)
	chosen := t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr {
		chosen := gpuframe.Case()
		for i := range n {
			chosen = chosen.When(list[i], list[n+i])
		}
		return chosen.Else(list[2*n])
	}, append(conditions, results...)...)
	if isInteger(chosen.dataType) {
		for _, v := range results {
			if !v.null {
				chosen.bits = max(chosen.bits, bitsOf(v))
			}
		}
	}
	return chosen
}

// areNull reports whether all values are null without a type.
func areNull(values []value) bool {
	return !slices.ContainsFunc(values, func(v value) bool { return !v.null || v.dataType != nil })
}

// alike returns values with their common type.
func (t *translation) alike(at tree.Node, values []value) []value {
	values = t.unified(at, values...)
	common := values[0].dataType
	for _, v := range values[1:] {
		common = t.commonType(at, common, v.dataType)
	}
	for i, v := range values {
		if !arrow.TypeEqual(v.dataType, common) {
			values[i] = t.convert(at, v, common)
		}
		if n, ok := values[i].constant.(int64); ok {
			values[i].expr = gpuframe.LitOf(int64Type, n)
		}
	}
	return values
}

// structValue translates {'name': value, …}. Its type is that of its values: the text of the expression has no names.
func (t *translation) structValue(s *scope, e *tree.Struct) value {
	result := value{uses: columnSet{}}
	var types []arrow.Field
	var fields []gpuframe.Expression
	for _, f := range e.Fields {
		v := t.expr(s, f.Value)
		if v.interval != nil {
			t.fail(f.Value, "an interval cannot be a field of a struct")
		}
		if v.null && v.dataType == nil {
			v = t.nullOf(arrow.Null)
		}
		result.uses.add(v.uses)
		types = append(types, arrow.Field{Name: f.Name.Text, Type: v.dataType, Nullable: true})
		fields = append(fields, v.expr.As(f.Name.Text))
	}
	result.expr, result.dataType = gpuframe.Struct(fields...), arrow.StructOf(types...)
	return result
}

// fieldOf translates x.name. A struct that is written is not made for one of its fields.
func (t *translation) fieldOf(s *scope, e *tree.FieldOf) value {
	if written, ok := e.X.(*tree.Struct); ok {
		for _, f := range written.Fields {
			if strings.EqualFold(f.Name.Text, e.Name.Text) {
				return t.expr(s, f.Value)
			}
		}
	}
	return t.field(e, t.expr(s, e.X), e.Name.Text)
}
