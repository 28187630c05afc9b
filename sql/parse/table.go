package parse

import "github.com/gpuframe/gpuframe/sql/tree"

// tables reads the tables of FROM. A comma may stand behind the last one.
func (p *parser) tables() []tree.Table {
	list := []tree.Table{p.table()}
	for p.accept(",") && p.startsTable() {
		list = append(list, p.table())
	}
	return list
}

// startsTable returns whether a table may begin at the current token.
func (p *parser) startsTable() bool {
	t := p.token()
	return t.isColumnName() || t.isFunctionName() || t.kind == textToken || t.word == "(" || t.word == "lateral" ||
		t.word == "only"
}

// table reads a table with the joins and pivots behind it.
func (p *parser) table() tree.Table {
	p.enter()
	defer p.leave()
	t := p.tableOperand()
	for {
		next := p.joinOrPivot(t)
		if next == nil {
			return t
		}
		t = next
	}
}

// joinOrPivot reads a join or a pivot behind a table. It returns nil if none follows.
func (p *parser) joinOrPivot(left tree.Table) tree.Table {
	t := p.token()
	switch t.word {
	case "pivot", "pivot_wider":
		return p.pivot(left)
	case "unpivot", "pivot_longer":
		return p.unpivot(left)
	}
	j := &tree.Join{Position: tree.Position(t.pos), Left: left}
	if !p.joinWords(j) {
		return nil
	}
	j.Right = p.joined(j)
	if !j.Natural && j.Kind != tree.CrossJoin && j.Kind != tree.PositionalJoin {
		p.joinCondition(j)
	}
	return j
}

// joinWords reads the words of a join up to JOIN, if they are there.
func (p *parser) joinWords(j *tree.Join) bool {
	switch {
	case p.accept("cross"):
		j.Kind = tree.CrossJoin
	case p.accept("positional"):
		j.Kind = tree.PositionalJoin
	default:
		j.Natural = p.accept("natural")
		j.AsOf = !j.Natural && p.accept("asof")
		if !p.joinKind(j) && !j.Natural && !j.AsOf && !p.at("join") {
			return false
		}
	}
	p.expect("join")
	return true
}

// joinKind reads the kind of a join, if it is there.
func (p *parser) joinKind(j *tree.Join) bool {
	outer := true
	switch {
	case p.accept("left"):
		j.Kind = tree.LeftJoin
	case p.accept("right"):
		j.Kind = tree.RightJoin
	case p.accept("full"):
		j.Kind = tree.FullJoin
	default:
		outer = false
	}
	if outer {
		p.accept("outer")
		return true
	}
	switch {
	case p.accept("inner"):
	case p.accept("semi"):
		j.Kind = tree.SemiJoin
	case p.accept("anti"):
		j.Kind = tree.AntiJoin
	default:
		return false
	}
	return true
}

// joined reads the right table of a join. Joins behind it belong to it if they have their conditions before that
// of the join: a JOIN b JOIN c ON … ON ….
func (p *parser) joined(j *tree.Join) tree.Table {
	p.enter()
	defer p.leave()
	right := p.tableOperand()
	if j.Natural || j.Kind == tree.CrossJoin || j.Kind == tree.PositionalJoin {
		return right
	}
	for p.token().word != "on" && p.token().word != "using" {
		next := p.joinOrPivot(right)
		if next == nil {
			break
		}
		right = next
	}
	return right
}

// joinCondition reads ON or USING.
func (p *parser) joinCondition(j *tree.Join) {
	switch {
	case p.accept("on"):
		j.On = p.expr()
	case p.accept("using"):
		j.Using = p.nameList("the name of a column")
	default:
		p.failHere("ON or USING with the condition of the join")
	}
}

// tableOperand reads a table without joins.
func (p *parser) tableOperand() tree.Table {
	t := p.token()
	pos := tree.Position(t.pos)
	alias := p.aliasBefore()
	switch {
	case p.token().word == "(":
		return p.tableInParentheses(alias)
	case p.accept("lateral"):
		return p.lateral(pos)
	case p.token().word == "values" && p.ahead(1).word == "(":
		q := &tree.Query{Position: pos, Body: p.values()}
		s := &tree.Subquery{Position: pos, Query: q, Alias: p.aliasOr(alias)}
		if s.Alias.Name.Text == "" {
			p.failHere("a name for the table behind VALUES")
		}
		s.Sample = p.tableSample()
		return s
	case p.token().kind == textToken:
		f := &tree.File{Position: p.pos(), Path: p.take().text}
		f.Alias = p.aliasOr(alias)
		f.Sample = p.tableSample()
		return f
	}
	if only := p.token(); only.word == "only" {
		p.fail(only.pos, "ONLY is not supported: tables have no descendants")
	}
	if call := p.tableCall(); call != nil {
		return p.tableFunction(pos, call, alias)
	}
	name := &tree.TableName{Position: p.pos(), Name: p.qualifiedName("a table")}
	p.accept("*") // with its descendants, which no table has
	name.Alias = p.aliasOr(alias)
	name.Sample = p.tableSample()
	return name
}

// aliasBefore reads a name and a colon before a table.
func (p *parser) aliasBefore() (alias tree.Alias) {
	if t := p.token(); p.ahead(1).word == ":" && (t.isColumnName() || t.kind == textToken) {
		alias.Name = p.takeName()
		p.take()
	}
	return alias
}

