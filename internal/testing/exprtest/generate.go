package exprtest

import (
	"math/rand/v2"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// generator draws expressions.
type generator struct {
	// offsets shift the numbers that rapid draws, because rapid prefers small ones.
	offsets *rand.Rand
	t       *rapid.T
	options Options
	zone    string
	columns [classes][]expr.Expr
	// drawn are expressions to use again.
	drawn [classes][]expr.Expr
}

// choose returns a number from 0 to below n.
func (g *generator) choose(label string, n int) int {
	return rapid.IntRange(0, n-1).Draw(g.t, label)
}

// among is choose without a preference for small numbers.
func (g *generator) among(label string, n int) int {
	return (g.choose(label, n) + g.offsets.IntN(n)) % n
}

// bindable draws an expression that binds: if scales of decimals or the like do not
// fit, it draws another one.
func (g *generator) bindable(schema *arrow.Schema, depth int) expr.Expr {
	var err error
	for range 20 {
		kind := class(g.among("class", int(lengths)+1))
		for g.options.NoDecimals && kind == decimals {
			kind = integers
		}
		e := g.draw(kind, g.choose("depth", depth+1))
		if g.options.Strings && len(g.columns[stringValues]) > 0 && g.among("strings", 4) == 0 {
			e = g.madeText(depth)
		}
		if _, err = expr.Bind(schema, e); err == nil {
			return e
		}
	}
	g.t.Fatalf("no expression is accepted: %v", err)
	return expr.Expr{}
}

// draw returns an expression of a class.
func (g *generator) draw(kind class, depth int) expr.Expr {
	if again := g.drawn[kind]; len(again) > 0 && g.among("again", 8) == 0 {
		return again[g.choose("which", len(again))]
	}
	if depth <= 0 || g.among("leaf", 6) == 0 {
		return g.leaf(kind)
	}
	var e expr.Expr
	if kind == bools || g.among("own", 4) > 0 {
		e = g.operation(kind, depth-1)
	} else {
		e = g.selection(kind, depth-1)
	}
	g.drawn[kind] = append(g.drawn[kind], e)
	return e
}

func (g *generator) leaf(kind class) expr.Expr {
	if columns := g.columns[kind]; len(columns) > 0 && g.among("column", 6) > 0 {
		return columns[g.among("which", len(columns))]
	}
	return g.literal(kind)
}

func (g *generator) typeOf(kind class) arrow.DataType {
	return typesOf(kind, g.zone)[g.among("type", len(typesOf(kind, g.zone)))]
}

func (g *generator) literal(kind class) expr.Expr {
	t := g.typeOf(kind)
	if g.among("null", 8) == 0 {
		return expr.Null(t)
	}
	values := NewValues(rapid.Uint64().Draw(g.t, "value") ^ g.offsets.Uint64())
	open := g.among("open", 2) == 0
	switch kind {
	case integers:
		if open {
			return expr.Lit(values.IntN(300) - 20)
		}
		beyond := 64 - exprtree.KindOf(t).Bits()
		x := values.Integer(exprtree.KindOf(t)) << beyond
		if exprtree.KindOf(t).IsSigned() {
			return expr.LitOf(t, int64(x)>>beyond)
		}
		return expr.LitOf(t, x>>beyond)
	case floats:
		if open {
			return expr.Lit(values.Float())
		}
		return expr.LitOf(t, values.Float())
	case bools:
		return expr.Lit(values.IntN(2) == 0)
	case decimals:
		return expr.LitOf(t, values.Decimal(t.(*arrow.Decimal128Type)))
	case instants:
		at := time.Unix(values.Int64N(6e9)-3e9, 0).UTC()
		switch values.IntN(4) {
		case 0:
			return expr.Lit(at.Truncate(24 * time.Hour))
		case 1:
			return expr.Lit(at.Add(time.Duration(values.IntN(1e9))))
		case 2:
			return expr.Lit(arrow.Date32(at.Unix() / 86_400))
		}
		return expr.Lit(at)
	case clocks:
		return expr.LitOf(t, time.Duration(values.IntN(86_400))*time.Second)
	}
	if open {
		return expr.Lit(time.Duration(values.Integer(exprtree.Int64)))
	}
	return expr.LitOf(t, arrow.Duration(values.Integer(exprtree.Int64)))
}

// selection draws an operation that exists for every class except strings.
func (g *generator) selection(kind class, depth int) expr.Expr {
	x, y, z := g.draw(kind, depth), g.draw(kind, depth), g.draw(kind, depth)
	if kind == instants || kind == lengths { // a common type may not hold all values
		t := g.typeOf(kind)
		x, y, z = x.Cast(t), y.Cast(t), z.Cast(t)
	}
	switch g.among("selection", 7) {
	case 0:
		return expr.Coalesce(x, y, z)
	case 1:
		return x.FillNull(y)
	case 2:
		return expr.Min(x, y)
	case 3:
		return expr.Max(x, y, z)
	case 4:
		return x.Clamp(y, z)
	}
	return expr.If(g.draw(bools, depth), x, y)
}

// pick calls one of the functions.
func (g *generator) pick(functions ...func() expr.Expr) expr.Expr {
	return functions[g.among("operation", len(functions))]()
}

// number draws an expression of one of the numeric classes.
func (g *generator) number(depth int) expr.Expr {
	if g.among("number", 2) == 0 {
		return g.draw(floats, depth)
	}
	return g.draw(integers, depth)
}

// any draws an expression of any class with operations.
func (g *generator) any(depth int) expr.Expr {
	kind := class(g.among("class", int(lengths)+1))
	if g.options.NoDecimals && kind == decimals {
		kind = floats
	}
	return g.draw(kind, depth)
}
