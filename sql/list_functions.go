package sql

import (
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// listFunctions returns the functions of lists by their names.
func listFunctions() map[string]function {
	table := map[string]function{}
	add := func(names string, f function) {
		for name := range strings.FieldsSeq(names) {
			table[name] = f
		}
	}
	for names, f := range map[string]function{
		"list_value list_pack": {1, many, func(t *translation, at *tree.Call, list []value) value { return t.listOf(at, list) }},
		"list_contains array_contains list_has array_has": {2, 2, func(t *translation, at *tree.Call, list []value) value {
			return t.listContains(at, list[0], list[1])
		}},
		"list_position list_indexof array_position array_indexof": {2, 2, listPosition},
		"list_has_any array_has_any":                              {2, 2, listHasAny},
		"list_has_all array_has_all":                              {2, 2, listHasAll},
		"list_concat list_cat array_concat array_cat":             {1, many, listConcat},
		"list_append array_append array_push_back": {2, 2, func(t *translation, at *tree.Call, list []value) value {
			return t.extended(at, list[0], list[1], false)
		}},
		"list_prepend array_prepend": {2, 2, func(t *translation, at *tree.Call, list []value) value {
			return t.extended(at, list[1], list[0], true)
		}},
		"array_push_front": {2, 2, func(t *translation, at *tree.Call, list []value) value {
			return t.extended(at, list[0], list[1], true)
		}},
		"list_distinct array_distinct": {1, 1, func(t *translation, at *tree.Call, list []value) value {
			return t.listCall(at, gpuframe.Expr.ListUnique, t.withoutNulls(at, list[0]))
		}},
		"list_unique array_unique": {1, 1, func(t *translation, at *tree.Call, list []value) value {
			unique := func(e gpuframe.Expr) gpuframe.Expr { return e.ListUnique().ListLength() }
			return t.listCall(at, unique, t.withoutNulls(at, list[0]))
		}},
		"list_any_value array_any_value": {1, 1, func(t *translation, at *tree.Call, list []value) value {
			return t.subscript(at, t.withoutNulls(at, list[0]), constant(int64(1)))
		}},
		"list_first array_first": {1, 1, func(t *translation, at *tree.Call, list []value) value {
			return t.subscript(at, list[0], constant(int64(1)))
		}},
		"list_last array_last": {1, 1, func(t *translation, at *tree.Call, list []value) value {
			return t.subscript(at, list[0], constant(int64(-1)))
		}},
		"list_extract list_element array_extract": {2, 2, func(t *translation, at *tree.Call, list []value) value {
			return t.subscript(at, list[0], list[1])
		}},
		"list_slice array_slice": {3, 3, func(t *translation, at *tree.Call, list []value) value {
			return t.sliced(at, list[0], list[1], list[2])
		}},
		"list_sort array_sort": {1, 3, listSort},
		"list_reverse_sort array_reverse_sort": {1, 2, func(t *translation, at *tree.Call, list []value) value {
			return listSort(t, at, append([]value{list[0], constant("desc")}, list[1:]...))
		}},
		"list_sum array_sum": ofNumbers(gpuframe.Expr.ListSum),
		"list_min array_min": listExtreme(gpuframe.Expr.ListMin, gpuframe.Expr.ListSort),
		"list_max array_max": listExtreme(gpuframe.Expr.ListMax, gpuframe.Expr.ListSortDescending),
		"list_avg array_avg": {1, 1, func(t *translation, at *tree.Call, list []value) value {
			if isDecimal(t.elementType(at, list[0])) {
				list[0] = t.ofElements(at, list[0], floatType)
			}
			return t.listCall(at, gpuframe.Expr.ListMean, list[0])
		}},
		"list_count array_count":          ofList(gpuframe.Expr.ListCount),
		"list_bool_and array_bool_and":    ofList(gpuframe.Expr.ListAll),
		"list_bool_or array_bool_or":      ofList(gpuframe.Expr.ListAny),
		"array_length":                    {1, 1, length},
		"list_aggregate list_aggr":        {2, 3, listAggregate},
		"array_aggregate array_aggr":      {2, 3, listAggregate},
		"array_to_string list_string_agg": {1, 2, listJoin},
		"range":                           {1, 3, series(false)},
		"generate_series":                 {1, 3, series(true)},
	} {
		add(names, f)
	}
	for names, f := range pairFunctions() {
		add(names, f)
	}
	for names, f := range listStatistics() {
		add(names, f)
	}
	return table
}

// ofList is a function of a list.
func ofList(f func(e gpuframe.Expr) gpuframe.Expr) function {
	return function{1, 1, func(t *translation, at *tree.Call, list []value) value { return t.listCall(at, f, list[0]) }}
}

// ofNumbers is a fold of a list of numbers or times.
func ofNumbers(f func(e gpuframe.Expr) gpuframe.Expr) function {
	return function{1, 1, func(t *translation, at *tree.Call, list []value) value {
		if element := t.elementType(at, list[0]); isDecimal(element) || isText(element) {
			t.fail(at, "%s of a list of %s is not supported: use unnest in a subquery", text(at.Name), typeName(element))
		}
		return t.listCall(at, f, list[0])
	}}
}

// listExtreme is the least or the greatest element of a list. Those of texts and decimals are the first of the list in order.
func listExtreme(fold, sorted func(e gpuframe.Expr) gpuframe.Expr) function {
	return function{1, 1, func(t *translation, at *tree.Call, list []value) value {
		if element := t.elementType(at, list[0]); isDecimal(element) || isText(element) {
			return t.listCall(at, func(e gpuframe.Expr) gpuframe.Expr { return sorted(e).ListGet(0) }, list[0])
		}
		return t.listCall(at, fold, list[0])
	}}
}

// listCall is a function of a list.
func (t *translation) listCall(at tree.Node, f func(e gpuframe.Expr) gpuframe.Expr, list value) value {
	t.elementType(at, list)
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr { return f(e[0]) }, list)
}

