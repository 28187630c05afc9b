package querydata

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/internal/expr/catalog"
)

// deepest is the limit of expressions within expressions.
const deepest = 1000

// function is a function of a number of arguments, from least to most, and of members of its object.
type function struct {
	least, most int
	call        func(o *object, arguments []gpuframe.Expr) gpuframe.Expr
}

// unlimited is the limit of functions that take any number of arguments.
const unlimited = 1 << 30

func operands(list []gpuframe.Expr) []any {
	values := make([]any, len(list))
	for i, e := range list {
		values[i] = e
	}
	return values
}

func expressions(list []gpuframe.Expr) []gpuframe.Expression {
	values := make([]gpuframe.Expression, len(list))
	for i, e := range list {
		values[i] = e
	}
	return values
}

var functions map[string]function

// unknownName is the message about a name that no function or no verb has.
func unknownName[T any](kind string, name value, known map[string]T) string {
	candidates, text := slices.Sorted(maps.Keys(known)), fmt.Sprint(name.data)
	return names.Meant(kind, text, catalog.Meaning(text, candidates), candidates)
}

func init() { // a function's expressions refer to functions
	functions = catalogued()
	functions["literal"] = function{0, 0, func(o *object, _ []gpuframe.Expr) gpuframe.Expr { return o.literal() }}
	functions["call"] = function{1, unlimited, (*object).call}
}

// call is the result of a function of the program.
func (o *object) call(arguments []gpuframe.Expr) gpuframe.Expr {
	v := o.member("number")
	n := v.integer()
	if n < 0 || n >= int64(len(v.reading.functions)) {
		v.expected("the number of a function that is given")
		return gpuframe.Expr{}
	}
	return v.reading.functions[n].Of(operands(arguments)...)
}

// window reads the rows of a window.
func (o *object) window() gpuframe.Window {
	w := gpuframe.By(expressions(o.member("by").expressionList()))
	if order := o.member("order"); !order.missing() {
		w = w.OrderBy(order.orderings()...)
	}
	if rows := o.member("rows"); !rows.missing() {
		bounds := rows.list()
		if len(bounds) != 2 {
			rows.expected("a list of the first and the last row")
			return w
		}
		w = w.Rows(bounds[0].bound(gpuframe.FirstRow), bounds[1].bound(gpuframe.LastRow))
	}
	if values := o.member("range"); !values.missing() {
		bounds := values.list()
		if len(bounds) != 2 {
			values.expected("a list of the lowest and the highest difference of keys")
			return w
		}
		w = w.Range(bounds[0].difference(), bounds[1].difference())
	}
	if least := o.member("at_least"); !least.missing() {
		w = w.AtLeast(least.integer())
	}
	return w
}

// bound returns a bound of a frame, or the given one for null.
func (v value) bound(unlimited int64) int64 {
	if v.missing() {
		return unlimited
	}
	return v.integer()
}

// difference returns a bound of a range, nil for null: a literal, or an object with a calendar.
func (v value) difference() any {
	if v.missing() {
		return nil
	}
	if members, ok := v.data.(map[string]any); !ok || members["calendar"] == nil {
		return v.scalar()
	}
	o := v.object()
	defer o.end()
	return calendar(o.member("calendar"))
}

// expressionList returns a list of expressions.
func (v value) expressionList() []gpuframe.Expr {
	var list []gpuframe.Expr
	for _, e := range v.list() {
		list = append(list, e.expression())
	}
	return list
}

// expression returns an expression.
func (v value) expression() gpuframe.Expr {
	o := v.object()
	name := o.member("function")
	f, ok := functions[name.text()]
	if v.reading.stopped(v.place) {
		return gpuframe.Expr{}
	}
	if !ok {
		v.reading.fail(name.place, "%s", unknownName("function", name, functions))
		return gpuframe.Expr{}
	}
	if v.reading.depth++; v.reading.depth > deepest {
		v.reading.fail(v.place, "is expression number %d within others, at most %d are possible: compute a part of it with another step", v.reading.depth, deepest)
	}
	defer func() { v.reading.depth-- }()
	arguments := o.member("arguments").expressionList()
	if len(arguments) < f.least || len(arguments) > f.most {
		v.reading.fail(o.place, "%q has %d arguments, expected %s", name.data, len(arguments), f.expected())
	}
	if v.reading.err != nil {
		return gpuframe.Expr{}
	}
	e := f.call(o, arguments)
	o.end()
	return e
}

func (f function) expected() string {
	switch f.most {
	case f.least:
		return fmt.Sprint(f.least)
	case unlimited:
		return fmt.Sprintf("%d or more", f.least)
	}
	return fmt.Sprintf("%d to %d", f.least, f.most)
}
