package parse

import "github.com/gpuframe/gpuframe/sql/tree"

// call reads the arguments of a function and the clauses behind them. A text behind the arguments makes them
// the parameters of its type.
func (p *parser) call(pos tree.Position, names []tree.Name) (e tree.Expr, s suffix) {
	call := &tree.Call{Position: pos, Name: names}
	p.expect("(")
	if !p.accept(")") {
		if p.accept("distinct") {
			call.Distinct = true
		} else {
			p.accept("all")
		}
		if p.token().word != "order" || call.Distinct {
			p.arguments(call)
		}
		call.OrderBy = p.orderBy()
		nulls := p.token()
		call.IgnoreNulls = p.ignoreNulls()
		if p.expect(")"); p.token().word != "over" && nulls.word != ")" {
			p.fail(nulls.pos, "IGNORE NULLS and RESPECT NULLS need a window: add OVER (…)")
		}
	}
	if text := p.token(); text.kind == textToken && len(call.Args) > 0 {
		return p.typedTextOf(call), noSuffix
	}
	p.callClauses(call)
	return call, methodSuffix
}

// arguments reads the arguments of a call, with their names if they have some.
func (p *parser) arguments(call *tree.Call) {
	for {
		arg := tree.Arg{}
		if t := p.token(); t.word == "variadic" {
			p.fail(t.pos, "VARIADIC is not supported: list the arguments")
		}
		if op := p.ahead(1).word; (op == ":=" || op == "=>") && p.token().isArgumentName() {
			arg.Name = p.takeName()
			p.take()
		}
		arg.Expr = arrowLambda(p.expr())
		call.Args = append(call.Args, arg)
		if !p.accept(",") {
			break
		}
	}
	if star, ok := call.Args[0].Expr.(*tree.Star); ok && len(call.Args) == 1 && call.Args[0].Name.Text == "" &&
		star.Table == nil && star.Exclude == nil && star.Replace == nil && star.Rename == nil && star.Like == nil {
		call.Args, call.Star = nil, true
	}
}

// isArgumentName returns whether a token may be the name of an argument.
func (t *token) isArgumentName() bool {
	return t.kind == quotedToken || t.kind == nameToken && t.class != columnWord && t.class != reserved
}

// ignoreNulls reads IGNORE NULLS or RESPECT NULLS.
func (p *parser) ignoreNulls() bool {
	if p.acceptWords("ignore", "nulls") {
		return true
	}
	p.acceptWords("respect", "nulls")
	return false
}

// callClauses reads WITHIN GROUP, FILTER and OVER.
func (p *parser) callClauses(call *tree.Call) {
	if t := p.token(); p.acceptWords("within", "group") {
		if call.OrderBy != nil || call.Distinct {
			p.fail(t.pos, "a call with WITHIN GROUP has no DISTINCT and no other ORDER BY")
		}
		p.expect("(")
		if !p.at("order") {
			p.failHere("")
		}
		call.Within = p.orderBy()
		p.expect(")")
	}
	if p.token().word == "filter" && p.ahead(1).word == "(" {
		p.take()
		p.take()
		p.accept("where")
		call.Filter = p.expr()
		p.expect(")")
	}
	if t := p.token(); t.word == "export_state" {
		p.fail(t.pos, "EXPORT_STATE is not supported")
	}
	if p.token().word == "over" {
		p.take()
		if t := p.token(); t.word != "(" && !t.isColumnName() {
			p.failHere("a window in parentheses, or the name of one")
		}
		call.Over = p.over()
	}
}

// specialCalls read the functions that have words between their arguments, or other special forms.
var specialCalls map[string]func(*parser) tree.Expr

func init() {
	specialCalls = map[string]func(*parser) tree.Expr{
		"cast": (*parser).cast, "try_cast": (*parser).cast, "extract": (*parser).extract,
		"overlay": (*parser).overlay, "position": (*parser).position, "substring": (*parser).substring,
		"trim": (*parser).trim, "coalesce": (*parser).listCall, "grouping": (*parser).listCall,
		"grouping_id": (*parser).listCall, "nullif": (*parser).nullIf, "unpack": (*parser).unpack,
	}
}

// startCall moves behind the name and the parenthesis of a special call, and returns it under a name.
func (p *parser) startCall(name string) *tree.Call {
	t := p.take()
	p.expect("(")
	return &tree.Call{Position: tree.Position(t.pos), Name: []tree.Name{{Position: tree.Position(t.pos), Text: name}}}
}