// withoutNulls is the elements that are not null.
func (t *translation) withoutNulls(at tree.Node, list value) value {
	return t.eachElement(at, list, true, func(e, _ value) value { return t.not(at, t.isNull(at, e)) })
}

// listOf is the list of some values.
func (t *translation) listOf(at tree.Node, items []value) value {
	if areNull(items) {
		return t.nullsList(len(items))
	}
	items = t.alike(at, items)
	for i, v := range items {
		items[i].expr = t.asElement(v)
	}
	return t.concatenatedLists(gpuframe.ConcatList, items, items[0].dataType)
}

// nullsList is a list of n nulls without a type.
func (t *translation) nullsList(n int) value {
	list := t.repeated(t.nullOf(arrow.Null), gpuframe.LitOf(int64Type, int64(n)))
	return value{expr: list, dataType: arrow.ListOf(arrow.Null), uses: columnSet{}}
}

// asElement returns a value as an argument of ConcatList that is one element.
func (t *translation) asElement(v value) gpuframe.Expr {
	switch {
	case isNested(v.dataType):
		return t.repeated(v, gpuframe.LitOf(int64Type, int64(1)))
	case v.isConstant() && !v.null && !isText(v.dataType): // with its type
		return v.expr.Cast(v.dataType)
	}
	return v.expr
}

// nullWhere is a list that is null where a condition is true.
func (t *translation) nullWhere(at tree.Node, list, condition value) value {
	element := t.elementType(at, list)
	empty := t.nullList(gpuframe.If(condition.expr, gpuframe.LitOf(int64Type, nil), gpuframe.LitOf(int64Type, int64(0))), element)
	result := value{expr: gpuframe.ConcatList(list.expr, empty), dataType: arrow.ListOf(element), uses: columnSet{}}
	result.uses.add(list.uses)
	result.uses.add(condition.uses)
	return result
}

// concatenatedLists is the list of the elements of values, which are of one type.
func (t *translation) concatenatedLists(f func(values ...any) gpuframe.Expr, items []value, element arrow.DataType) value {
	result := value{dataType: arrow.ListOf(element), uses: columnSet{}}
	exprs := make([]any, len(items))
	for i, v := range items {
		exprs[i] = v.expr
		result.uses.add(v.uses)
	}
	result.expr = f(exprs...)
	return result
}

