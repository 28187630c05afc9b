package sql

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// listedArgument returns the list of list_contains, if it is written as [a, b, …].
func listedArgument(e *tree.Call, name string) (list *tree.List, ok bool) {
	if name != "list_contains" && name != "array_contains" && name != "list_has" && name != "array_has" || len(e.Args) != 2 {
		return nil, false
	}
	list, ok = e.Args[0].Expr.(*tree.List)
	return list, ok
}

// isListed reports whether a value is one of a written list. It is null for null, which equals no element.
func (t *translation) isListed(s *scope, e, element tree.Expr, list *tree.List) value {
	x, items := t.expr(s, element), t.exprs(s, list.Items)
	if x.null {
		return t.nullOf(boolType)
	}
	result := t.coalesced(e, t.inList(e, x, append(items, value{null: true, uses: columnSet{}})), constant(false))
	return t.cases(e, []value{t.isNull(e, x)}, []value{t.nullOf(boolType), result})
}

// listLiteral translates [a, b, …]. Literals are a column of one row that the rows are joined with.
func (t *translation) listLiteral(s *scope, e *tree.List) value {
	items := t.exprs(s, e.Items)
	if slices.ContainsFunc(items, func(v value) bool { return !v.isConstant() }) {
		return t.listOf(e, items)
	}
	if s.rows.query == (gpuframe.Query{}) { // in ON, which has no rows yet
		return t.listOf(e, items)
	}
	return t.literalList(s, e, items)
}

func (t *translation) literalList(s *scope, at tree.Node, items []value) value {
	element := arrow.DataType(arrow.Null)
	if !areNull(items) {
		items = t.unified(at, items...)
		element = items[0].dataType
		for _, v := range items[1:] {
			element = t.commonType(at, element, v.dataType)
		}
	}
	builder := array.NewListBuilder(memory.DefaultAllocator, concreteType(element))
	defer builder.Release()
	builder.Append(true)
	for _, v := range items {
		if !t.appendLiteral(at, builder.ValueBuilder(), v) {
			t.fail(at, "lists of %s are not supported as literals", typeName(element))
		}
	}
	c := &column{id: t.unique("list"), dataType: arrow.ListOf(element)}
	literal := t.recordOf(c.id, builder.Type(), builder)
	s.rows.query = s.rows.query.Join(literal, gpuframe.Cross)
	return c.value()
}

// subscript translates x[index]: an element of a list, a character of a text, or a field of a struct.
func (t *translation) subscript(at tree.Node, v, index value) value {
	switch {
	case v.dataType == nil:
		return v
	case v.dataType.ID() == arrow.STRUCT:
		return t.field(at, v, t.fieldName(at, v, index))
	case isText(v.dataType) && v.null:
		return v
	case isText(v.dataType):
		n := t.whole(at, index, "the number of a character")
		return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr {
			if n == 0 {
				return list[0].Substring(1, 0)
			}
			return list[0].Substring(n, 1)
		}, v)
	}
	element := t.elementType(at, v)
	switch {
	case element.ID() == arrow.NULL:
		return value{null: true, uses: columnSet{}}
	case index.null || v.null:
		return t.nullOf(element)
	case !index.isConstant():
		return t.elementAt(at, v, index)
	}
	n := t.whole(at, index, "the number of an element")
	if n == 0 {
		return t.nullOf(element)
	}
	if n > 0 {
		n-- // SQL counts from 1
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].ListGet(n) }, v)
}

// fieldName is the name of the field of a struct that a literal names or counts, from 1.
func (t *translation) fieldName(at tree.Node, v, index value) string {
	if n, ok := index.constant.(int64); ok {
		record := v.dataType.(*arrow.StructType)
		if n < 1 || n > int64(record.NumFields()) {
			t.fail(at, "the struct has no field %d, it has %d fields", n, record.NumFields())
		}
		return record.Field(int(n) - 1).Name
	}
	return t.literalText(at, index, "the name of a field")
}

// elementAt is the element of a list with a number that is no literal.
func (t *translation) elementAt(at tree.Node, list, number value) value {
	conditions := []value{t.binary(at, ">", number, constant(int64(0))), t.binary(at, "<", number, constant(int64(0)))}
	position := t.cases(at, conditions, []value{t.binary(at, "-", number, constant(int64(1))), number, t.nullOf(int64Type)})
	taken := t.atPositions(list, t.listOf(at, []value{position}))
	return value{expr: taken.expr.ListGet(0), dataType: elementOf(list.dataType), uses: taken.uses}
}

// elementNumber is the number of an element: a negative one counts from the end.
func (t *translation) elementNumber(at tree.Node, list, n value) value {
	fromEnd := t.binary(at, "+", t.binary(at, "+", t.listCall(at, gpuframe.Expr.ListLength, list), n), constant(int64(1)))
	return t.cases(at, []value{t.binary(at, "<", n, constant(int64(0)))}, []value{fromEnd, n})
}

// appendLiteral appends a literal to a builder of its type. It reports whether it has such literals.
func (t *translation) appendLiteral(at tree.Node, builder array.Builder, v value) bool {
	if v.null {
		builder.AppendNull()
		return true
	}
	switch b := builder.(type) {
	case *array.Int64Builder:
		b.Append(v.constant.(int64))
	case *array.StringBuilder:
		b.Append(v.constant.(string))
	case *array.BooleanBuilder:
		b.Append(v.constant.(bool))
	case *array.Float64Builder:
		b.Append(t.float(at, v, "the element"))
	case *array.Date32Builder:
		b.Append(v.constant.(arrow.Date32))
	case *array.Decimal128Builder:
		number, _, isExact := exact(v)
		to := b.Type().(*arrow.Decimal128Type)
		if !isExact {
			return false
		}
		n, err := decimal128.FromString(number.FloatString(int(to.Scale)), to.Precision, to.Scale)
		b.Append(n)
		return err == nil
	case *array.TimestampBuilder:
		instant, ok := v.constant.(arrow.Timestamp)
		if !ok || !arrow.TypeEqual(b.Type(), timestampType) {
			return false
		}
		b.Append(instant)
	default:
		return false
	}
	return true
}
