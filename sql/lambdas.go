package sql

import (
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// variable is a parameter of a lambda: the element of a list, or its number.
type variable struct {
	name  string
	value value
}

// variableOf returns the value of a parameter of a lambda, or of its field.
func (t *translation) variableOf(s *scope, at *tree.Column) (v value, ok bool) {
	for _, each := range slices.Backward(s.variables) {
		if strings.EqualFold(each.name, at.Name[0].Text) {
			v = each.value
			for _, f := range at.Name[1:] {
				v = t.field(f, v, f.Text)
			}
			return v, true
		}
	}
	return v, false
}

// refuseInLambda fails for a form within a lambda.
func (t *translation) refuseInLambda(s *scope, at tree.Node, form string) {
	if len(s.variables) > 0 {
		t.fail(at, "%s within a lambda is not supported: compute it as a column of a derived table", form)
	}
}

// isEvaluation and isFilter are the functions of a lambda by their names.
var (
	isEvaluation = nameSet("list_transform", "array_transform", "list_apply", "array_apply", "apply")
	isFilter     = nameSet("list_filter", "array_filter", "filter")
)

// nameSet returns a set of names.
func nameSet(list ...string) map[string]bool {
	set := map[string]bool{}
	for _, name := range list {
		set[name] = true
	}
	return set
}

// lambdaCall translates a function of a list and a lambda.
func (t *translation) lambdaCall(s *scope, e *tree.Call, name string) value {
	if len(e.Args) != 2 {
		t.fail(e, "%s has %d arguments, expected a list and a lambda", name, len(e.Args))
	}
	lambda, ok := e.Args[1].Expr.(*tree.Lambda)
	if !ok {
		t.fail(e.Args[1].Expr, "the argument is no lambda, expected x -> …")
	}
	return t.onElements(s, e, t.expr(s, e.Args[0].Expr), lambda.Variables, lambda.Body, isFilter[name])
}

// comprehension translates [value for x in list if condition].
func (t *translation) comprehension(s *scope, e *tree.Comprehension) value {
	list := t.expr(s, e.Of)
	if e.If != nil {
		if len(e.Variables) > 1 {
			t.fail(e, "IF in a comprehension of two variables is not supported: use list_filter around it")
		}
		list = t.onElements(s, e, list, e.Variables, e.If, true)
	}
	return t.onElements(s, e, list, e.Variables, e.Value, false)
}

// onElements returns the list of the values of an expression on the elements of a list, or of the elements for which it
// is true. Its variables are the element and its number, from 1.
func (t *translation) onElements(s *scope, at tree.Node, list value, variables []tree.Name, body tree.Expr, filters bool) value {
	if len(variables) > 2 {
		t.fail(at, "the lambda has %d parameters, expected the element, and its number or not", len(variables))
	}
	return t.eachElement(at, list, filters, func(element, number value) value {
		before := s.variables
		defer func() { s.variables = before }()
		s.variables = append(slices.Clip(before), variable{variables[0].Text, element})
		if len(variables) == 2 {
			s.variables = append(s.variables, variable{variables[1].Text, number})
		}
		return t.expr(s, body)
	})
}

// eachElement returns the list of the values of a function of the elements of a list and their numbers, from 1, or of
// the elements for which it is true.
func (t *translation) eachElement(at tree.Node, list value, filters bool, f func(element, number value) value) value {
	if list.null {
		return value{null: true, uses: columnSet{}}
	}
	columns := gpuframe.ElementNames{Element: t.unique("element"), Index: t.unique("index")}
	element := value{expr: gpuframe.Col(columns.Element), dataType: t.elementType(at, list), uses: columnSet{}}
	if element.dataType.ID() == arrow.NULL {
		element = value{null: true, uses: columnSet{}}
	}
	v := t.settled(f(element, value{expr: gpuframe.Col(columns.Index).Add(1), dataType: int64Type, uses: columnSet{}}))
	if v.interval != nil {
		t.fail(at, "an interval cannot be an element of a list")
	}
	result := value{dataType: list.dataType, uses: columnSet{}}
	result.uses.add(list.uses)
	result.uses.add(v.uses)
	if filters {
		result.expr = list.expr.ListFilterWith(columns, t.condition(at, v).expr)
		return result
	}
	result.expr, result.dataType = list.expr.ListEvalWith(columns, v.expr), listType(list.dataType, v.dataType)
	return result
}

// elementType returns the type of the elements of a list.
func (t *translation) elementType(at tree.Node, list value) arrow.DataType {
	lists, ok := list.dataType.(arrow.ListLikeType)
	if !ok {
		t.fail(at, "the value is %s, expected a list", typeOf(list))
	}
	return lists.Elem()
}

// listType returns the type of lists with other elements.
func listType(list, element arrow.DataType) arrow.DataType {
	if list.ID() == arrow.LARGE_LIST {
		return arrow.LargeListOf(element)
	}
	return arrow.ListOf(element)
}

// ofElements returns a list with elements of a type.
func (t *translation) ofElements(at tree.Node, list value, element arrow.DataType) value {
	if arrow.TypeEqual(t.elementType(at, list), element) {
		return list
	}
	return t.eachElement(at, list, false, func(e, _ value) value { return t.convert(at, e, element) })
}