// listConcat joins lists. Null ones count as empty, and only nulls without a type have a null result.
func listConcat(t *translation, at *tree.Call, list []value) value {
	var lists []value
	var element arrow.DataType
	for _, v := range list {
		switch {
		case v.dataType == nil:
			continue
		case element == nil:
			element = t.elementType(at, v)
		default:
			element = t.commonType(at, element, t.elementType(at, v))
		}
		if !v.null {
			lists = append(lists, v)
		}
	}
	if element == nil {
		return value{null: true, uses: columnSet{}}
	}
	for i, v := range lists {
		lists[i] = t.ofElements(at, v, element)
	}
	return t.concatenatedLists(gpuframe.ConcatListSkipNulls, append(lists, t.emptyList(element)), element)
}

// emptyList is a list without elements of a type.
func (t *translation) emptyList(element arrow.DataType) value {
	return value{expr: t.nullList(gpuframe.LitOf(int64Type, int64(0)), element), dataType: arrow.ListOf(element), uses: columnSet{}}
}

// nullList is a list of n nulls. It is null if n is.
func (t *translation) nullList(n gpuframe.Expr, element arrow.DataType) gpuframe.Expr {
	return t.repeated(t.nullOf(element), n)
}

// isList reports whether a type is that of lists.
func isList(dataType arrow.DataType) bool {
	_, ok := dataType.(arrow.ListLikeType)
	return ok
}

// concatenatedOperands is a || b of lists: null if one is.
func (t *translation) concatenatedOperands(at tree.Node, a, b value) value {
	switch {
	case a.null:
		return t.nullOf(b.dataType)
	case b.null:
		return t.nullOf(a.dataType)
	}
	element := t.commonType(at, t.elementType(at, a), t.elementType(at, b))
	return t.concatenatedLists(gpuframe.ConcatList, []value{t.ofElements(at, a, element), t.ofElements(at, b, element)}, element)
}

// extended is a list with an element behind or before the others. A null list counts as empty.
func (t *translation) extended(at tree.Node, list, item value, before bool) value {
	if list.null {
		return t.listOf(at, []value{item})
	}
	both := t.alike(at, []value{item, placeholder(t.elementType(at, list))})
	element := both[0].dataType
	item = both[0]
	item.expr = t.asElement(item)
	items := []value{t.ofElements(at, list, element), item}
	if before {
		items[0], items[1] = items[1], items[0]
	}
	return t.concatenatedLists(gpuframe.ConcatListSkipNulls, items, element)
}

// listContains reports whether a list has an element. It is null if the list or the element is: null equals no element.
func (t *translation) listContains(at tree.Node, list, item value) value {
	if list.null || item.null {
		return t.nullOf(boolType)
	}
	equal := t.eachElement(at, list, false, func(e, _ value) value { return t.binary(at, "=", e, item) })
	has := t.coalesced(at, t.listCall(at, gpuframe.Expr.ListAny, equal), constant(false))
	unknown := t.logic(at, true, []value{t.isNull(at, list), t.isNull(at, item)})
	return t.cases(at, []value{unknown}, []value{t.nullOf(boolType), has})
}

// listPosition is the number of the first element that is equal, or null.
func listPosition(t *translation, at *tree.Call, list []value) value {
	if list[0].null {
		return t.nullOf(int64Type)
	}
	numbers := t.eachElement(at, list[0], false, func(e, number value) value {
		return t.cases(at, []value{t.not(at, t.distinct(at, e, list[1]))}, []value{number, t.nullOf(int64Type)})
	})
	return t.listCall(at, gpuframe.Expr.ListMin, numbers)
}

// listHasAny reports whether two lists have a common element.
func listHasAny(t *translation, at *tree.Call, list []value) value {
	return t.coalesced(at, t.matches(at, list[0], list[1], gpuframe.Expr.ListAny), t.bothValid(at, list, constant(false)))
}

