package parse

import "github.com/gpuframe/gpuframe/sql/tree"

// queryWords are the keywords with which a query begins.
var queryWords = map[string]bool{
	"select": true, "with": true, "from": true, "values": true, "table": true, "pivot": true,
	"pivot_wider": true, "unpivot": true, "pivot_longer": true,
}

// describeWords are the keywords with which a description begins, which is a query in parentheses.
var describeWords = map[string]bool{"describe": true, "desc": true, "show": true, "summarize": true}

// startsQuery returns whether a query begins at the token that is n tokens behind the current one.
func (p *parser) startsQuery(n int) bool {
	t := p.ahead(n)
	if t.word == "values" {
		return p.ahead(n+1).word == "("
	}
	return queryWords[t.word]
}

// opensQuery returns whether the parentheses at the current token have a query as their first form.
func (p *parser) opensQuery() bool {
	if p.token().word != "(" {
		return false
	}
	if p.next >= p.opened { // not within the parentheses of the last call
		for p.opened = p.next; p.tokens[p.opened].word == "("; p.opened++ {
		}
	}
	n := p.opened - p.next
	return p.startsQuery(n) || describeWords[p.ahead(n).word]
}

// query reads a query with its clauses.
func (p *parser) query() *tree.Query {
	p.enter()
	defer p.leave()
	q := &tree.Query{Position: p.pos(), With: p.with()}
	q.Body = p.moreSets(p.body(), loosestSet)
	p.queryClauses(q)
	return p.merged(q)
}

// merged returns a query with a body in parentheses as one query: the clauses of both belong to it, so
// that (SELECT … LIMIT 1) ORDER BY a sorts before it limits, as in PostgreSQL.
func (p *parser) merged(q *tree.Query) *tree.Query {
	nested, ok := q.Body.(*tree.Nested)
	if !ok {
		return q
	}
	inner := nested.Query
	clause := ""
	switch {
	case q.With != nil && inner.With != nil:
		clause = "WITH"
	case q.OrderBy != nil && inner.OrderBy != nil:
		clause = "ORDER BY"
	case q.Limit != nil && inner.Limit != nil:
		clause = "LIMIT"
	case q.Offset != nil && inner.Offset != nil:
		clause = "OFFSET"
	}
	if clause != "" {
		p.fail(int(nested.Position), "the query has "+clause+" within its parentheses and outside: write SELECT * FROM (…)")
	}
	both := *inner
	if q.With != nil {
		both.With = q.With
	}
	if q.OrderBy != nil {
		both.OrderBy = q.OrderBy
	}
	if q.Limit != nil {
		both.Limit, both.Percent = q.Limit, q.Percent
	}
	if q.Offset != nil {
		both.Offset = q.Offset
	}
	return &both
}

// The precedences of set operations.
const (
	loosestSet = iota
	unionLevel
	intersectLevel
)

// setLevel returns the level of the current token as a set operation, 0 for other tokens.
func (p *parser) setLevel() int {
	switch {
	case p.at("union"), p.at("except"):
		return unionLevel
	case p.at("intersect"):
		return intersectLevel
	}
	return loosestSet
}

// moreSets reads the set operations behind a body that are tighter than a level.
func (p *parser) moreSets(left tree.Body, level int) tree.Body {
	for {
		next := p.setLevel()
		if next <= level {
			return left
		}
		t := p.take()
		s := &tree.SetOperation{Position: tree.Position(t.pos), Left: left}
		switch t.word {
		case "intersect":
			s.Kind = tree.Intersect
		case "except":
			s.Kind = tree.Except
		}
		s.All = p.accept("all")
		if !s.All {
			p.accept("distinct")
		}
		if by := p.token(); p.accept("by") {
			p.expect("name")
			if s.Kind != tree.Union {
				p.fail(by.pos, "only UNION has BY NAME")
			}
			s.ByName = true
		}
		s.Right = p.moreSets(p.body(), next)
		left = s
	}
}

// body reads a body without set operations.
func (p *parser) body() tree.Body {
	p.enter()
	defer p.leave()
	t := p.token()
	switch {
	case t.word == "(":
		if !p.opensQuery() {
			if before := p.tokens[max(0, p.next-1)]; before.word == "except" {
				p.fail(before.pos, "EXCEPT needs a query: columns of * are left out with EXCLUDE (…)")
			}
			p.next++
			p.failHere("a query such as SELECT")
		}
		return bodyOf(tree.Position(t.pos), p.queryInParentheses())
	case p.at("select"), p.at("from"):
		return p.selection()
	case p.at("values"):
		return p.values()
	case p.at("table"):
		return p.wholeTable()
	case t.word == "pivot" || t.word == "pivot_wider":
		return p.pivotBody()
	case t.word == "unpivot" || t.word == "pivot_longer":
		return p.unpivotBody()
	}
	p.failHere("")
	return nil
}

