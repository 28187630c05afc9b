package gpuframe

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/bind"
)

// Key is an argument of the verbs in which a text can only be a column: the name of a column as a
// string, or an [Expression]. A []string and an []Expression are several keys. Values of other types are an
// error when the query is bound.
//
//	flights.GroupBy("origin").Agg(delay.Mean())
type Key = any

// Ordering is an argument of the verbs that order rows: a [Key], in ascending order, or the result of
// [Expr.Asc] or [Expr.Desc].
type Ordering = any

// sortable is an Ordering that is no name.
type sortable interface{ ordering() bind.Order }

func (e Expr) ordering() bind.Order { return bind.Order{Key: e.bound()} }

// keyOf returns the expression of a key. Nil is the zero Expr, which is refused when it is bound.
func keyOf(key Key) Expr {
	switch k := key.(type) {
	case nil:
		return Expr{}
	case string:
		return Col(k)
	case Expression:
		return k.expression()
	}
	return Expr{misuse: []error{noKey(key)}}
}

// noKey is the error of an argument that is no key.
func noKey(argument any) error {
	return fmt.Errorf("%v is a Go value of type %T, expected the name of a column as a string, or an expression: %w", argument, argument, device.ErrInvalidValue)
}

// keyExprs returns the expressions of keys, with those of slices one by one.
func keyExprs(list []Key) []Expr {
	keys := make([]Expr, 0, len(list))
	for _, k := range list {
		switch k := k.(type) {
		case []string:
			for _, name := range k {
				keys = append(keys, Col(name))
			}
		case []Expression:
			keys = append(keys, unpack(k)...)
		default:
			keys = append(keys, keyOf(k))
		}
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

// orderOf returns the key of an order. Nil is the zero Order, which is refused when it is bound.
func orderOf(key Ordering) bind.Order {
	if o, ok := key.(sortable); ok {
		return o.ordering()
	}
	return keyOf(key).ordering()
}

// orders returns the keys of an order as arguments of verbs.
func orders(list []Ordering) []bind.Order {
	bound := make([]bind.Order, len(list))
	for i, o := range list {
		bound[i] = orderOf(o)
	}
	return bound
}
