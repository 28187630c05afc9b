package parse

import "github.com/gpuframe/gpuframe/sql/tree"

// pivotBody reads PIVOT as a statement.
func (p *parser) pivotBody() tree.Body {
	e := &tree.Pivot{Position: p.pos()}
	p.take()
	e.Table = p.table()
	if p.accept("on") {
		for {
			e.On = append(e.On, p.pivotColumn())
			if !p.accept(",") || !p.startsItem() {
				break
			}
		}
	}
	if p.accept("using") {
		e.Aggregates = p.items()
	}
	if p.accept("group") {
		p.expect("by")
		e.GroupBy = p.pivotGroups()
	}
	if e.On == nil && e.Aggregates == nil && e.GroupBy == nil {
		p.failHere("")
	}
	return e
}

// pivotColumn reads an expression of PIVOT … ON with its values.
func (p *parser) pivotColumn() tree.PivotColumn {
	c := tree.PivotColumn{Expr: p.restricted()}
	if p.accept("in") {
		p.pivotValues(&c, true)
	}
	return c
}

// pivotValues reads the values of a column: a list, the name of an enum type, or a query if it may be one.
func (p *parser) pivotValues(c *tree.PivotColumn, query bool) {
	switch {
	case p.token().word != "(":
		c.Enum = p.name("a list in parentheses, or an enum type")
	case query && p.startsQuery(1):
		p.take()
		c.Query = p.query()
		p.expect(")")
	default:
		p.take()
		c.Values = p.items()
		p.expect(")")
	}
}

// pivotGroups reads the columns of GROUP BY of a pivot, which may stand in parentheses.
func (p *parser) pivotGroups() []tree.Expr {
	open := p.accept("(")
	names := p.names("the name of a column")
	if open {
		p.expect(")")
	}
	list := make([]tree.Expr, len(names))
	for i, name := range names {
		list[i] = &tree.Column{Position: name.Position, Name: []tree.Name{name}}
	}
	return list
}

// pivot reads PIVOT behind a table.
func (p *parser) pivot(left tree.Table) tree.Table {
	e := &tree.Pivot{Position: p.pos(), Table: left}
	p.take()
	p.expect("(")
	e.Aggregates = p.items()
	p.expect("for")
	for {
		c := tree.PivotColumn{Expr: p.operand()}
		p.expect("in")
		p.pivotValues(&c, false)
		e.On = append(e.On, c)
		if p.at("group") || p.at(")") {
			break
		}
	}
	if p.accept("group") {
		p.expect("by")
		e.GroupBy = p.pivotGroups()
	}
	p.expect(")")
	e.Alias = p.alias()
	return e
}

// unpivotBody reads UNPIVOT as a statement.
func (p *parser) unpivotBody() tree.Body {
	e := &tree.Unpivot{Position: p.pos()}
	p.take()
	e.Table = p.table()
	p.unpivotNulls(e)
	p.expect("on")
	e.Columns = p.items()
	e.Name = tree.Name{Position: e.Position, Text: "name"}
	e.Values = []tree.Name{{Position: e.Position, Text: "value"}}
	if p.accept("into") {
		p.expect("name")
		e.Name = p.name("the name of a column")
		if !p.accept("values") {
			p.expect("value")
		}
		if p.token().word == "(" {
			e.Values = p.nameList("the name of a column")
		} else {
			e.Values = p.names("the name of a column")
		}
	}
	return e
}

// unpivotNulls reads INCLUDE NULLS or EXCLUDE NULLS.
func (p *parser) unpivotNulls(e *tree.Unpivot) {
	if p.acceptWords("include", "nulls") {
		e.IncludeNulls = true
		return
	}
	p.acceptWords("exclude", "nulls")
}

// unpivot reads UNPIVOT behind a table.
func (p *parser) unpivot(left tree.Table) tree.Table {
	e := &tree.Unpivot{Position: p.pos(), Table: left}
	p.take()
	p.unpivotNulls(e)
	p.expect("(")
	if p.token().word == "(" {
		e.Values = p.nameList("the name of a column")
	} else {
		e.Values = []tree.Name{p.name("the name of a column")}
	}
	p.expect("for")
	open := p.accept("(")
	e.Name = p.name("the name of a column")
	if open {
		p.expect(")")
	}
	p.expect("in")
	p.expect("(")
	e.Columns = p.items()
	p.expect(")")
	p.expect(")")
	e.Alias = p.alias()
	return e
}