// bodyOf returns the body of a query in parentheses.
func bodyOf(pos tree.Position, q *tree.Query) tree.Body {
	if q.With == nil && q.OrderBy == nil && q.Limit == nil && q.Offset == nil {
		return q.Body
	}
	return &tree.Nested{Position: pos, Query: q}
}

// queryInParentheses reads a query in one or more parentheses.
func (p *parser) queryInParentheses() *tree.Query {
	if !p.at("(") {
		p.failHere("")
	}
	q, items := p.parenthesized()
	if q == nil {
		p.fail(int(items[0].Pos()), "expected a query in the parentheses, such as SELECT")
	}
	return q
}

// parenthesized reads a query, an expression, or several expressions in parentheses. Parentheses around a query
// in parentheses belong to the query unless an operator follows it.
func (p *parser) parenthesized() (*tree.Query, []tree.Expr) { return p.inParentheses(false) }

// inParentheses is parenthesized. A comma may stand behind the last item of a list.
func (p *parser) inParentheses(list bool) (*tree.Query, []tree.Expr) {
	open := p.expect("(")
	if t := p.token(); t.kind == endToken || t.word == ";" {
		p.fail(open.pos, "the parenthesis is not closed: expected an expression or a query, and )")
	}
	var items []tree.Expr
	switch {
	case p.startsQuery(0) || describeWords[p.token().word]:
		q := p.innerQuery()
		p.expect(")")
		return q, nil
	case p.token().word == "(" && p.opensQuery():
		pos := p.pos()
		p.enter()
		q, inner := p.inParentheses(false)
		p.leave()
		if q != nil && p.continuesQuery() {
			q = p.outerQuery(pos, q)
			p.expect(")")
			return q, nil
		}
		items = append(items, p.behindParentheses(pos, q, inner))
	default:
		items = append(items, p.expr())
	}
	for p.accept(",") && !(list && p.at(")")) {
		items = append(items, p.expr())
	}
	p.expect(")")
	return nil, items
}

// outerQuery reads the set operations and clauses behind a query in parentheses.
func (p *parser) outerQuery(pos tree.Position, q *tree.Query) *tree.Query {
	outer := &tree.Query{Position: pos, Body: p.moreSets(bodyOf(pos, q), loosestSet)}
	p.queryClauses(outer)
	return p.merged(outer)
}

// innerQuery reads a query or a description behind a parenthesis.
func (p *parser) innerQuery() *tree.Query {
	if describeWords[p.token().word] {
		pos := p.pos()
		return &tree.Query{Position: pos, Body: p.description()}
	}
	return p.query()
}

// continuesQuery returns whether the current token goes on with a query in parentheses, or ends the parentheses
// around it.
func (p *parser) continuesQuery() bool {
	switch p.token().word {
	case ")", "union", "except", "intersect", "order", "limit", "offset", "fetch":
		return true
	}
	return false
}

// behindParentheses reads the rest of an expression that begins with parentheses.
func (p *parser) behindParentheses(pos tree.Position, q *tree.Query, items []tree.Expr) tree.Expr {
	var e tree.Expr
	switch {
	case q != nil:
		e = &tree.Scalar{Position: pos, Query: q}
	case len(items) == 1:
		e = items[0]
	default:
		e = p.overlaps(&tree.Row{Position: pos, Items: items})
	}
	return p.continueExpr(p.behind(e, methodSuffix), loosest, false)
}

// with reads WITH, if it is there.
func (p *parser) with() *tree.With {
	w := &tree.With{Position: p.pos()}
	if !p.accept("with") {
		return nil
	}
	if next := p.ahead(1).word; next != "as" && next != "(" {
		w.Recursive = p.accept("recursive")
	}
	for {
		w.Tables = append(w.Tables, p.commonTable())
		if !p.accept(",") {
			return w
		}
	}
}

// commonTable reads a named query of WITH.
func (p *parser) commonTable() tree.CommonTable {
	c := tree.CommonTable{Name: p.name("the name of a query")}
	if p.at("(") {
		c.Columns = p.nameList("the name of a column")
	}
	if t := p.token(); t.word == "using" {
		p.fail(t.pos, "USING KEY of recursive queries is not supported")
	}
	p.expect("as")
	if p.accept("materialized") {
		yes := true
		c.Materialized = &yes
	} else if p.acceptWords("not", "materialized") {
		no := false
		c.Materialized = &no
	}
	p.expect("(")
	if t := p.token(); modifyingWords[t.word] {
		p.fail(t.pos, "a query of WITH has to be a SELECT")
	}
	c.Query = p.query()
	p.expect(")")
	return c
}

