package parse

import (
	"strings"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// upper returns a keyword for a message.
func upper(word string) string { return strings.ToUpper(word) }

// selection reads SELECT with its clauses, or FROM with an optional SELECT.
func (p *parser) selection() tree.Body {
	s := &tree.Select{Position: p.pos()}
	switch {
	case p.accept("from"):
		s.From = p.tables()
		if p.accept("select") {
			p.selectItems(s)
		} else {
			s.Items = []tree.Item{{Expr: &tree.Star{Position: s.Position}}}
		}
	default:
		p.expect("select")
		p.selectItems(s)
		p.refuseInto()
		if p.accept("from") {
			s.From = p.tables()
		}
	}
	p.refuseInto()
	p.selectClauses(s)
	return s
}

// refuseInto refuses SELECT … INTO.
func (p *parser) refuseInto() {
	if t := p.token(); t.word == "into" {
		p.fail(t.pos, "SELECT INTO is not supported: write CREATE TABLE name AS SELECT …")
	}
}

// selectItems reads DISTINCT and the items.
func (p *parser) selectItems(s *tree.Select) {
	pos := p.pos()
	if p.accept("distinct") {
		s.Distinct = &tree.Distinct{Position: pos}
		if p.accept("on") {
			p.expect("(")
			s.Distinct.On = p.exprs(")")
			p.expect(")")
		}
	} else {
		p.accept("all")
	}
	if t := p.token(); t.word == "from" {
		p.fail(t.pos, "SELECT has no items before FROM: write * for all columns")
	}
	s.Items = p.items()
}

// items reads items with commas between them. A comma may stand behind the last one.
func (p *parser) items() []tree.Item {
	list := []tree.Item{p.item()}
	for p.accept(",") && p.startsItem() {
		list = append(list, p.item())
	}
	return list
}

// startsItem returns whether an item may begin at the current token.
func (p *parser) startsItem() bool {
	if t := p.token(); startsExpr(t) || t.word == "not" {
		return true
	}
	p.expected.note(p.next, "an expression")
	return false
}

// item reads an expression with its name, which may stand before a colon.
func (p *parser) item() tree.Item {
	if p.ahead(1).word == ":" && p.token().isColumnName() {
		name := p.takeName()
		p.take()
		return tree.Item{Expr: p.expr(), Name: name}
	}
	item := tree.Item{Expr: p.expr()}
	if p.accept("as") {
		if p.token().kind == textToken {
			item.Name = p.takeName()
		} else {
			item.Name = p.label("a name")
		}
		return item
	}
	if t := p.token(); t.kind == quotedToken || t.kind == nameToken && t.class == notKeyword {
		p.noteAlias()
		item.Name = p.takeName()
	}
	return item
}

// selectClauses reads the clauses behind FROM.
func (p *parser) selectClauses(s *tree.Select) {
	if p.accept("where") {
		s.Where = p.expr()
	}
	if pos := p.pos(); p.accept("group") {
		p.expect("by")
		s.GroupBy = p.groupBy(pos)
	}
	if p.accept("having") {
		s.Having = p.expr()
	}
	if p.accept("window") {
		s.Windows = p.windows()
	}
	if p.accept("qualify") {
		s.Qualify = p.expr()
	}
	if p.acceptWords("using", "sample") {
		s.Sample = p.sample()
	}
	p.checkClauses(s)
}

// checkClauses refuses clauses of SELECT that stand behind others that belong behind them.
func (p *parser) checkClauses(s *tree.Select) {
	t := p.token()
	before := ""
	switch t.word {
	case "from":
		before = "WHERE"
	case "where":
		before = "GROUP BY"
	case "group":
		before = "HAVING"
	case "having":
		before = "WINDOW"
	case "window":
		before = "QUALIFY"
	default:
		return
	}
	set := map[string]bool{
		"from": s.From != nil, "where": s.Where != nil, "group": s.GroupBy != nil, "having": s.Having != nil,
		"window": s.Windows != nil,
	}
	if set[t.word] {
		p.fail(t.pos, "a second "+clauseName(t.word)+": the query has one, or a parenthesis before it is not closed")
	}
	p.fail(t.pos, clauseName(t.word)+" has to stand before "+before+" and the clauses behind it")
}

// windows reads the windows of the WINDOW clause.
func (p *parser) windows() (windows []tree.NamedWindow) {
	for {
		if !p.token().isColumnName() {
			p.failHere("the name of a window")
		}
		name := p.takeName()
		p.expect("as")
		windows = append(windows, tree.NamedWindow{Name: name, Window: p.window()})
		if !p.accept(",") {
			return windows
		}
	}
}

// groupBy reads the keys of GROUP BY.
func (p *parser) groupBy(pos tree.Position) *tree.GroupBy {
	g := &tree.GroupBy{Position: pos}
	if p.accept("all") {
		g.All = true
		return g
	}
	g.Keys = p.groupKeys()
	return g
}

// groupKeys reads keys with commas between them. A comma may stand behind the last one.
func (p *parser) groupKeys() []tree.GroupKey {
	keys := []tree.GroupKey{p.groupKey()}
	for p.accept(",") && p.startsItem() {
		keys = append(keys, p.groupKey())
	}
	return keys
}

// groupKey reads an expression, a list in parentheses, ROLLUP, CUBE or GROUPING SETS.
func (p *parser) groupKey() tree.GroupKey {
	p.enter()
	defer p.leave()
	key := tree.GroupKey{Position: p.pos()}
	switch t := p.token(); {
	case t.word == "(" && p.ahead(1).word == ")":
		p.take()
		p.take()
		key.Kind = tree.KeySet
		return key
	case (t.word == "rollup" || t.word == "cube") && p.ahead(1).word == "(":
		key.Kind = tree.KeyRollup
		if t.word == "cube" {
			key.Kind = tree.KeyCube
		}
		p.take()
		p.take()
		key.Exprs = p.exprs(")")
		p.expect(")")
		return key
	case t.word == "grouping" && p.ahead(1).word == "sets":
		p.take()
		p.take()
		p.expect("(")
		key.Kind = tree.KeySets
		key.Sets = p.groupKeys()
		p.expect(")")
		return key
	}
	row := p.token().word != "row"
	e := p.expr()
	if list, ok := e.(*tree.Row); ok && row {
		key.Kind, key.Exprs = tree.KeySet, list.Items
		return key
	}
	key.Exprs = []tree.Expr{e}
	return key
}

// values reads VALUES. A comma may stand behind the last row.
func (p *parser) values() tree.Body {
	v := &tree.Values{Position: p.pos()}
	p.take()
	for {
		p.expect("(")
		v.Rows = append(v.Rows, p.exprs(")"))
		p.expect(")")
		if !p.accept(",") || !p.at("(") {
			return v
		}
	}
}

// wholeTable reads TABLE name.
func (p *parser) wholeTable() tree.Body {
	pos := p.pos()
	p.take()
	table := &tree.TableName{Position: p.pos(), Name: p.qualifiedName("the name of a table")}
	return &tree.Select{
		Position: pos, Items: []tree.Item{{Expr: &tree.Star{Position: pos}}}, From: []tree.Table{table},
	}
}
