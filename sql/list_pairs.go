package sql

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// pairFunctions are the functions of the elements of several lists, position by position, and those of positions.
func pairFunctions() map[string]function {
	return map[string]function{
		"list_zip array_zip":         {1, many, listZip},
		"list_reverse array_reverse": {1, 1, listReverse},
		"list_resize array_resize":   {2, 3, listResize},
		"list_select array_select":   {2, 2, listSelect},
		"list_where array_where":     {2, 2, listWhere},
		"list_intersect array_intersect": {2, 2, func(t *translation, at *tree.Call, list []value) value {
			if list[0].null {
				return list[0]
			}
			common := t.eachElement(at, list[0], true, func(e, _ value) value { return t.listContains(at, list[1], e) })
			return t.listCall(at, gpuframe.Expr.ListUnique, common)
		}},
		"flatten":         {1, 1, flatten},
		"array_pop_front": {1, 1, func(t *translation, at *tree.Call, list []value) value { return t.part(at, list[0], 1) }},
		"array_pop_back": {1, 1, func(t *translation, at *tree.Call, list []value) value {
			return t.sliced(at, list[0], constant(int64(1)), constant(int64(-2)))
		}},
		"list_inner_product list_dot_product array_inner_product array_dot_product": {2, 2, func(t *translation, at *tree.Call, list []value) value {
			return t.ofVectors(at, list, gpuframe.Expr.Dot)
		}},
		"list_negative_inner_product list_negative_dot_product array_negative_inner_product array_negative_dot_product": {2, 2, func(t *translation, at *tree.Call, list []value) value {
			return t.negated(at, t.ofVectors(at, list, gpuframe.Expr.Dot))
		}},
		"list_distance array_distance": {2, 2, func(t *translation, at *tree.Call, list []value) value {
			return t.ofVectors(at, list, gpuframe.Expr.L2Distance)
		}},
		"list_cosine_similarity array_cosine_similarity": {2, 2, func(t *translation, at *tree.Call, list []value) value {
			return t.ofVectors(at, list, gpuframe.Expr.CosineSimilarity)
		}},
		"list_cosine_distance array_cosine_distance": {2, 2, func(t *translation, at *tree.Call, list []value) value {
			return t.binary(at, "-", constant(float64(1)), t.ofVectors(at, list, gpuframe.Expr.CosineSimilarity))
		}},
	}
}

// zipFields are the names of the fields of zipped lists.
var zipFields = [...]string{"1", "2"}

// zipped is the list of the pairs of the elements of two lists, which is null if the first one is.
func (t *translation) zipped(a, b value) value {
	pair := arrow.StructOf(
		arrow.Field{Name: zipFields[0], Type: elementOf(a.dataType), Nullable: true},
		arrow.Field{Name: zipFields[1], Type: elementOf(b.dataType), Nullable: true})
	result := value{expr: gpuframe.ListZip(a.expr.As(zipFields[0]), b.expr.As(zipFields[1])), dataType: arrow.ListOf(pair), uses: columnSet{}}
	result.uses.add(a.uses)
	result.uses.add(b.uses)
	return result
}

// eachPair is the list of the values of a function of the elements of two lists at each position.
func (t *translation) eachPair(at tree.Node, a, b value, f func(x, y, number value) value) value {
	return t.eachElement(at, t.zipped(a, b), false, func(pair, number value) value {
		return f(t.field(at, pair, zipFields[0]), t.field(at, pair, zipFields[1]), number)
	})
}

// atPositions is the elements of a list at positions, from 0.
func (t *translation) atPositions(list, positions value) value {
	result := value{expr: list.expr.ListTake(positions.expr), dataType: arrow.ListOf(elementOf(list.dataType)), uses: columnSet{}}
	result.uses.add(list.uses)
	result.uses.add(positions.uses)
	return result
}

// numbers is the list of the numbers from 0 to n, n excluded.
func (t *translation) numbers(at tree.Node, n value) value {
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr { return e[0].Sequence() }, n)
}

// length is the number of elements of a list.
func (t *translation) length(at tree.Node, list value) value {
	return t.listCall(at, gpuframe.Expr.ListLength, list)
}

// listReverse is a list from its last element to its first.
func listReverse(t *translation, at *tree.Call, list []value) value {
	if list[0].null {
		return list[0]
	}
	return t.atPositions(list[0], t.eachElement(at, list[0], false, func(_, number value) value { return t.negated(at, number) }))
}

// part is a list without its first elements.
func (t *translation) part(at tree.Node, list value, from int) value {
	if list.null {
		return list
	}
	return t.listCall(at, func(e gpuframe.Expr) gpuframe.Expr { return e.ListSlice(from, 1<<31-1) }, list)
}

