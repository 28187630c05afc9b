package parse

import "github.com/gpuframe/gpuframe/sql/tree"

// The precedences of operators, from the loosest. An operator takes operands with tighter ones.
const (
	loosest = iota
	arrowLevel
	orLevel
	andLevel
	notLevel
	notNullLevel // x NOT NULL
	isLevel
	comparisonLevel
	matchLevel // BETWEEN, IN, LIKE and others
	escapeLevel
	postfixLevel
	operatorLevel // operators that are no keywords and have no other level
	sumLevel
	productLevel
	powerLevel
	zoneLevel
	collateLevel
	signLevel
	castLevel
)

// levels are the precedences of keywords and symbols behind an expression.
var levels = map[string]int{
	"->": arrowLevel, "->>": arrowLevel, "or": orLevel, "and": andLevel,
	"is": isLevel, "isnull": isLevel, "notnull": isLevel,
	"<": comparisonLevel, ">": comparisonLevel, "=": comparisonLevel, "<=": comparisonLevel,
	">=": comparisonLevel, "<>": comparisonLevel,
	"between": matchLevel, "in": matchLevel, "glob": matchLevel, "like": matchLevel, "ilike": matchLevel,
	"similar": matchLevel, "operator": operatorLevel,
	"+": sumLevel, "-": sumLevel, "*": productLevel, "/": productLevel, "//": productLevel, "%": productLevel,
	"^": powerLevel, "**": powerLevel, "at": zoneLevel, "collate": collateLevel, "::": castLevel,
}

// restrictedWords are the operators that restricted expressions do not have: the low end of BETWEEN and the
// arguments of POSITION, where AND and IN have another meaning.
var restrictedWords = map[string]bool{
	"->": true, "->>": true, "or": true, "and": true, "isnull": true, "notnull": true, "not": true,
	"between": true, "in": true, "glob": true, "like": true, "ilike": true, "similar": true,
	"at": true, "collate": true,
}

// expr reads an expression.
func (p *parser) expr() tree.Expr { return p.exprAbove(loosest, false) }

// restricted reads an expression without AND, OR, NOT, IN and others at its top.
func (p *parser) restricted() tree.Expr { return p.exprAbove(loosest, true) }

// exprAbove reads an expression of operators that are tighter than a level.
func (p *parser) exprAbove(level int, restricted bool) tree.Expr {
	p.enter()
	defer p.leave()
	return p.continueExpr(p.prefixed(restricted), level, restricted)
}

// continueExpr reads the operators behind an expression that are tighter than a level.
func (p *parser) continueExpr(left tree.Expr, level int, restricted bool) tree.Expr {
	for {
		next := p.infixLevel(restricted)
		if next <= level {
			return left
		}
		left = p.infix(left, next, restricted)
	}
}

// infixLevel returns the level of the current token as an operator behind an expression, 0 for other tokens.
func (p *parser) infixLevel(restricted bool) int {
	t := p.token()
	if t.kind == operatorToken {
		return operatorLevel
	}
	if restricted && restrictedWords[t.word] {
		return loosest
	}
	level := levels[t.word]
	switch t.word {
	case "%":
		if p.percent && !startsExpr(p.ahead(1)) {
			level = loosest
		}
	case "not":
		switch p.ahead(1).word {
		case "null":
			level = notNullLevel
		case "between", "in", "like", "ilike", "similar", "glob":
			level = matchLevel
		}
	case "operator":
		if p.ahead(1).word != "(" {
			level = loosest
		}
	case "is":
		if restricted && !p.isDistinct() {
			level = loosest
		}
	}
	return level
}

// isDistinct returns whether the current tokens are IS [NOT] DISTINCT.
func (p *parser) isDistinct() bool {
	return p.ahead(1).word == "distinct" || p.ahead(1).word == "not" && p.ahead(2).word == "distinct"
}

