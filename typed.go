package gpuframe

import "time"

// Value is a Go type that a column can be compared with.
type Value interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64 | ~string | time.Time
}

// Typed is a column of values of a Go type, so that the compiler checks the literals
// that it is compared with. It is an [Expr] in every other respect; use the field Expr to
// compare it with another expression.
type Typed[T Value] struct{ Expr }

// Of is the column with a name and with values of the Go type T.
func Of[T Value](name string) Typed[T] { return Typed[T]{Col(name)} }

// Eq is the comparison with a value.
func (c Typed[T]) Eq(value T) Expr { return c.Expr.Eq(value) }

// Ne is the comparison with a value.
func (c Typed[T]) Ne(value T) Expr { return c.Expr.Ne(value) }

// Lt is the comparison with a value.
func (c Typed[T]) Lt(value T) Expr { return c.Expr.Lt(value) }

// Le is the comparison with a value.
func (c Typed[T]) Le(value T) Expr { return c.Expr.Le(value) }

// Gt is the comparison with a value.
func (c Typed[T]) Gt(value T) Expr { return c.Expr.Gt(value) }

// Ge is the comparison with a value.
func (c Typed[T]) Ge(value T) Expr { return c.Expr.Ge(value) }

// Between is low ≤ c ≤ high.
func (c Typed[T]) Between(low, high T) Expr { return c.Expr.Between(low, high) }

// In reports whether the value is one of some values. It is null if the value is null.
func (c Typed[T]) In(values ...T) Expr {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v
	}
	return c.Expr.In(list...)
}

// FillNull is the value, or another one instead of null.
func (c Typed[T]) FillNull(value T) Expr { return c.Expr.FillNull(value) }
