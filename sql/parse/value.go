package parse

import "github.com/gpuframe/gpuframe/sql/tree"

// exprs reads expressions with commas between them, up to a symbol. A comma may stand before the symbol.
func (p *parser) exprs(end string) []tree.Expr {
	list := []tree.Expr{p.expr()}
	for p.accept(",") && !p.at(end) {
		list = append(list, p.expr())
	}
	return list
}

// list reads [a, b] or [value for variable in list if condition].
func (p *parser) list() tree.Expr {
	pos := p.pos()
	p.expect("[")
	if p.accept("]") {
		return &tree.List{Position: pos}
	}
	first := p.expr()
	if p.token().word == "for" {
		return p.comprehension(pos, first)
	}
	items := []tree.Expr{first}
	for p.accept(",") && !p.at("]") {
		items = append(items, p.expr())
	}
	p.expect("]")
	return &tree.List{Position: pos, Items: items}
}

// comprehension reads the rest of a comprehension behind its value.
func (p *parser) comprehension(pos tree.Position, value tree.Expr) tree.Expr {
	p.expect("for")
	e := &tree.Comprehension{Position: pos, Value: value, Variables: []tree.Name{p.name("the name of a variable")}}
	for p.accept(",") {
		e.Variables = append(e.Variables, p.name("the name of a variable"))
	}
	p.expect("in")
	list := p.prefixed(false)
	e.Of = p.continueExpr(list, loosest, false)
	if t := p.token(); p.accept("if") {
		if e.Of != list {
			p.fail(t.pos, "the list before IF needs parentheses around it")
		}
		e.If = p.expr()
	}
	p.expect("]")
	return e
}

// structure reads {'name': value, …}.
func (p *parser) structure() tree.Expr {
	e := &tree.Struct{Position: p.pos()}
	p.expect("{")
	for {
		name := p.name("the name of a field")
		p.expect(":")
		e.Fields = append(e.Fields, tree.Field{Name: name, Value: p.expr()})
		if !p.accept(",") || p.at("}") {
			break
		}
	}
	p.expect("}")
	return e
}

// mapping reads MAP {key: value, …}.
func (p *parser) mapping() tree.Expr {
	e := &tree.Map{Position: p.pos()}
	p.take()
	p.expect("{")
	for !p.at("}") {
		e.Keys = append(e.Keys, p.expr())
		p.expect(":")
		e.Values = append(e.Values, p.expr())
		if !p.accept(",") {
			break
		}
	}
	p.expect("}")
	return e
}

// row reads ROW(a, b).
func (p *parser) row() tree.Expr {
	e := &tree.Row{Position: p.pos()}
	p.take()
	p.expect("(")
	if !p.at(")") {
		e.Items = p.exprs(")")
	}
	p.expect(")")
	return p.overlaps(e)
}

// overlaps reads OVERLAPS and a row behind a row, if they are there.
func (p *parser) overlaps(left *tree.Row) tree.Expr {
	if p.token().word != "overlaps" {
		return left
	}
	t := p.take()
	other := p.token()
	if other.word == "row" {
		p.take()
	}
	_, items := p.parenthesized()
	if len(left.Items) != 2 || len(items) != 2 {
		p.fail(t.pos, "OVERLAPS compares two rows of two values: (a, b) OVERLAPS (c, d)")
	}
	call := &tree.Call{Position: left.Position, Name: []tree.Name{{Position: tree.Position(t.pos), Text: "overlaps"}}}
	for _, e := range append(append([]tree.Expr{}, left.Items...), items...) {
		call.Args = append(call.Args, tree.Arg{Expr: e})
	}
	return call
}

// array reads ARRAY[a, b] or ARRAY(query).
func (p *parser) array() tree.Expr {
	pos := p.pos()
	p.take()
	if p.at("(") {
		return &tree.Scalar{Position: pos, Query: p.queryInParentheses(), Array: true}
	}
	p.expect("[")
	e := &tree.List{Position: pos, Array: true}
	if !p.at("]") {
		e.Items = p.exprs("]")
	}
	p.expect("]")
	return e
}

// caseOf reads CASE.
func (p *parser) caseOf() tree.Expr {
	e := &tree.Case{Position: p.pos()}
	p.take()
	if !p.at("when") {
		e.X = p.expr()
	}
	for p.accept("when") {
		branch := tree.Branch{When: p.expr()}
		p.expect("then")
		branch.Then = p.expr()
		e.Branches = append(e.Branches, branch)
	}
	if len(e.Branches) == 0 {
		p.failHere("")
	}
	if p.accept("else") {
		e.Else = p.expr()
	}
	p.expect("end")
	return e
}

// units are the units of intervals in every form, with the form of the tree.
var units = map[string]string{
	"year": "year", "years": "year", "month": "month", "months": "month", "day": "day", "days": "day",
	"hour": "hour", "hours": "hour", "minute": "minute", "minutes": "minute", "second": "second",
	"seconds": "second", "millisecond": "millisecond", "milliseconds": "millisecond",
	"microsecond": "microsecond", "microseconds": "microsecond", "week": "week", "weeks": "week",
	"quarter": "quarter", "quarters": "quarter", "decade": "decade", "decades": "decade",
	"century": "century", "centuries": "century", "millennium": "millennium", "millennia": "millennium",
}

// interval reads INTERVAL with a text, a number or an expression in parentheses, and a unit. It returns nil if
// the word is a name.
func (p *parser) interval() tree.Expr {
	e := &tree.Interval{Position: p.pos()}
	switch next := p.ahead(1); {
	case next.kind == textToken, next.kind == numberToken:
		p.take()
		if next.kind == numberToken && numberKind(next.text) != tree.Integer {
			p.failHere("a whole number, a text, or an expression in parentheses")
		}
		p.take()
		e.Value = &tree.Literal{Position: tree.Position(next.pos), Kind: tree.Integer, Text: next.text}
		if next.kind == textToken {
			e.Value.(*tree.Literal).Kind = tree.Text
		}
	case next.word == "(":
		p.take()
		p.take()
		e.Value = p.expr()
		p.expect(")")
	default:
		return nil
	}
	if unit := units[p.token().word]; unit != "" {
		p.take()
		e.Unit = unit
		if t := p.token(); t.word == "to" && units[p.ahead(1).word] != "" {
			p.fail(t.pos, "intervals from one unit to another are not supported: write units into the text, such as '1 year 2 months'")
		}
	}
	return e
}