// prefixed reads an operand with the operators before it.
func (p *parser) prefixed(restricted bool) tree.Expr {
	t := p.token()
	pos := tree.Position(t.pos)
	switch {
	case t.word == "not" && !restricted:
		p.take()
		return &tree.Unary{Position: pos, Op: "not", X: p.exprAbove(notLevel, false)}
	case t.word == "+" || t.word == "-":
		p.take()
		return &tree.Unary{Position: pos, Op: t.word, X: p.exprAbove(signLevel, restricted)}
	case t.word == "==":
		p.fail(t.pos, "the operator == is not supported without an operand before it")
	case t.kind == operatorToken:
		p.take()
		return &tree.Unary{Position: pos, Op: t.word, X: p.exprAbove(operatorLevel, restricted)}
	case t.word == "operator" && p.ahead(1).word == "(" && p.ahead(3).word == ")" && p.ahead(2).kind != nameToken:
		p.fail(t.pos, "OPERATOR(…) is not supported before an operand: write the operator")
	case t.word == "lambda" && !restricted:
		return p.lambda()
	case t.word == "*" && !restricted:
		return p.star(nil)
	}
	return p.operand()
}

// infix reads an operator behind an expression and its other operands.
func (p *parser) infix(left tree.Expr, level int, restricted bool) tree.Expr {
	t := p.token()
	pos := tree.Position(t.pos)
	switch {
	case t.word == "and" || t.word == "or":
		return p.logic(left, level)
	case level == isLevel || level == notNullLevel:
		return p.state(left, restricted)
	case level == matchLevel:
		return p.match(left)
	case level == castLevel:
		p.take()
		return &tree.Cast{Position: left.Pos(), X: left, Type: p.typeName()}
	case level == zoneLevel:
		return p.atTimeZone(left)
	case level == collateLevel:
		p.take()
		return p.collate(left)
	case t.word == "==" && p.isPostfix(1):
		p.fail(t.pos, "the operator == is not supported without an operand behind it: NOT needs parentheses there")
	case t.kind == operatorToken && p.isPostfix(1), t.word == "operator" && p.isPostfix(4): // OPERATOR ( + )
		return &tree.Unary{Position: pos, Op: p.operatorName(), X: left, Postfix: true}
	}
	return p.binary(left, level, restricted)
}

// binary reads an operator of two expressions.
func (p *parser) binary(left tree.Expr, level int, restricted bool) tree.Expr {
	start := p.token()
	op := p.operatorName()
	if word := p.token().word; word == "any" || word == "all" || word == "some" {
		if restricted {
			p.failHere("parentheses around the comparison")
		}
		return p.quantified(left, op)
	}
	above := level
	if op == "->>" {
		above = operatorLevel
	}
	right := p.exprAbove(above, restricted)
	if level == comparisonLevel && p.infixLevel(restricted) == comparisonLevel {
		p.failHere("parentheses or AND: comparisons have no chains such as a = b = c")
	}
	if matchKind, not, ok := regexOperator(op); ok {
		return &tree.Like{Position: tree.Position(start.pos), X: left, Kind: matchKind, Not: not, Pattern: right}
	}
	return &tree.Binary{Position: tree.Position(start.pos), Op: op, X: left, Y: right}
}

// regexOperator returns the kind of an operator that matches a pattern.
func regexOperator(op string) (kind tree.LikeKind, not, ok bool) {
	switch op {
	case "~", "!~":
		return tree.RegexPattern, op == "!~", true
	case "~*", "!~*":
		return tree.IRegexPattern, op == "!~*", true
	}
	return 0, false, false
}

// operatorName reads an operator, which may be OPERATOR(schema.+).
func (p *parser) operatorName() string {
	switch t := p.take(); t.word {
	case "operator":
	case "==":
		return "=" // with the precedence of || and others
	default:
		return t.word
	}
	p.expect("(")
	t := p.token()
	if t.kind != operatorToken && (levels[t.word] < operatorLevel && levels[t.word] != comparisonLevel) {
		p.fail(t.pos, "schemas of operators are not supported: expected an operator such as +")
	}
	p.take()
	p.expect(")")
	return t.word
}

// quantified reads ANY or ALL with its query or list.
func (p *parser) quantified(left tree.Expr, op string) tree.Expr {
	t := p.take()
	if levels[op] != comparisonLevel {
		p.fail(t.pos, "the operator before "+t.word+" has to be a comparison: =, <>, <, <=, > or >=")
	}
	e := &tree.Quantified{Position: left.Pos(), X: left, Op: op, All: t.word == "all"}
	query, items := p.parenthesized()
	switch {
	case query != nil:
		e.Query = query
	case len(items) == 1:
		e.Of = items[0]
	default:
		p.fail(t.end, "expected a query or a list in parentheses")
	}
	return e
}

