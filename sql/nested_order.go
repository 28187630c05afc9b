package sql

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// compareNested compares lists or structs: element by element, or field by field. Within them null equals null and is
// above all others.
func (t *translation) compareNested(at tree.Node, op string, a, b value) value {
	result := t.binary(at, op, t.order(at, a, b), constant(int64(0)))
	unknown := t.logic(at, true, []value{t.isNull(at, a), t.isNull(at, b)})
	return t.cases(at, []value{unknown}, []value{t.nullOf(boolType), result})
}

// order is -1, 0 or 1: whether a value is below, equal to or above another one of its type. Nulls are the greatest.
func (t *translation) order(at tree.Node, a, b value) value {
	if a.null && b.null {
		return constant(int64(0))
	}
	var conditions, results []value
	add := func(condition, result value) {
		conditions, results = append(conditions, condition), append(results, result)
	}
	isNull := []value{t.isNull(at, a), t.isNull(at, b)}
	add(t.logic(at, false, []value{isNull[0], isNull[1]}), constant(int64(0)))
	add(isNull[0], constant(int64(1)))
	add(isNull[1], constant(int64(-1)))
	last := constant(int64(0))
	switch {
	case a.null || b.null:
	case isList(a.dataType):
		last = t.orderOfLists(at, a, b)
	case isStruct(a.dataType):
		for _, f := range a.dataType.(*arrow.StructType).Fields() {
			each := t.order(at, t.field(at, a, f.Name), t.field(at, b, f.Name))
			add(t.binary(at, "<>", each, constant(int64(0))), each)
		}
	default:
		add(t.binary(at, "<", a, b), constant(int64(-1)))
		add(t.binary(at, ">", a, b), constant(int64(1)))
	}
	return t.cases(at, conditions, append(results, last))
}

// orderOfLists is the order of two lists that are not null: that of the first elements that differ, or of the lengths.
func (t *translation) orderOfLists(at tree.Node, a, b value) value {
	lengths := [2]value{t.length(at, a), t.length(at, b)}
	orders := t.eachPair(at, a, b, func(x, y, number value) value {
		beyond := []value{t.binary(at, ">", number, lengths[0]), t.binary(at, ">", number, lengths[1])}
		return t.cases(at, beyond, []value{constant(int64(-1)), constant(int64(1)), t.order(at, x, y)})
	})
	unequal := t.eachElement(at, orders, true, func(e, _ value) value { return t.binary(at, "<>", e, constant(int64(0))) })
	first := t.listCall(at, func(e gpuframe.Expr) gpuframe.Expr { return e.ListGet(0) }, unequal)
	return t.coalesced(at, first, constant(int64(0)))
}