// listResize is a list with a number of elements. Further ones are null, or a value of the type of the elements.
func listResize(t *translation, at *tree.Call, list []value) value {
	if list[0].null {
		return list[0]
	}
	if size, ok := list[1].constant.(int64); ok && size < 0 {
		t.fail(at.Args[1].Expr, "the size is %d, expected 0 or more", size)
	}
	n := t.coalesced(at, list[1], constant(int64(0)))
	resized := t.atPositions(list[0], t.numbers(at, t.convert(at, n, int64Type)))
	if len(list) > 2 && !list[2].null {
		length, fill := t.length(at, list[0]), list[2]
		if element := t.elementType(at, list[0]); element.ID() != arrow.NULL {
			fill = t.convert(at.Args[2].Expr, fill, element)
		}
		resized = t.eachElement(at, resized, false, func(e, number value) value {
			return t.cases(at, []value{t.binary(at, ">", number, length)}, []value{fill, e})
		})
	}
	return t.nullWhere(at, resized, t.isNull(at, list[0]))
}

// listSelect is the elements of a list with the numbers of another one, from 1.
func listSelect(t *translation, at *tree.Call, list []value) value {
	if list[0].null || list[1].null {
		return value{null: true, uses: columnSet{}}
	}
	if element := t.elementType(at, list[1]); !isInteger(element) && element.ID() != arrow.NULL {
		t.fail(at.Args[1].Expr, "the positions are %s, expected integers", typeName(element))
	}
	positions := t.eachElement(at, list[1], false, func(number, _ value) value {
		exists := t.binary(at, ">", number, constant(int64(0)))
		return t.cases(at, []value{exists}, []value{t.binary(at, "-", number, constant(int64(1))), t.nullOf(int64Type)})
	})
	return t.nullWhere(at, t.atPositions(list[0], positions), t.isNull(at, list[0]))
}

// listWhere is the elements of a list at the places where another one is true.
func listWhere(t *translation, at *tree.Call, list []value) value {
	if list[0].null || list[1].null {
		return value{null: true, uses: columnSet{}}
	}
	kept := t.eachElement(at, t.zipped(list[0], list[1]), true, func(pair, _ value) value { return t.field(at, pair, zipFields[1]) })
	elements := t.eachElement(at, kept, false, func(pair, _ value) value { return t.field(at, pair, zipFields[0]) })
	return t.nullWhere(at, elements, t.isNull(at, list[1]))
}

// listZip is the list of the elements of lists as structs, which are as many as those of the longest list, or of the
// shortest one if the last argument is true. Null lists are empty.
func listZip(t *translation, at *tree.Call, list []value) value {
	shortest, isBool := list[len(list)-1].constant.(bool)
	if isBool {
		list = list[:len(list)-1]
	}
	if len(list) == 0 {
		t.fail(at, "list_zip has no lists")
	}
	lists, names, fields := make([]gpuframe.Expression, len(list)), make([]string, len(list)), make([]arrow.Field, len(list))
	result, lengths := value{uses: columnSet{}}, make([]value, len(list))
	for i, v := range list {
		if v.null && v.dataType == nil {
			v = t.nullOf(arrow.ListOf(arrow.Null))
		}
		element := t.elementType(at, v)
		v = t.coalesced(at, v, t.emptyList(element))
		names[i] = string(rune('1' + i%9))
		if i >= 9 {
			t.fail(at, "list_zip of more than 9 lists is not supported")
		}
		lists[i], lengths[i], fields[i] = v.expr.As(names[i]), t.length(at, v), arrow.Field{Name: names[i], Type: element, Nullable: true}
		result.uses.add(v.uses)
	}
	result.expr, result.dataType = gpuframe.ListZip(lists...), arrow.ListOf(arrow.StructOf(fields...))
	if !shortest {
		return result
	}
	least := functions["least"].call(t, at, lengths)
	return t.eachElement(at, result, true, func(_, number value) value { return t.binary(at, "<=", number, least) })
}

// flatten is the elements of the lists in a list.
func flatten(t *translation, at *tree.Call, list []value) value {
	if list[0].null {
		return value{null: true, uses: columnSet{}}
	}
	element := t.elementType(at, list[0])
	if element.ID() == arrow.NULL { // lists without a type
		return t.eachElement(at, list[0], true, func(value, value) value { return constant(false) })
	}
	if !isList(element) {
		t.fail(at, "the argument of flatten is %s, expected a list of lists", typeName(list[0].dataType))
	}
	flat := t.listCall(at, gpuframe.Expr.ListFlatten, list[0])
	flat.dataType = arrow.ListOf(elementOf(element))
	return flat
}

// ofVectors is a function of the numbers of two lists. It is null if a number or a list is, or if one list is longer.
func (t *translation) ofVectors(at tree.Node, lists []value, f func(e gpuframe.Expr, y any) gpuframe.Expr) value {
	operands := make([]value, len(lists))
	for i, list := range lists {
		t.checkNumbers(at, list)
		if list.null {
			return t.nullOf(floatType)
		}
		operands[i] = list
		if element := t.elementType(at, list); element.ID() != arrow.FLOAT32 && !isInteger(element) {
			operands[i] = t.ofElements(at, list, floatType)
		}
	}
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr { return f(e[0], e[1]) }, operands...)
}
