package sqltest

import "github.com/gpuframe/gpuframe/sql/tree"

// expr draws an expression.
func (g *generator) expr() (e tree.Expr) {
	if g.depth <= 0 {
		return g.leaf()
	}
	g.deeper(func() {
		switch g.IntN(8) {
		case 0:
			e = g.leaf()
		case 1, 2:
			e = g.operator()
		case 3:
			e = g.condition()
		case 4:
			e = g.nested()
		case 5:
			e = g.call()
		case 6:
			e = g.queryExpr()
		default:
			e = g.conversion()
		}
	})
	return e
}

func (g *generator) column() tree.Expr { return &tree.Column{Name: g.qualified()} }

// literals are the literals of every kind.
var literals = []tree.Literal{
	{Kind: tree.Null}, {Kind: tree.True}, {Kind: tree.False}, {Kind: tree.Integer, Text: "0"},
	{Kind: tree.Integer, Text: "12"}, {Kind: tree.Integer, Text: "9223372036854775808"},
	{Kind: tree.Decimal, Text: "1.50"}, {Kind: tree.Decimal, Text: ".5"}, {Kind: tree.Decimal, Text: "2."},
	{Kind: tree.Float, Text: "1e-3"}, {Kind: tree.Text, Text: ""}, {Kind: tree.Text, Text: "it's"},
	{Kind: tree.Text, Text: "ü\n"}, {Kind: tree.Blob, Text: "ff00"},
}

// leaf draws an expression without others.
func (g *generator) leaf() tree.Expr {
	switch g.IntN(10) {
	case 0, 1, 2:
		literal := pick(g, literals...)
		return &literal
	case 3:
		return &tree.TypedText{Type: g.textType(), Text: "2020-02-29"}
	case 4:
		return &tree.Interval{Value: &tree.Literal{Kind: tree.Integer, Text: "3"}, Unit: pick(g, "year", "day", "microsecond")}
	case 5:
		return pick[tree.Expr](g, &tree.Parameter{Number: 2}, &tree.Ordinal{Number: 1})
	}
	return g.column()
}

// operators are the operators of two expressions. Those that match patterns are draws of like.
var operators = []string{
	"+", "-", "*", "/", "//", "%", "^", "**", "||", "&", "|", "<<", ">>", "=", "<>", "<", "<=", ">", ">=", "->",
	"->>", "@>", "<@", "&&", "^@",
}

// operator draws an arithmetic or logical operator.
func (g *generator) operator() tree.Expr {
	switch g.IntN(5) {
	case 0:
		return &tree.Unary{Op: pick(g, "-", "+", "not", "~", "@"), X: g.expr()}
	case 1:
		return &tree.Logic{Or: g.chance(2), Terms: fill(g, 2, 4, g.expr)}
	case 2:
		return &tree.AtTimeZone{X: g.expr(), Zone: g.expr()}
	}
	e := &tree.Binary{Op: pick(g, operators...), X: g.expr(), Y: g.expr()}
	if e.Op == "->" {
		e.X = &tree.Unary{Op: "+", X: e.X} // a name before -> would be the variable of a lambda
	}
	return e
}

// condition draws a comparison that is no operator of two expressions.
func (g *generator) condition() tree.Expr {
	switch g.IntN(5) {
	case 0:
		e := &tree.Is{X: g.expr(), Not: g.chance(2), State: tree.IsKind(g.IntN(5))}
		if e.State == tree.IsDistinct {
			e.From = g.expr()
		}
		return e
	case 1:
		return &tree.Between{X: g.expr(), Low: g.expr(), High: g.expr(), Not: g.chance(2)}
	case 2:
		e := &tree.In{X: g.expr(), Not: g.chance(2)}
		switch g.IntN(3) {
		case 0:
			e.Query = g.query()
		case 1:
			e.Of = pick[tree.Expr](g, g.column(), &tree.List{Items: fill(g, 0, 3, g.expr)})
		default:
			e.List = fill(g, 1, 4, g.expr)
		}
		return e
	case 3:
		e := &tree.Quantified{X: g.expr(), Op: pick(g, "=", "<>", "<", ">="), All: g.chance(2)}
		if g.chance(2) {
			e.Query = g.query()
		} else {
			e.Of = &tree.List{Items: fill(g, 1, 3, g.expr)}
		}
		return e
	}
	return g.like()
}

