package sqltest

import "github.com/gpuframe/gpuframe/sql/tree"

// table draws a table.
func (g *generator) table() (t tree.Table) {
	if g.depth <= 0 {
		return &tree.TableName{Name: g.qualified(), Alias: g.alias()}
	}
	g.deeper(func() {
		switch g.IntN(9) {
		case 0:
			t = &tree.Subquery{Lateral: g.chance(3), Query: g.query(), Alias: g.alias()}
		case 1:
			call := g.function(pick(g, "range", "read_parquet"), 1, 2)
			t = &tree.TableFunction{Lateral: g.chance(3), Call: call, Ordinality: g.chance(3), Alias: g.alias()}
		case 2:
			t = &tree.File{Path: "data/*.parquet", Alias: g.alias()}
		case 3, 4:
			t = g.join()
		case 5:
			t = g.pivot()
		case 6:
			t = g.unpivot()
		default:
			t = &tree.TableName{Name: g.qualified(), Alias: g.alias(), Sample: g.maybeSample()}
		}
	})
	return t
}

func (g *generator) maybeSample() *tree.Sample {
	if g.chance(3) {
		return g.sample()
	}
	return nil
}

func (g *generator) alias() (alias tree.Alias) {
	if g.chance(2) {
		alias.Name = g.name()
		alias.Columns = fill(g, 0, 2, g.name)
	}
	return alias
}

func (g *generator) join() tree.Table {
	j := &tree.Join{Kind: tree.JoinKind(g.IntN(8)), Left: g.table(), Right: g.table()}
	switch j.Right.(type) {
	case *tree.Pivot, *tree.Unpivot: // no text has one behind a join without a condition
		j.Right = &tree.TableName{Name: g.qualified(), Alias: g.alias()}
	}
	if j.Kind == tree.CrossJoin || j.Kind == tree.PositionalJoin {
		return j
	}
	switch g.IntN(4) {
	case 0:
		j.Natural = true
		return j
	case 1:
		j.Using = fill(g, 1, 2, g.name)
	default:
		j.On = g.expr()
	}
	j.AsOf = j.Kind != tree.SemiJoin && j.Kind != tree.AntiJoin && g.chance(4)
	return j
}

// values draws the values of a column that become columns.
func (g *generator) values() []tree.Item {
	return fill(g, 1, 3, func() tree.Item {
		item := tree.Item{Expr: &tree.Literal{Kind: tree.Integer, Text: "2023"}}
		if g.chance(3) {
			item.Name = g.name()
		}
		return item
	})
}

// aggregates draws the aggregates of a pivot.
func (g *generator) aggregates() []tree.Item {
	return fill(g, 1, 2, func() tree.Item { return tree.Item{Expr: g.function("sum", 1, 1), Name: tree.Name{Text: "s"}} })
}

func (g *generator) groups() []tree.Expr {
	return fill(g, 0, 2, func() tree.Expr { return &tree.Column{Name: []tree.Name{g.name()}} })
}

func (g *generator) pivot() tree.Table {
	return &tree.Pivot{
		Table: g.table(), Aggregates: g.aggregates(), GroupBy: g.groups(), Alias: g.alias(),
		On: fill(g, 1, 2, func() tree.PivotColumn { return tree.PivotColumn{Expr: g.column(), Values: g.values()} }),
	}
}

func (g *generator) unpivot() tree.Table {
	return &tree.Unpivot{
		Table: g.table(), IncludeNulls: g.chance(2), Name: g.name(), Values: []tree.Name{g.name()}, Alias: g.alias(),
		Columns: fill(g, 1, 3, func() tree.Item { return tree.Item{Expr: g.column()} }),
	}
}

// pivotBody draws PIVOT or UNPIVOT as a body.
func (g *generator) pivotBody() tree.Body {
	if g.chance(2) {
		u := g.unpivot().(*tree.Unpivot)
		u.Alias, u.IncludeNulls = tree.Alias{}, false
		return u
	}
	p := g.pivot().(*tree.Pivot)
	p.Alias = tree.Alias{}
	for i := range p.On {
		if g.chance(2) {
			p.On[i].Values = nil
		}
	}
	return p
}
