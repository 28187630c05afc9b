package gpuframe

import (
	"strings"
)

// Window divides the rows of a query into partitions, for [Expr.Over]. It is immutable.
type Window struct{ partition []Expr }

// By makes partitions of the rows with equal keys. Without keys all rows are one partition.
func By(keys ...Expression) Window {
	var w Window
	for _, k := range keys {
		w.partition = append(w.partition, k.expression())
	}
	return w
}

// String formats the keys.
func (w *Window) String() string {
	texts := make([]string, len(w.partition))
	for i, k := range w.partition {
		texts[i] = k.String()
	}
	return "(" + strings.Join(texts, ", ") + ")"
}

func (w *Window) same(v *Window) bool {
	if w == nil || v == nil || len(w.partition) != len(v.partition) {
		return w == v
	}
	for i, k := range w.partition {
		if !k.value.Same(v.partition[i].value) {
			return false
		}
	}
	return true
}

// Over gives each row the aggregates of its partition: revenue.Div(revenue.Sum().Over(By(day)))
// is the share of a row in the revenue of its day.
func (e Expr) Over(w Window) Expr {
	return e.eachPart(func(p part) part {
		p.window = &w
		return p
	})
}

// Ordering is an argument of [Query.Sort] and [Query.Top]: an expression, in ascending order, or
// the result of [Expr.Asc] or [Expr.Desc].
type Ordering interface{ ordering() order }

// order is a key of a sort.
type order struct {
	key        Expr
	descending bool
	nullsFirst bool
}

func (e Expr) ordering() order { return order{key: e} }

// OrderBy is an expression with a direction.
type OrderBy struct{ order }

func (o OrderBy) ordering() order { return o.order }

// Asc orders from the least value to the greatest. Nulls come last.
func (e Expr) Asc() OrderBy { return OrderBy{order{key: e}} }

// Desc orders from the greatest value to the least. Nulls come last.
func (e Expr) Desc() OrderBy { return OrderBy{order{key: e, descending: true}} }

// NullsFirst puts nulls before all values.
func (o OrderBy) NullsFirst() OrderBy {
	o.nullsFirst = true
	return o
}