// logic reads a chain of AND or of OR.
func (p *parser) logic(left tree.Expr, level int) tree.Expr {
	op := p.token().word
	e := &tree.Logic{Position: left.Pos(), Or: op == "or", Terms: []tree.Expr{left}}
	for p.token().word == op {
		p.take()
		e.Terms = append(e.Terms, p.exprAbove(level, false))
	}
	return e
}

// state reads IS, ISNULL, NOTNULL and NOT NULL.
func (p *parser) state(left tree.Expr, restricted bool) tree.Expr {
	t := p.take()
	e := &tree.Is{Position: tree.Position(t.pos), X: left}
	switch t.word {
	case "isnull":
		return e
	case "notnull":
		e.Not = true
		return e
	case "not":
		p.expect("null")
		e.Not = true
		return e
	}
	e.Not = p.accept("not")
	switch {
	case p.accept("null"):
	case p.accept("true"):
		e.State = tree.IsTrue
	case p.accept("false"):
		e.State = tree.IsFalse
	case p.accept("unknown"):
		e.State = tree.IsUnknown
	case p.accept("distinct"):
		p.expect("from")
		e.State = tree.IsDistinct
		e.From = p.exprAbove(isLevel, restricted)
		if p.infixLevel(restricted) == isLevel {
			p.failHere("parentheses: IS DISTINCT FROM has no chains")
		}
	default:
		p.failHere("")
	}
	return e
}

// collate reads the name behind COLLATE.
func (p *parser) collate(left tree.Expr) tree.Expr {
	names := p.qualifiedName("the name of a collation")
	e := &tree.Collate{Position: left.Pos(), X: left, Name: names[0]}
	for _, name := range names[1:] {
		e.Name.Text += "." + name.Text
		e.Name.Quoted = true
	}
	return e
}

// atTimeZone reads AT TIME ZONE.
func (p *parser) atTimeZone(left tree.Expr) tree.Expr {
	t := p.take()
	p.expect("time")
	p.expect("zone")
	return &tree.AtTimeZone{Position: tree.Position(t.pos), X: left, Zone: p.exprAbove(zoneLevel, false)}
}

// lambda reads LAMBDA x, y : body.
func (p *parser) lambda() tree.Expr {
	e := &tree.Lambda{Position: p.pos()}
	p.take()
	e.Variables = []tree.Name{p.name("the name of a variable")}
	for p.accept(",") {
		e.Variables = append(e.Variables, p.name("the name of a variable"))
	}
	p.expect(":")
	e.Body = p.expr()
	return e
}

// arrowLambda returns the lambda that x -> body or (x, y) -> body is as an argument, or the expression itself.
func arrowLambda(e tree.Expr) tree.Expr {
	arrow, ok := e.(*tree.Binary)
	if !ok || arrow.Op != "->" {
		return e
	}
	variables := []tree.Expr{arrow.X}
	if row, ok := arrow.X.(*tree.Row); ok {
		variables = row.Items
	}
	names := make([]tree.Name, len(variables))
	for i, variable := range variables {
		column, ok := variable.(*tree.Column)
		if !ok || len(column.Name) != 1 {
			return e
		}
		names[i] = column.Name[0]
	}
	if len(names) == 0 {
		return e
	}
	return &tree.Lambda{Position: arrow.X.Pos(), Variables: names, Body: arrow.Y}
}

// startsExpr returns whether an expression may begin with a token.
func startsExpr(t *token) bool {
	switch t.kind {
	case endToken, faultToken:
		return false
	case symbolToken:
		switch t.word {
		case "(", "[", "{", "+", "-", "*", "#", "?":
			return true
		}
		return false
	case nameToken:
		return t.class != reserved || reservedOperands[t.word]
	}
	return true
}

// isPostfix returns whether the current operator, which has n tokens, has no operand behind it. A function that is
// also an operator, such as GLOB, is the operator then.
func (p *parser) isPostfix(n int) bool {
	next := p.ahead(n)
	level := levels[next.word]
	return !startsExpr(next) || loosest < level && level < postfixLevel ||
		next.word == "nulls" && (p.ahead(n+1).word == "first" || p.ahead(n+1).word == "last")
}

// reservedOperands are the reserved words with which an operand may begin.
var reservedOperands = map[string]bool{
	"array": true, "case": true, "cast": true, "null": true, "true": true, "false": true, "lambda": true,
	"default": true, "any": true, "all": true, "some": true,
}
