package querytest

import (
	"fmt"
	"math"

	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
)

// expression is an expression of a query with its model.
type expression struct {
	expr  gpuframe.Expr
	kind  Kind
	model func(row Row) any
	sql   string
}

// drawer draws expressions over the columns of a table.
type drawer struct {
	t     *rapid.T
	table *Table
	// texts draws expressions that make texts.
	texts bool
}

func (d *drawer) choose(label string, n int) int { return rapid.IntRange(0, n-1).Draw(d.t, label) }

// column draws a column of a kind.
func (d *drawer) column(fits func(Kind) bool) (expression, bool) {
	var places []int
	for i, c := range d.table.Columns {
		if fits(c.Kind) {
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		return expression{}, false
	}
	return d.at(places[d.choose("column", len(places))]), true
}

func (d *drawer) at(i int) expression {
	c := d.table.Columns[i]
	return expression{gpuframe.Col(c.Name), c.Kind, func(row Row) any { return row[i] }, quoted(c.Name)}
}

func isKind(k Kind) func(Kind) bool { return func(other Kind) bool { return other == k } }

// literal draws a literal that takes the kind next to a column of it.
func (d *drawer) literal(k Kind) expression {
	value := drawValue(d.t, k)
	given := value
	if i, ok := value.(int64); ok && k == Int32 {
		given = int32(i)
	}
	return expression{gpuframe.Lit(given), k, func(Row) any { return value }, literalSQL(k, value)}
}

// texts are the strings of the tables.
var texts = []string{"", "a", "b", "ab", "Oslo", "Bern"}

// drawValue draws a value that is not null.
func drawValue(t *rapid.T, k Kind) any {
	switch k {
	case Bool:
		return rapid.Bool().Draw(t, "bool")
	case Int32, Int64:
		return int64(rapid.IntRange(-4, 5).Draw(t, "integer"))
	case Float64:
		if rapid.IntRange(0, 9).Draw(t, "special") == 0 {
			return rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Copysign(0, -1)}).Draw(t, "special float")
		}
		return float64(rapid.IntRange(-8, 8).Draw(t, "quarters")) / 4
	}
	return rapid.SampledFrom(texts).Draw(t, "text")
}

// value draws an expression of some kind. It always has a column: a query refuses some
// operations on literals only.
func (d *drawer) value(depth int) expression {
	e, _ := d.column(func(Kind) bool { return true })
	if depth == 0 || rapid.IntRange(0, 2).Draw(d.t, "plain") == 0 {
		return e
	}
	if d.texts && e.kind.isText() {
		return d.longer(e)
	}
	switch d.choose("operation", 5) {
	case 0, 1:
		if e.kind.isNumber() {
			return d.arithmetic(e, depth)
		}
	case 2:
		return d.condition(depth)
	case 3:
		if !e.kind.isText() {
			return d.filled(e)
		}
	case 4:
		if !e.kind.isText() {
			return d.chosen(e, depth)
		}
	}
	return e
}

// longer is a text with another behind it.
func (d *drawer) longer(e expression) expression {
	behind := rapid.SampledFrom(texts).Draw(d.t, "behind")
	return expression{kind: String, expr: gpuframe.Concat(e.expr, behind), model: func(row Row) any {
		if e.model(row) == nil {
			return nil
		}
		return e.model(row).(string) + behind
	}, sql: fmt.Sprintf("(%s || '%s')", e.sql, behind)}
}

// arithmetic adds, subtracts or multiplies numbers.
func (d *drawer) arithmetic(a expression, depth int) expression {
	b := d.literal(a.kind)
	if other, ok := d.column(Kind.isNumber); ok && rapid.Bool().Draw(d.t, "with a column") {
		b = other
	}
	kind := max(a.kind, b.kind)
	operation := d.choose("sign", 3)
	calculated := expression{kind: kind, model: func(row Row) any {
		x, y := a.model(row), b.model(row)
		if x == nil || y == nil {
			return nil
		}
		return calculate(operation, kind, x, y)
	}, sql: arithmeticSQL(operation, kind, a, b)}
	switch operation {
	case 0:
		calculated.expr = a.expr.Add(b.expr)
	case 1:
		calculated.expr = a.expr.Sub(b.expr)
	default:
		calculated.expr = a.expr.Mul(b.expr)
	}
	return calculated
}

func arithmeticSQL(operation int, kind Kind, a, b expression) string {
	format := "(cast(%[1]s as double) %[2]s cast(%[3]s as double))"
	switch kind {
	case Int32:
		format = "wrap32(cast(%[1]s as bigint) %[2]s cast(%[3]s as bigint))"
	case Int64:
		format = "wrap64(cast(%[1]s as hugeint) %[2]s cast(%[3]s as hugeint))"
	}
	return fmt.Sprintf(format, a.sql, [...]string{"+", "-", "*"}[operation], b.sql)
}

func calculate(operation int, kind Kind, x, y any) any {
	if kind == Float64 {
		a, b := number(x), number(y)
		return [...]float64{a + b, a - b, a * b}[operation]
	}
	a, b := x.(int64), y.(int64)
	result := [...]int64{a + b, a - b, a * b}[operation]
	if kind == Int32 {
		return int64(int32(result))
	}
	return result
}

func number(x any) float64 {
	if i, ok := x.(int64); ok {
		return float64(i)
	}
	return x.(float64)
}

// filled replaces nulls by a literal.
func (d *drawer) filled(e expression) expression {
	other := d.literal(e.kind)
	return expression{e.expr.FillNull(other.expr), e.kind, func(row Row) any {
		if value := e.model(row); value != nil {
			return value
		}
		return other.model(row)
	}, fmt.Sprintf("coalesce(%s, %s)", e.sql, other.sql)}
}

