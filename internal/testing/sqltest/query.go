package sqltest

import "github.com/gpuframe/gpuframe/sql/tree"

// query draws a query.
func (g *generator) query() *tree.Query {
	q := &tree.Query{}
	g.deeper(func() {
		if g.chance(4) {
			q.With = g.with()
		}
		q.Body = g.body()
		if g.chance(3) {
			q.OrderBy = g.orderBy(true)
		}
		g.limit(q)
	})
	return q
}

// selectQuery draws a query that begins with SELECT.
func (g *generator) selectQuery() *tree.Query {
	q := g.query()
	q.With, q.Body = nil, g.selection()
	return q
}

func (g *generator) limit(q *tree.Query) {
	if g.chance(4) {
		q.Limit = g.expr()
		q.Percent = g.chance(3)
	}
	if g.chance(4) {
		q.Offset = g.expr()
	}
}

func (g *generator) with() *tree.With {
	yes, no := true, false
	return &tree.With{Recursive: g.chance(3), Tables: fill(g, 1, 2, func() tree.CommonTable {
		return tree.CommonTable{
			Name: g.name(), Columns: fill(g, 0, 2, g.name), Materialized: pick(g, nil, &yes, &no), Query: g.query(),
		}
	})}
}

func (g *generator) orderBy(all bool) *tree.OrderBy {
	if all && g.chance(4) {
		key := g.orderKey()
		key.Expr = nil
		return &tree.OrderBy{All: true, Keys: []tree.OrderKey{key}}
	}
	return &tree.OrderBy{Keys: fill(g, 1, 2, g.orderKey)}
}

func (g *generator) orderKey() tree.OrderKey {
	return tree.OrderKey{Expr: g.expr(), Descending: g.chance(2), Nulls: tree.NullOrder(g.IntN(3))}
}

// body draws a body.
func (g *generator) body() tree.Body {
	if g.depth <= 0 {
		return g.selection()
	}
	switch g.IntN(8) {
	case 0, 1:
		return g.setOperation()
	case 2:
		width := 1 + g.IntN(2)
		return &tree.Values{Rows: fill(g, 1, 3, func() []tree.Expr { return fill(g, width, width, g.expr) })}
	case 3:
		return g.pivotBody()
	}
	return g.selection()
}

func (g *generator) setOperation() (s *tree.SetOperation) {
	g.deeper(func() {
		s = &tree.SetOperation{
			Kind: tree.SetKind(g.IntN(3)), All: g.chance(2), Left: g.operandBody(), Right: g.operandBody(),
		}
		s.ByName = s.Kind == tree.Union && g.chance(4)
	})
	return s
}

// operandBody draws a body of a set operation. A query in parentheses has a clause.
func (g *generator) operandBody() tree.Body {
	if g.chance(4) {
		q := g.query()
		if q.With == nil && q.OrderBy == nil && q.Limit == nil && q.Offset == nil {
			q.OrderBy = g.orderBy(true)
		}
		return &tree.Nested{Query: q}
	}
	return g.body()
}

func (g *generator) selection() *tree.Select {
	s := &tree.Select{Items: fill(g, 1, 3, g.item), From: fill(g, 0, 2, g.table)}
	if g.chance(5) {
		s.Distinct = &tree.Distinct{On: fill(g, 0, 2, g.expr)}
	}
	if g.chance(2) {
		s.Where = g.expr()
	}
	if g.chance(4) {
		s.GroupBy = g.groupBy()
	}
	if g.chance(6) {
		s.Having = g.expr()
	}
	if g.chance(6) {
		s.Windows = []tree.NamedWindow{{Name: tree.Name{Text: "w"}, Window: g.window()}}
	}
	if g.chance(6) {
		s.Qualify = g.expr()
	}
	if g.chance(8) && len(s.From) > 0 {
		s.Sample = g.sample()
	}
	return s
}

func (g *generator) item() tree.Item {
	item := tree.Item{Expr: g.expr()}
	if g.chance(6) {
		item.Expr = g.star()
		return item
	}
	if g.chance(2) {
		item.Name = pick(g, g.name(), tree.Name{Text: "from"}, tree.Name{Text: "limit"})
	}
	return item
}

func (g *generator) star() tree.Expr {
	e := &tree.Star{}
	if g.chance(3) {
		e.Table = []tree.Name{g.name()}
	}
	if g.chance(3) {
		e.Exclude = [][]tree.Name{{{Text: "a"}}, {{Text: "t"}, {Text: "b"}}}
	}
	if g.chance(3) {
		e.Replace = []tree.Item{{Expr: g.expr(), Name: tree.Name{Text: "c"}}}
	}
	if g.chance(3) {
		e.Rename = []tree.Item{{Expr: &tree.Column{Name: []tree.Name{{Text: "d"}}}, Name: tree.Name{Text: "e"}}}
	}
	if g.chance(4) && e.Table == nil {
		return &tree.Columns{Of: e}
	}
	return e
}

func (g *generator) groupBy() *tree.GroupBy {
	if g.chance(4) {
		return &tree.GroupBy{All: true}
	}
	return &tree.GroupBy{Keys: fill(g, 1, 3, g.groupKey)}
}

func (g *generator) groupKey() tree.GroupKey {
	switch g.IntN(5) {
	case 0:
		return tree.GroupKey{Kind: pick(g, tree.KeyRollup, tree.KeyCube), Exprs: fill(g, 1, 2, g.column)}
	case 1:
		return tree.GroupKey{Kind: tree.KeySets, Sets: []tree.GroupKey{
			{Kind: tree.KeySet, Exprs: fill(g, 2, 3, g.column)}, {Exprs: []tree.Expr{g.column()}}, {Kind: tree.KeySet},
		}}
	}
	e := g.expr()
	if _, ok := e.(*tree.Row); ok {
		e = g.column()
	}
	return tree.GroupKey{Exprs: []tree.Expr{e}}
}

func (g *generator) sample() *tree.Sample {
	s := &tree.Sample{Size: &tree.Literal{Kind: tree.Integer, Text: "10"}, Percent: true}
	s.Method = pick(g, "", "bernoulli", "system", "reservoir")
	if g.chance(2) {
		seed := int64(g.IntN(100))
		s.Seed = &seed
	}
	return s
}
