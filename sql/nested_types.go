package sql

import (
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// The elements of [] and of [null] have no type until another list has one: within a translation their type is
// arrow.Null. The engine has them as integers.

// concreteType is a type as the engine has it: elements without a type are integers.
func concreteType(dataType arrow.DataType) arrow.DataType {
	switch x := dataType.(type) {
	case *arrow.NullType:
		return arrow.PrimitiveTypes.Int32
	case *arrow.StructType:
		fields := x.Fields()
		for i, f := range fields {
			fields[i].Type = concreteType(f.Type)
		}
		return arrow.StructOf(fields...)
	case arrow.ListLikeType:
		if element := concreteType(x.Elem()); !arrow.TypeEqual(element, x.Elem()) {
			return listType(dataType, element)
		}
	}
	return dataType
}

// isStruct reports whether a type is that of structs.
func isStruct(dataType arrow.DataType) bool { return dataType != nil && dataType.ID() == arrow.STRUCT }

// isNested reports whether a type is that of lists or structs.
func isNested(dataType arrow.DataType) bool { return isList(dataType) || isStruct(dataType) }

// commonType returns the type of a choice between two values. Lists have the common type of their elements, structs
// the fields of both.
func (t *translation) commonType(at tree.Node, a, b arrow.DataType) arrow.DataType {
	switch {
	case arrow.TypeEqual(a, b), b.ID() == arrow.NULL:
		return a
	case a.ID() == arrow.NULL:
		return b
	case isList(a) && isList(b):
		return listType(a, t.commonType(at, elementOf(a), elementOf(b)))
	case isStruct(a) && isStruct(b):
		return t.commonStruct(at, a.(*arrow.StructType), b.(*arrow.StructType))
	case isNested(a) || isNested(b):
		t.fail(at, "%s and %s have no common type: cast one of them", typeName(a), typeName(b))
	case isInteger(a) && isInteger(b) && (a.ID() == arrow.UINT64) != (b.ID() == arrow.UINT64):
		return wideType
	}
	chosen := t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr {
		return gpuframe.If(list[0].IsNull(), list[1], list[0])
	}, placeholder(a), placeholder(b))
	return chosen.dataType
}

// elementOf returns the type of the elements of lists of a type.
func elementOf(dataType arrow.DataType) arrow.DataType { return dataType.(arrow.ListLikeType).Elem() }

// commonStruct returns the type of structs with the fields of both, which are matched by their names.
func (t *translation) commonStruct(at tree.Node, a, b *arrow.StructType) arrow.DataType {
	var fields []arrow.Field
	for _, f := range a.Fields() {
		if other, ok := fieldNamed(b, f.Name); ok {
			f.Type = t.commonType(at, f.Type, other.Type)
		}
		fields = append(fields, arrow.Field{Name: f.Name, Type: f.Type, Nullable: true})
	}
	for _, f := range b.Fields() {
		if _, ok := fieldNamed(a, f.Name); !ok {
			fields = append(fields, arrow.Field{Name: f.Name, Type: f.Type, Nullable: true})
		}
	}
	return arrow.StructOf(fields...)
}

// fieldNamed returns the field of a name, without regard to case.
func fieldNamed(record *arrow.StructType, name string) (field arrow.Field, ok bool) {
	for _, f := range record.Fields() {
		if strings.EqualFold(f.Name, name) {
			return f, true
		}
	}
	return field, false
}

// convertStruct converts the fields of a struct. Those that it lacks are null, as is the result for null.
func (t *translation) convertStruct(at tree.Node, v value, to *arrow.StructType) value {
	converted := value{dataType: to, uses: columnSet{}}
	converted.uses.add(v.uses)
	fields := make([]gpuframe.Expression, to.NumFields())
	for i, f := range to.Fields() {
		each := t.nullOf(f.Type)
		if own, ok := fieldNamed(v.dataType.(*arrow.StructType), f.Name); ok {
			each = t.convert(at, t.field(at, v, own.Name), f.Type)
		}
		fields[i] = each.expr.As(f.Name)
	}
	converted.expr = gpuframe.Struct(fields...)
	return t.nestedChoice(at, []value{t.isNull(at, v)}, []value{t.nullOf(to), converted})
}

// nestedChoice returns the list or struct of the first condition that is true, or the last one: the element of a list
// that has only this one. The values are of one type.
func (t *translation) nestedChoice(at tree.Node, conditions, results []value) value {
	n := len(conditions)
	uses := columnSet{}
	chosen := t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr {
		number := gpuframe.Case()
		for i := range n {
			number = number.When(list[i], gpuframe.LitOf(int64Type, int64(i)))
		}
		return number.Else(gpuframe.LitOf(int64Type, int64(n)))
	}, conditions...)
	uses.add(chosen.uses)
	var parts []any
	for i, v := range results {
		if v.null {
			continue
		}
		uses.add(v.uses)
		count := gpuframe.If(chosen.expr.Eq(int64(i)), gpuframe.LitOf(int64Type, int64(1)), gpuframe.LitOf(int64Type, int64(0)))
		parts = append(parts, t.repeated(v, count))
	}
	if len(parts) == 0 {
		return results[0]
	}
	return value{expr: gpuframe.ConcatList(parts...).ListGet(0), dataType: results[0].dataType, uses: uses}
}

// repeated is the list that has a value a number of times.
func (t *translation) repeated(v value, count gpuframe.Expr) gpuframe.Expr {
	columns := gpuframe.ElementNames{Element: t.unique("element"), Index: t.unique("index")}
	return count.Sequence().ListEvalWith(columns, v.expr)
}

// firstNested is the first list or struct that is not null.
func (t *translation) firstNested(at tree.Node, list []value) value {
	conditions := make([]value, len(list)-1)
	for i := range conditions {
		conditions[i] = t.not(at, t.isNull(at, list[i]))
	}
	return t.nestedChoice(at, conditions, list)
}
