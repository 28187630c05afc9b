package gpuframe

import (
	"fmt"
	"hash/fnv"
	"maps"
	"strings"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// aggregate returns the expression of an aggregate or a window function of values. It has the name of
// the first value, or that of the function.
func aggregate(aggregation plan.Aggregation, values ...Expr) Expr {
	p := part{aggregation: aggregation}
	root := aggregation.Function
	var misuse error
	for i, v := range values {
		if i == 0 {
			root = v.Name()
		}
		p.aggregation.Values = append(p.aggregation.Values, p.inner.join(v))
		misuse = joinMisuse(misuse, v.misuse)
	}
	column := p.column(root)
	column.misuse = misuse
	return column
}

// column returns the expression that is the part.
func (p part) column(root string) Expr {
	text := p.aggregation.String() + p.frame.String()
	if p.window != nil {
		text += " over " + p.window.String()
	}
	p.aggregation.Name = plan.Computed(shortened(text))
	return Expr{value: expr.Col(p.aggregation.Name), parts: parts{p.aggregation.Name: &p}, root: root}
}

// longestName is the length of the longest name that is the text of its part. Aggregates and windows
// within each other repeat their texts.
const longestName = 200

// shortened returns a text of limited length, which differs for texts that differ.
func shortened(text string) string {
	if len(text) <= longestName {
		return text
	}
	sum := fnv.New64a()
	sum.Write([]byte(text))
	return fmt.Sprintf("%s … %016x", strings.ToValidUTF8(text[:longestName], ""), sum.Sum64())
}

// Where restricts the aggregates of an expression to the rows in which a condition is
// true. Several conditions must all be true. An expression without aggregates becomes an
// error when the query is bound.
func (e Expr) Where(condition Expression) Expr {
	c := condition.expression()
	return e.eachPart(func(p *part) part {
		restricted := *p
		restricted.inner = maps.Clone(p.inner)
		where := restricted.inner.join(c)
		if !p.aggregation.Where.IsZero() {
			where = p.aggregation.Where.And(where)
		}
		restricted.aggregation.Where = where
		return restricted
	})
}

// SkipNulls makes First, Last, Nth, List, Lag and Lead skip rows in which the value is null, as IGNORE
// NULLS in SQL: x.Last().SkipNulls() is the last value that is not null. It comes before Over. Other
// aggregates always skip nulls: with it they become an error when the query is bound.
func (e Expr) SkipNulls() Expr {
	changed := false
	skipping := e.eachPart(func(p *part) part {
		valid := *p
		valid.aggregation.SkipNulls, changed = true, true
		return valid
	})
	if !changed && skipping.misuse == nil {
		skipping.misuse = fmt.Errorf("%v is a window: call SkipNulls before Over", e)
	}
	return skipping
}

// eachPart changes the aggregates of an expression that are not windows yet.
func (e Expr) eachPart(change func(*part) part) Expr {
	if len(e.parts) == 0 {
		e.misuse = fmt.Errorf("Where, SkipNulls and Over apply to aggregates, and %v has none", e)
		return e
	}
	changed := Expr{root: e.root, given: e.given, misuse: e.misuse}
	values := map[string]expr.Expr{}
	for name, p := range e.parts {
		column := Expr{value: expr.Col(name), parts: parts{name: p}}
		if p.window == nil {
			column = change(p).column("")
		}
		values[name] = changed.parts.join(column)
	}
	changed.value = e.value.Substitute(func(sub expr.Expr) (expr.Expr, bool) {
		name, _ := sub.Column()
		value, ok := values[name]
		return value, ok
	})
	return changed
}