func (g *generator) like() tree.Expr {
	e := &tree.Like{X: g.expr(), Kind: tree.LikeKind(g.IntN(6)), Pattern: g.expr()}
	e.Not = e.Kind != tree.GlobPattern && g.chance(2)
	if e.Kind <= tree.ILikePattern && g.chance(3) {
		e.Escape = &tree.Literal{Kind: tree.Text, Text: "!"}
	}
	return e
}

// nested draws a nested value, or a part of one.
func (g *generator) nested() tree.Expr {
	switch g.IntN(9) {
	case 0:
		return &tree.List{Items: fill(g, 0, 3, g.expr), Array: g.chance(3)}
	case 1:
		return &tree.Struct{Fields: fill(g, 1, 3, func() tree.Field { return tree.Field{Name: g.name(), Value: g.expr()} })}
	case 2:
		e := &tree.Map{Keys: fill(g, 0, 2, g.expr)}
		for range e.Keys {
			e.Values = append(e.Values, g.expr())
		}
		return e
	case 3:
		return &tree.Row{Items: fill(g, 0, 3, g.expr)}
	case 4:
		return &tree.Subscript{X: g.expr(), Index: g.expr()}
	case 5:
		return &tree.Slice{X: g.expr(), From: g.maybe(), To: g.maybe(), Step: g.maybe()}
	case 6:
		return &tree.FieldOf{X: g.expr(), Name: g.name()}
	case 7:
		return &tree.Comprehension{Value: g.expr(), Variables: fill(g, 1, 2, g.name), Of: g.expr(), If: g.maybe()}
	}
	return &tree.Lambda{Variables: fill(g, 1, 2, g.name), Body: g.expr()}
}

// maybe draws an expression or nil.
func (g *generator) maybe() tree.Expr {
	if g.chance(2) {
		return nil
	}
	return g.expr()
}

// queryExpr draws an expression with a query in it.
func (g *generator) queryExpr() tree.Expr {
	switch g.IntN(3) {
	case 0:
		return &tree.Exists{Query: g.query()}
	case 1:
		return g.caseOf()
	}
	return &tree.Scalar{Query: g.query(), Array: g.chance(4)}
}

func (g *generator) caseOf() tree.Expr {
	return &tree.Case{X: g.maybe(), Else: g.maybe(), Branches: fill(g, 1, 3, func() tree.Branch {
		return tree.Branch{When: g.expr(), Then: g.expr()}
	})}
}

// conversion draws a cast, a collation, or an interval of an expression.
func (g *generator) conversion() tree.Expr {
	switch g.IntN(5) {
	case 0:
		return &tree.Collate{X: g.expr(), Name: tree.Name{Text: "nocase"}}
	case 1:
		return &tree.Interval{Value: &tree.Unary{Op: "-", X: g.expr()}, Unit: pick(g, "month", "hour")}
	}
	return &tree.Cast{X: g.expr(), Type: g.typeOf(2), Try: g.chance(3)}
}

// textType draws a type that may stand before a text.
func (g *generator) textType() *tree.Type {
	return pick(g, &tree.Type{Name: "date"}, &tree.Type{Name: "timestamp"}, &tree.Type{Name: "timestamp with time zone"},
		&tree.Type{Name: "varchar"}, &tree.Type{Name: "decimal", Params: []int64{18, 3}}, &tree.Type{Name: "double"})
}

// typeOf draws a type with up to a number of levels.
func (g *generator) typeOf(depth int) *tree.Type {
	if depth == 0 || g.chance(2) {
		return g.textType()
	}
	element := g.typeOf(depth - 1)
	switch g.IntN(4) {
	case 0:
		return &tree.Type{Name: "list", Element: element}
	case 1:
		return &tree.Type{Name: "array", Element: element, Params: []int64{3}}
	case 2:
		return &tree.Type{Name: "map", Key: g.typeOf(0), Element: element}
	}
	return &tree.Type{Name: "struct", Fields: []tree.TypeField{{Name: g.name(), Type: element}, {Name: tree.Name{Text: "z"}, Type: g.typeOf(0)}}}
}
