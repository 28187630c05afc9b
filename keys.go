package gpuframe

import (
	"fmt"
	"reflect"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Key is an argument of the verbs in which a text can only be a column: the name of a column as a
// string, or an [Expression]. Verbs of any number of keys also take slices of them, as []string and []Expression: each
// element is a key. Values of other types are an error when the query is bound.
//
//	flights.GroupBy("origin").Agg(delay.Mean())
type Key = any

// Ordering is an argument of the verbs that order rows: a [Key], in ascending order, or the result of
// [Expr.Asc] or [Expr.Desc], or a slice of them.
type Ordering = any

// sortable is an Ordering that is no name.
type sortable interface{ ordering() bind.Order }

func (e Expr) ordering() bind.Order { return bind.Order{Key: e.bound()} }

// flatten returns arguments with the elements of slices one by one.
func flatten(list []any) []any {
	flat := make([]any, 0, len(list))
	for _, argument := range list {
		v := reflect.ValueOf(argument)
		if v.Kind() != reflect.Slice {
			flat = append(flat, argument)
			continue
		}
		for i := range v.Len() {
			flat = append(flat, v.Index(i).Interface())
		}
	}
	return flat
}

// isNil reports whether an argument is nil or a nil pointer.
func isNil(argument any) bool {
	v := reflect.ValueOf(argument)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// expressionOf returns the expression of an argument. Nil is the zero Expr, which is refused when it is bound.
func expressionOf(e Expression) Expr {
	if isNil(e) {
		return Expr{}
	}
	return e.expression()
}

// conditionOf returns the expression of a condition. Nil is not the absence of a condition.
func conditionOf(e Expression) Expr {
	condition := expressionOf(e)
	if condition.tree.IsZero() {
		condition = refused("a condition is nil, expected an expression")
		condition.tree = expr.Lit(true)
	}
	return condition
}

// keyOf returns the expression of a key.
func keyOf(key Key) Expr {
	if isNil(key) {
		return refused("a key is nil, expected the name of a column as a string, or an expression")
	}
	switch k := key.(type) {
	case string:
		return Col(k)
	case Expression:
		return k.expression()
	case sortable:
		return refused("%v has a direction, which only keys of an order have: leave it out", k.ordering().Key.Tree)
	}
	if reflect.TypeOf(key).Kind() == reflect.Slice {
		return refused("%v is a slice of type %T, expected one key: the name of a column as a string, or an expression", key, key)
	}
	return refused("%v is a Go value of type %T, expected the name of a column as a string, or an expression", key, key)
}

// refused is the expression of an argument of a wrong type. Its tree is a literal, so that only the argument is reported.
func refused(format string, arguments ...any) Expr {
	return Expr{tree: expr.Lit(0), misuse: []error{fmt.Errorf(format+": %w", append(arguments, device.ErrInvalidValue)...)}}
}

// keyExprs returns the expressions of keys.
func keyExprs(list []Key) []Expr {
	var keys []Expr
	for _, k := range flatten(list) {
		keys = append(keys, keyOf(k))
	}
	return keys
}

// keysOf returns keys as arguments of verbs.
func keysOf(list []Key) []bind.Expr {
	keys := keyExprs(list)
	bound := make([]bind.Expr, len(keys))
	for i, k := range keys {
		bound[i] = k.bound()
	}
	return bound
}

// orders returns the keys of an order as arguments of verbs.
func orders(list []Ordering) []bind.Order {
	var bound []bind.Order
	for _, key := range flatten(list) {
		if o, ok := key.(sortable); ok && !isNil(key) {
			bound = append(bound, o.ordering())
			continue
		}
		bound = append(bound, keyOf(key).ordering())
	}
	return bound
}