// addArgs appends arguments to a call.
func addArgs(call *tree.Call, list ...tree.Expr) {
	for _, e := range list {
		call.Args = append(call.Args, tree.Arg{Expr: e})
	}
}

// cast reads CAST or TRY_CAST.
func (p *parser) cast() tree.Expr {
	t := p.take()
	e := &tree.Cast{Position: tree.Position(t.pos), Try: t.word == "try_cast"}
	p.expect("(")
	e.X = p.expr()
	p.expect("as")
	e.Type = p.typeName()
	p.expect(")")
	return e
}

// extract reads EXTRACT(year FROM x).
func (p *parser) extract() tree.Expr {
	call := p.startCall("date_part")
	t := p.token()
	if t.kind != textToken && t.kind != quotedToken && (t.kind != nameToken || t.class != notKeyword && units[t.word] == "") {
		p.failHere("a part of a time, such as year")
	}
	p.take()
	part := t.text
	if t.kind == nameToken && units[t.word] != "" {
		part = units[t.word]
	}
	p.expect("from")
	addArgs(call, &tree.Literal{Position: tree.Position(t.pos), Kind: tree.Text, Text: part}, p.expr())
	p.expect(")")
	return call
}

// overlay reads OVERLAY(x PLACING y FROM 1 FOR 2).
func (p *parser) overlay() tree.Expr {
	call := p.startCall("overlay")
	addArgs(call, p.expr())
	p.expect("placing")
	addArgs(call, p.expr())
	p.expect("from")
	addArgs(call, p.expr())
	if p.accept("for") {
		addArgs(call, p.expr())
	}
	p.expect(")")
	return call
}

// position reads POSITION(x IN y).
func (p *parser) position() tree.Expr {
	call := p.startCall("position")
	addArgs(call, p.restricted())
	p.expect("in")
	addArgs(call, p.restricted())
	p.expect(")")
	return call
}

// substring reads SUBSTRING(x FROM 1 FOR 2) or SUBSTRING(x, 1, 2).
func (p *parser) substring() tree.Expr {
	call := p.startCall("substring")
	if p.accept(")") {
		return call
	}
	addArgs(call, p.expr())
	switch t := p.token(); {
	case p.accept("from"):
		addArgs(call, p.expr())
		if p.accept("for") {
			addArgs(call, p.expr())
		}
	case p.accept("for"):
		length := p.expr()
		if p.accept("from") {
			addArgs(call, p.expr(), length)
			break
		}
		pos := tree.Position(t.pos)
		addArgs(call, &tree.Literal{Position: pos, Kind: tree.Integer, Text: "1"},
			&tree.Cast{Position: pos, X: length, Type: &tree.Type{Position: pos, Name: "integer"}})
	default:
		for p.accept(",") {
			addArgs(call, p.expr())
		}
	}
	p.expect(")")
	return call
}

// trim reads TRIM(BOTH x FROM y) and its shorter forms.
func (p *parser) trim() tree.Expr {
	call := p.startCall("trim")
	switch {
	case p.accept("leading"):
		call.Name[0].Text = "ltrim"
	case p.accept("trailing"):
		call.Name[0].Text = "rtrim"
	default:
		p.accept("both")
	}
	if p.accept("from") {
		addArgs(call, p.exprs(")")...)
		p.expect(")")
		return call
	}
	first := p.expr()
	if p.accept("from") {
		addArgs(call, p.exprs(")")...)
		addArgs(call, first)
		p.expect(")")
		return call
	}
	addArgs(call, first)
	for p.accept(",") && !p.at(")") {
		addArgs(call, p.expr())
	}
	p.expect(")")
	return call
}

// listCall reads COALESCE, GROUPING or GROUPING_ID.
func (p *parser) listCall() tree.Expr {
	call := p.startCall(p.token().word)
	addArgs(call, p.exprs(")")...)
	p.expect(")")
	return call
}

// nullIf reads NULLIF.
func (p *parser) nullIf() tree.Expr {
	call := p.startCall("nullif")
	addArgs(call, p.expr())
	p.expect(",")
	addArgs(call, p.expr())
	p.expect(")")
	return call
}

// columns reads COLUMNS(…).
func (p *parser) columns() tree.Expr {
	e := &tree.Columns{Position: p.pos()}
	p.take()
	p.expect("(")
	e.Of = arrowLambda(p.expr())
	p.expect(")")
	return e
}

// unpack refuses UNPACK(…).
func (p *parser) unpack() tree.Expr {
	p.fail(p.token().pos, "UNPACK is not supported: write *COLUMNS(…)")
	return nil
}