// aliasOr returns an alias that stands before a table, or reads that behind it.
func (p *parser) aliasOr(before tree.Alias) tree.Alias {
	if before.Name.Text != "" {
		return before
	}
	return p.alias()
}

// alias reads the name of a table and its columns, if they are there.
func (p *parser) alias() (alias tree.Alias) {
	t := p.token()
	switch {
	case p.accept("as"):
		alias.Name = p.name("a name")
	case t.word == "at" && p.ahead(1).word == "(":
		p.fail(t.pos, "versions of tables are not supported: leave out AT (…)")
	case t.isColumnName() && !p.startsClause():
		p.noteAlias()
		alias.Name = p.takeName()
	default:
		p.at("a name")
		return alias
	}
	if open := p.token(); open.word == "(" {
		if name, next := p.ahead(1), p.ahead(2); name.isColumnName() && next.word != "," && next.word != ")" && next.kind == nameToken {
			p.fail(next.pos, "types of columns are not supported here: write a name")
		}
		alias.Columns = p.nameList("the name of a column")
	}
	return alias
}

// startsClause returns whether the current token is a word that may be a name, but begins a clause behind a table.
func (p *parser) startsClause() bool {
	return p.token().word == "with" || p.token().word == "window" || p.token().word == "qualify"
}

// tableInParentheses reads a query, or a table with joins, in parentheses.
func (p *parser) tableInParentheses(alias tree.Alias) tree.Table {
	pos := p.pos()
	if p.opensQuery() {
		return p.tableOfQuery(pos, alias)
	}
	p.expect("(")
	return p.joinInParentheses(pos, p.table(), alias)
}

// joinInParentheses moves behind the parenthesis after a join. A join with a name is a query.
func (p *parser) joinInParentheses(pos tree.Position, t tree.Table, before tree.Alias) tree.Table {
	if _, ok := t.(*tree.Join); !ok && p.at(")") {
		p.fail(int(pos), "only a join or a query has parentheses around it in FROM")
	}
	p.expect(")")
	alias := p.aliasOr(before)
	if alias.Name.Text == "" {
		return t
	}
	s := &tree.Select{Position: pos, Items: []tree.Item{{Expr: &tree.Star{Position: pos}}}, From: []tree.Table{t}}
	return &tree.Subquery{Position: pos, Query: &tree.Query{Position: pos, Body: s}, Alias: alias, Sample: p.tableSample()}
}

// tableOfQuery reads parentheses that begin with a query: the query is a table, or the first of a join.
func (p *parser) tableOfQuery(pos tree.Position, alias tree.Alias) tree.Table {
	p.enter()
	defer p.leave()
	p.expect("(")
	inner := p.pos()
	if p.token().word != "(" {
		q := p.innerQuery()
		p.expect(")")
		return p.subquery(pos, q, alias)
	}
	first := p.tableOfQuery(p.pos(), tree.Alias{})
	if s, ok := first.(*tree.Subquery); ok && s.Alias.Name.Text == "" && s.Sample == nil && p.continuesQuery() {
		outer := p.outerQuery(inner, s.Query)
		p.expect(")")
		return p.subquery(pos, outer, alias)
	}
	for next := p.joinOrPivot(first); next != nil; next = p.joinOrPivot(first) {
		first = next
	}
	return p.joinInParentheses(pos, first, alias)
}

// subquery reads the name and the sample behind a query in parentheses.
func (p *parser) subquery(pos tree.Position, q *tree.Query, alias tree.Alias) tree.Table {
	s := &tree.Subquery{Position: pos, Query: q}
	s.Alias = p.aliasOr(alias)
	s.Sample = p.tableSample()
	return s
}

// lateral reads the query or the function behind LATERAL.
func (p *parser) lateral(pos tree.Position) tree.Table {
	if p.token().word == "(" {
		s := &tree.Subquery{Position: pos, Lateral: true, Query: p.queryInParentheses()}
		s.Alias = p.alias()
		return s
	}
	call := p.tableCall()
	if call == nil {
		p.failHere("a query in parentheses, or a function")
	}
	f := p.tableFunction(pos, call, tree.Alias{}).(*tree.TableFunction)
	f.Lateral = true
	return f
}

// tableCall reads a function that yields rows. It returns nil if the current tokens are no call.
func (p *parser) tableCall() *tree.Call {
	n := 0
	for p.ahead(n+1).word == "." {
		n += 2
	}
	t := p.token()
	if p.ahead(n+1).word != "(" || !(t.isFunctionName() || n > 0 && t.isColumnName()) {
		return nil
	}
	call := &tree.Call{Position: tree.Position(t.pos), Name: []tree.Name{p.takeName()}}
	for p.accept(".") {
		call.Name = append(call.Name, p.label("a name"))
	}
	p.expect("(")
	if t := p.token(); t.word == "distinct" || t.word == "all" {
		p.fail(t.pos, upper(t.word)+" is not supported in a function that yields rows")
	}
	if !p.at(")") {
		p.arguments(call)
	}
	p.expect(")")
	return call
}

// tableFunction reads the clauses behind a function that yields rows.
func (p *parser) tableFunction(pos tree.Position, call *tree.Call, alias tree.Alias) tree.Table {
	f := &tree.TableFunction{Position: pos, Call: call, Ordinality: p.acceptWords("with", "ordinality")}
	if t := p.token(); t.word == "as" && p.ahead(1).word == "(" {
		p.fail(t.pos, "types of the columns of a function are not supported: write a name")
	}
	f.Alias = p.aliasOr(alias)
	f.Sample = p.tableSample()
	return f
}