// chosen is a choice between a value and a literal.
func (d *drawer) chosen(e expression, depth int) expression {
	c, other := d.condition(depth-1), d.literal(e.kind)
	return expression{gpuframe.If(c.expr, e.expr, other.expr), e.kind, func(row Row) any {
		if c.model(row) == true {
			return e.model(row)
		}
		return other.model(row)
	}, fmt.Sprintf("case when %s then %s else %s end", c.sql, e.sql, other.sql)}
}

// condition draws an expression of bools.
func (d *drawer) condition(depth int) expression {
	if depth > 0 {
		switch d.choose("logic", 6) {
		case 0:
			return d.and(depth)
		case 1:
			return d.or(depth)
		case 2:
			a := d.condition(depth - 1)
			return expression{a.expr.Not(), Bool, func(row Row) any {
				if value := a.model(row); value != nil {
					return !value.(bool)
				}
				return nil
			}, "(not " + a.sql + ")"}
		}
	}
	switch d.choose("condition", 8) {
	case 0:
		return d.nullness()
	case 1:
		return d.in()
	case 2:
		return d.constant()
	}
	return d.comparison()
}

func (d *drawer) and(depth int) expression {
	return both(d.condition(depth-1), d.condition(depth-1))
}

func (d *drawer) or(depth int) expression {
	a, b := d.condition(depth-1), d.condition(depth-1)
	if rapid.IntRange(0, 3).Draw(d.t, "common") == 0 {
		c := d.condition(0)
		a, b = both(a, c), both(c, b)
	}
	return expression{a.expr.Or(b.expr), Bool, func(row Row) any {
		x, y := a.model(row), b.model(row)
		switch {
		case x == true || y == true:
			return true
		case x == nil || y == nil:
			return nil
		}
		return false
	}, "(" + a.sql + " or " + b.sql + ")"}
}

// both is the conjunction of two conditions.
func both(a, b expression) expression {
	return expression{a.expr.And(b.expr), Bool, func(row Row) any {
		x, y := a.model(row), b.model(row)
		switch {
		case x == false || y == false:
			return false
		case x == nil || y == nil:
			return nil
		}
		return true
	}, "(" + a.sql + " and " + b.sql + ")"}
}

func (d *drawer) nullness() expression {
	e, _ := d.column(func(Kind) bool { return true })
	if rapid.Bool().Draw(d.t, "is null") {
		return expression{e.expr.IsNull(), Bool, func(row Row) any { return e.model(row) == nil }, "(" + e.sql + " is null)"}
	}
	return expression{e.expr.IsValid(), Bool, func(row Row) any { return e.model(row) != nil }, "(" + e.sql + " is not null)"}
}

func (d *drawer) in() expression {
	e, _ := d.column(func(Kind) bool { return true })
	a, b := d.literal(e.kind), d.literal(e.kind)
	x, y := a.model(nil), b.model(nil)
	return expression{e.expr.In(a.expr, b.expr), Bool, func(row Row) any {
		value := e.model(row)
		if value == nil {
			return nil
		}
		return compare(value, x) == 0 || compare(value, y) == 0
	}, fmt.Sprintf("(%s in (%s, %s))", e.sql, a.sql, b.sql)}
}

func isNaN(value any) bool {
	f, ok := value.(float64)
	return ok && math.IsNaN(f)
}

// constant is a condition without columns.
func (d *drawer) constant() expression {
	switch d.choose("constant", 3) {
	case 0:
		value := rapid.Bool().Draw(d.t, "constant value")
		return expression{gpuframe.Lit(value), Bool, func(Row) any { return value }, literalSQL(Bool, value)}
	case 1:
		return expression{gpuframe.LitOf(arrowTypes[Bool], nil), Bool, func(Row) any { return nil }, literalSQL(Bool, nil)}
	}
	a, b := d.choose("left constant", 4), d.choose("right constant", 4)
	return expression{gpuframe.Lit(a).Add(1).Gt(b), Bool, func(Row) any { return a+1 > b }, fmt.Sprintf("(%d + 1 > %d)", a, b)}
}

func (d *drawer) comparison() expression {
	a, _ := d.column(func(Kind) bool { return true })
	b := d.literal(a.kind)
	if other, ok := d.column(isKind(a.kind)); ok && rapid.IntRange(0, 3).Draw(d.t, "between columns") == 0 {
		b = other
	}
	operation := d.choose("comparison", 6)
	compared := expression{kind: Bool, model: func(row Row) any {
		x, y := a.model(row), b.model(row)
		if x == nil || y == nil {
			return nil
		}
		c := compare(x, y)
		return [...]bool{c == 0, c != 0, c < 0, c <= 0, c > 0, c >= 0}[operation]
	}, sql: fmt.Sprintf("(%s %s %s)", a.sql, [...]string{"=", "<>", "<", "<=", ">", ">="}[operation], b.sql)}
	switch operation {
	case 0:
		compared.expr = a.expr.Eq(b.expr)
	case 1:
		compared.expr = a.expr.Ne(b.expr)
	case 2:
		compared.expr = a.expr.Lt(b.expr)
	case 3:
		compared.expr = a.expr.Le(b.expr)
	case 4:
		compared.expr = a.expr.Gt(b.expr)
	default:
		compared.expr = a.expr.Ge(b.expr)
	}
	return compared
}

// String formats the expression.
func (e expression) String() string { return fmt.Sprint(e.expr) }
