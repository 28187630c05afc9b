package pipeline

import "slices"

// expression reads an expression. Or binds the least.
func (p *parser) expression() *node { return p.nested((*parser).or) }

func (p *parser) or() *node { return p.terms("or", (*parser).and) }

func (p *parser) and() *node { return p.terms("and", (*parser).not) }

// terms reads operands with a word between them, which is an associative function.
func (p *parser) terms(word string, operand func(*parser) *node) *node {
	operands := []*node{operand(p)}
	for p.accept(word) {
		operands = append(operands, operand(p))
	}
	return joined(word, operands)
}

// joined is an associative function of many operands. Those of long lists are in halves, because
// documents limit the number of calls within each other.
func joined(function string, operands []*node) *node {
	const mostInRow = 100
	last := len(operands) - 1
	switch {
	case last == 0:
		return operands[0]
	case last > mostInRow:
		last = len(operands) / 2
	}
	return call(operands[0].begin, function, joined(function, operands[:last]), joined(function, operands[last:]))
}

// nested reads an expression within another one.
func (p *parser) nested(read func(*parser) *node) *node {
	if p.depth++; p.depth > deepest {
		p.fail(p.peek().begin, "more than %d expressions within each other", deepest)
		return call(0, "")
	}
	defer func() { p.depth-- }()
	return read(p)
}

// longestChain is the number of operators in a row: each is within the next one in a document, which
// has a limit for that.
const longestChain = 900

// chain reads operands with operators of the same precedence between them, which are functions.
func (p *parser) chain(operand func(*parser) *node, functions map[string]string) *node {
	left := operand(p)
	for length := 1; ; length++ {
		t := p.peek()
		function := functions[t.value]
		if function == "" || !p.accept(t.value) {
			return left
		}
		if length > longestChain {
			p.fail(t.begin, "more than %d operators in a row", longestChain)
		}
		left = call(left.begin, function, left, operand(p))
	}
}

func (p *parser) not() *node {
	if begin := p.peek().begin; p.accept("not") {
		return call(begin, "not", p.nested((*parser).not))
	}
	return p.comparison()
}

var comparisons = map[string]string{"=": "eq", "==": "eq", "!=": "ne", "<>": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}

func (p *parser) comparison() *node {
	left := p.sum()
	t := p.peek()
	if function := comparisons[t.value]; function != "" && p.accept(t.value) {
		return call(left.begin, function, left, p.sum())
	}
	if p.accept("is") {
		function := "is_null"
		if p.accept("not") {
			function = "is_valid"
		}
		p.expect("null")
		return call(left.begin, function, left)
	}
	if p.accept("not") {
		return call(left.begin, "not", p.membership(left, true))
	}
	return p.membership(left, false)
}

// membership reads what follows a value: between, in or like. Without any of them it
// returns the value, unless one is required.
func (p *parser) membership(left *node, required bool) *node {
	switch {
	case p.accept("between"):
		low := p.sum()
		p.expect("and")
		return call(left.begin, "between", left, low, p.sum())
	case p.accept("in"):
		values := p.arguments(expressionAt)
		if len(values) == 0 {
			p.fail(left.begin, "in () has no values, expected one or more")
		}
		return call(left.begin, "in", append([]*node{left}, values...)...)
	case p.accept("like"):
		n := call(left.begin, "like", left)
		n.object["pattern"] = p.quoted("a pattern in quotes")
		if p.accept("escape") {
			n.object["escape"] = p.quoted("a character in quotes")
		}
		return n
	case required:
		p.unexpected(`"between", "in" or "like"`)
	}
	return left
}

// arguments reads what is in parentheses, with commas between. The function reads the argument
// with a number.
func (p *parser) arguments(argument func(p *parser, i int) *node) (list []*node) {
	p.expect("(")
	if p.accept(")") {
		return nil
	}
	list = append(list, argument(p, 0))
	for p.accept(",") {
		list = append(list, argument(p, len(list)))
	}
	p.expectOr(")", `an operator, "," or ")"`)
	return list
}

func expressionAt(p *parser, _ int) *node { return p.expression() }

func (p *parser) sum() *node {
	return p.chain((*parser).product, map[string]string{"+": "add", "-": "sub"})
}

func (p *parser) product() *node {
	return p.chain((*parser).factor, map[string]string{"*": "mul", "/": "div", "%": "mod"})
}

// factor reads a value with a sign before it, or a window, a condition or "skip nulls" after it.
func (p *parser) factor() *node {
	if begin := p.peek().begin; p.accept("-") {
		if p.peek().kind == number {
			return p.quantity("-", begin)
		}
		return call(begin, "neg", p.nested((*parser).factor))
	}
	n := p.primary()
	for {
		switch {
		case p.accept("over"):
			n = p.over(n)
		case p.accept("where"):
			n = p.where(n)
		case p.acceptWords("skip", "nulls"):
			n = call(n.begin, "skip_nulls", n)
		default:
			return n
		}
	}
}

func (p *parser) where(aggregate *node) *node {
	begin := p.peek().begin
	conditions := p.arguments(expressionAt)
	if len(conditions) != 1 {
		p.fail(begin, "where has %d conditions, expected one", len(conditions))
	}
	return call(aggregate.begin, "where", append([]*node{aggregate}, conditions...)...)
}

func (p *parser) primary() *node {
	t := p.peek()
	switch {
	case t.kind == number:
		return p.quantity("", t.begin)
	case t.kind == text:
		return literal(t.begin, p.next().value)
	case t.matches("true"), t.matches("false"):
		return literal(t.begin, p.next().value == "true")
	case p.accept("null"):
		return literal(t.begin, nil)
	case p.accept("("):
		n := p.expression()
		p.expectOr(")", `an operator or ")"`)
		return n
	case t.kind == quotedName:
		return column(p.next())
	case t.kind == word && (!slices.Contains(words, t.value) || p.tokens[p.at+1].matches("(") && isCallable(t.value)):
		return p.named()
	}
	p.unexpected("an expression")
	return call(t.begin, "")
}

// named reads what begins with a name: a function, a literal with a type, or a column.
func (p *parser) named() *node {
	t := p.next()
	switch after := p.peek(); {
	case after.matches("("):
		return p.call(t)
	case after.kind == text && t.value == "date":
		return p.date(t.begin)
	case after.kind == text && t.value == "timestamp":
		return p.timestamp(t.begin)
	}
	return column(t)
}