// listHasAll reports whether the first list has all elements of the second.
func listHasAll(t *translation, at *tree.Call, list []value) value {
	return t.coalesced(at, t.matches(at, list[1], list[0], gpuframe.Expr.ListAll), t.bothValid(at, list, constant(true)))
}

// matches is a fold of whether the elements of one list are in another one, without nulls.
func (t *translation) matches(at tree.Node, list, other value, fold func(e gpuframe.Expr) gpuframe.Expr) value {
	t.elementType(at, other)
	return t.listCall(at, fold, t.eachElement(at, t.withoutNulls(at, list), false, func(e, _ value) value { return t.listContains(at, other, e) }))
}

// bothValid is a value, or null if a list is.
func (t *translation) bothValid(at tree.Node, list []value, v value) value {
	unknown := t.logic(at, true, []value{t.isNull(at, list[0]), t.isNull(at, list[1])})
	return t.cases(at, []value{unknown}, []value{t.nullOf(boolType), v})
}

// listSort is a list in an order.
func listSort(t *translation, at *tree.Call, list []value) value {
	if len(list) > 1 && list[1].null || len(list) > 2 && list[2].null {
		return t.nullOf(list[0].dataType)
	}
	descending, nullsFirst := false, false
	if len(list) > 1 {
		descending = t.option(at, list[1], "the order", sortOrders)
	}
	if len(list) > 2 {
		nullsFirst = t.option(at, list[2], "the order of nulls", nullOrders)
	}
	sorted := func(e gpuframe.Expr) gpuframe.Expr {
		if descending {
			return e.ListSortDescending()
		}
		return e.ListSort()
	}
	if !nullsFirst {
		return t.listCall(at, sorted, list[0])
	}
	nulls := t.eachElement(at, list[0], true, func(e, _ value) value { return t.isNull(at, e) })
	return t.concatenatedLists(gpuframe.ConcatList, []value{nulls, t.listCall(at, sorted, t.withoutNulls(at, list[0]))}, t.elementType(at, list[0]))
}

// sortOrders and nullOrders are the arguments of list_sort: whether the greatest element is the first, and whether nulls are.
var (
	sortOrders = map[string]bool{"asc": false, "ascending": false, "desc": true, "descending": true, "default": false, "order_default": false}
	nullOrders = map[string]bool{"nulls first": true, "nulls_first": true, "nulls last": false, "nulls_last": false, "default": false, "order_default": false}
)

// option returns the meaning of a literal text that is one of some.
func (t *translation) option(at tree.Node, v value, role string, meanings map[string]bool) bool {
	name := t.literalText(at, v, role)
	meaning, ok := meanings[strings.ToLower(name)]
	if !ok {
		t.fail(at, "%s is %q, expected one of %q", role, name, slices.Sorted(maps.Keys(meanings)))
	}
	return meaning
}

// listAggregate is an aggregate of the elements of a list.
func listAggregate(t *translation, at *tree.Call, list []value) value {
	name := strings.ToLower(t.literalText(at, list[1], "the name of the aggregate"))
	f, known := functions["list_"+name]
	rest := append([]value{list[0]}, list[2:]...)
	if !known || len(rest) > f.most || len(rest) < f.least || !listAggregates[name] {
		t.fail(at, "aggregate %s of the elements of a list is not supported: use unnest in a subquery", name)
	}
	return f.call(t, at, rest)
}

// listAggregates are the aggregates that are functions of lists too.
var listAggregates = nameSet("sum", "min", "max", "avg", "count", "bool_and", "bool_or", "first", "last", "any_value", "string_agg",
	"var_pop", "var_samp", "variance", "stddev_pop", "stddev_samp", "stddev", "median", "approx_count_distinct")

// listJoin is the texts of a list with a separator between them. It is null without texts.
func listJoin(t *translation, at *tree.Call, list []value) value {
	separator := ","
	if len(list) > 1 {
		separator = t.literalText(at, list[1], "the separator")
	}
	texts := t.withoutNulls(at, t.ofElements(at, list[0], textType))
	return t.listCall(at, func(e gpuframe.Expr) gpuframe.Expr {
		return gpuframe.If(e.ListLength().Gt(0), e.ListJoin(separator), nil)
	}, texts)
}