// modifyingWords are the keywords of statements that change tables.
var modifyingWords = map[string]bool{"insert": true, "update": true, "delete": true, "merge": true}

// queryClauses reads ORDER BY, LIMIT and OFFSET.
func (p *parser) queryClauses(q *tree.Query) {
	q.OrderBy = p.orderBy()
	for {
		t := p.token()
		switch {
		case p.at("limit"), p.at("fetch"):
			if q.Limit != nil {
				p.fail(t.pos, "the query has two limits")
			}
			p.limit(q)
		case p.at("offset"):
			if q.Offset != nil {
				p.fail(t.pos, "the query has two offsets")
			}
			p.offset(q)
		default:
			p.checkOrder(q)
			return
		}
	}
}

// checkOrder refuses clauses that stand behind ORDER BY or LIMIT but belong before them.
func (p *parser) checkOrder(q *tree.Query) {
	t := p.token()
	switch t.word {
	case "where", "group", "having", "window", "qualify", "from":
		if q.OrderBy != nil || q.Limit != nil || q.Offset != nil {
			p.fail(t.pos, clauseName(t.word)+" has to stand before ORDER BY, LIMIT and OFFSET")
		}
	case "order":
		if q.Limit != nil || q.Offset != nil {
			p.fail(t.pos, "ORDER BY has to stand before LIMIT and OFFSET")
		}
	case "union", "except", "intersect":
		p.fail(t.pos, "a query with ORDER BY, LIMIT or OFFSET has to stand in parentheses before "+upper(t.word))
	case "for":
		p.fail(t.pos, "locks of rows such as FOR UPDATE are not supported")
	}
}

// clauseName returns the name of the clause that a keyword begins.
func clauseName(word string) string {
	if word == "group" {
		return "GROUP BY"
	}
	return upper(word)
}

// limit reads LIMIT or FETCH.
func (p *parser) limit(q *tree.Query) {
	if p.accept("fetch") {
		if !p.accept("first") {
			p.expect("next")
		}
		q.Limit = p.fetchCount()
		p.expect("only")
		return
	}
	p.take()
	pos := p.pos()
	if p.accept("all") {
		q.Limit = &tree.Literal{Position: pos, Kind: tree.Null}
		return
	}
	q.Limit = p.limitCount()
	number, ok := q.Limit.(*tree.Literal)
	if t := p.token(); t.word == "%" || t.word == "percent" && ok && number.Kind >= tree.Integer && number.Kind <= tree.Float {
		p.take()
		q.Percent = true
	} else if t.word == "," {
		p.fail(t.pos, "LIMIT has one number: write LIMIT and OFFSET")
	}
}

// limitCount reads the number of LIMIT. A % without an operand behind it is no operator.
func (p *parser) limitCount() tree.Expr {
	outer := p.percent
	p.percent = true
	e := p.expr()
	p.percent = outer
	return e
}

// fetchCount reads the number of FETCH with ROW or ROWS behind it. It is 1 if the text has none.
func (p *parser) fetchCount() tree.Expr {
	pos := p.pos()
	if p.accept("row") || p.accept("rows") {
		return &tree.Literal{Position: pos, Kind: tree.Integer, Text: "1"}
	}
	e := p.prefixed(true)
	if !p.accept("row") {
		p.expect("rows")
	}
	return e
}

// offset reads OFFSET.
func (p *parser) offset(q *tree.Query) {
	p.take()
	q.Offset = p.expr()
	if !p.accept("row") {
		p.accept("rows")
	}
}

// orderBy reads ORDER BY, if it is there.
func (p *parser) orderBy() *tree.OrderBy {
	o := &tree.OrderBy{Position: p.pos()}
	if !p.accept("order") {
		return nil
	}
	p.expect("by")
	if p.token().word == "all" {
		p.take()
		o.All = true
		o.Keys = []tree.OrderKey{p.orderKey(nil)}
		return o
	}
	for {
		o.Keys = append(o.Keys, p.orderKey(p.expr()))
		if !p.accept(",") {
			return o
		}
	}
}

// orderKey reads the way of a key of ORDER BY.
func (p *parser) orderKey(e tree.Expr) tree.OrderKey {
	key := tree.OrderKey{Expr: e}
	if t := p.token(); t.word == "using" && e != nil && p.ahead(1).word != "sample" {
		p.fail(t.pos, "ORDER BY has no operators: write ASC or DESC")
	}
	if !p.accept("asc") {
		key.Descending = p.accept("desc")
	}
	switch {
	case p.acceptWords("nulls", "first"):
		key.Nulls = tree.NullsFirst
	case p.acceptWords("nulls", "last"):
		key.Nulls = tree.NullsLast
	}
	return key
}
