package pipeline

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/names"
)

// node is an expression with its place in the text.
type node struct {
	begin    int
	value    gpuframe.Expr
	operands []*node
	// literal is the value of a literal, or nil.
	literal any
	// column is the name of a column.
	column string
	// null is set for null, which has the type of the other operands and none alone.
	null bool
}

// expression reads an expression. Or binds the least.
func (p *parser) expression() (*node, error) {
	if p.depth++; p.depth > deepest {
		return nil, p.failAt(p.peek().begin, fmt.Errorf("more than %d expressions within each other", deepest))
	}
	defer func() { p.depth-- }()
	return p.chain(func() (*node, error) {
		return p.chain(p.not, map[string]binary{"and": gpuframe.Expr.And})
	}, map[string]binary{"or": gpuframe.Expr.Or})
}

// binary is a method of an expression with one operand.
type binary func(gpuframe.Expr, any) gpuframe.Expr

// chain reads operands with operators of the same precedence between them.
func (p *parser) chain(operand func() (*node, error), operators map[string]binary) (*node, error) {
	left, err := operand()
	if err != nil {
		return nil, err
	}
	for {
		t := p.peek()
		method := operators[t.value]
		if method == nil || !t.is(t.value) {
			return left, nil
		}
		p.next()
		right, err := operand()
		if err != nil {
			return nil, err
		}
		left = &node{begin: left.begin, value: method(left.value, right.value), operands: []*node{left, right}}
	}
}

func (p *parser) not() (*node, error) {
	if begin := p.peek().begin; p.accept("not") {
		of, err := p.nested(p.not)
		if err != nil {
			return nil, err
		}
		return &node{begin: begin, value: of.value.Not(), operands: []*node{of}}, nil
	}
	return p.comparison()
}

// nested reads an expression within one of the same kind.
func (p *parser) nested(read func() (*node, error)) (*node, error) {
	if p.depth++; p.depth > deepest {
		return nil, p.failAt(p.peek().begin, fmt.Errorf("more than %d expressions within each other", deepest))
	}
	defer func() { p.depth-- }()
	return read()
}

var comparisons = map[string]binary{
	"=": gpuframe.Expr.Eq, "==": gpuframe.Expr.Eq, "!=": gpuframe.Expr.Ne, "<>": gpuframe.Expr.Ne,
	"<": gpuframe.Expr.Lt, "<=": gpuframe.Expr.Le, ">": gpuframe.Expr.Gt, ">=": gpuframe.Expr.Ge,
}

func (p *parser) comparison() (*node, error) {
	left, err := p.sum()
	if err != nil {
		return nil, err
	}
	t := p.peek()
	if method := comparisons[t.value]; method != nil && t.kind == operator {
		p.next()
		right, err := p.sum()
		if err != nil {
			return nil, err
		}
		return &node{begin: left.begin, value: method(left.value, right.value), operands: []*node{left, right}}, nil
	}
	if p.accept("is") {
		return p.isNull(left)
	}
	negated := p.accept("not")
	made, err := p.membership(left, negated)
	if err != nil || !negated {
		return made, err
	}
	return &node{begin: left.begin, value: made.value.Not(), operands: []*node{made}}, nil
}

func (p *parser) isNull(left *node) (*node, error) {
	negated := p.accept("not")
	if err := p.expect("null"); err != nil {
		return nil, err
	}
	value := left.value.IsNull()
	if negated {
		value = left.value.IsValid()
	}
	return &node{begin: left.begin, value: value, operands: []*node{left}}, nil
}

// membership reads what follows a value: between, in or like. Without any of them it
// returns the value, unless one is required.
func (p *parser) membership(left *node, required bool) (*node, error) {
	made := &node{begin: left.begin, operands: []*node{left}}
	switch {
	case p.accept("between"):
		low, err := p.sum()
		if err != nil {
			return nil, err
		}
		if err := p.expect("and"); err != nil {
			return nil, err
		}
		high, err := p.sum()
		if err != nil {
			return nil, err
		}
		made.operands = append(made.operands, low, high)
		made.value = left.value.Between(low.value, high.value)
	case p.accept("in"):
		values, err := p.arguments()
		if err != nil {
			return nil, err
		}
		if len(values) == 0 {
			return nil, p.failAt(left.begin, errors.New("in () has no values, expected one or more"))
		}
		made.operands = append(made.operands, values...)
		made.value = left.value.In(operandsOf(values)...)
	case p.accept("like"):
		if p.peek().kind != text {
			return nil, p.unexpected("a pattern in quotes")
		}
		made.value = left.value.Like(p.next().value)
	case required:
		return nil, p.unexpected(`"between", "in" or "like"`)
	default:
		return left, nil
	}
	return made, nil
}

// operandsOf returns the values of nodes.
func operandsOf(nodes []*node) []any {
	values := make([]any, len(nodes))
	for i, n := range nodes {
		values[i] = n.value
	}
	return values
}

// arguments reads expressions in parentheses.
func (p *parser) arguments() ([]*node, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	if p.accept(")") {
		return nil, nil
	}
	made, err := list(p, p.expression)
	if err != nil {
		return nil, err
	}
	if !p.accept(")") {
		return nil, p.unexpected(`an operator, "," or ")"`)
	}
	return made, nil
}

func (p *parser) sum() (*node, error) {
	return p.chain(func() (*node, error) {
		return p.chain(p.factor, map[string]binary{"*": gpuframe.Expr.Mul, "/": gpuframe.Expr.Div, "%": gpuframe.Expr.Mod})
	}, map[string]binary{"+": gpuframe.Expr.Add, "-": gpuframe.Expr.Sub})
}

// factor reads a value with a sign before it, or a window, a condition or "skip nulls" after it.
func (p *parser) factor() (*node, error) {
	if begin := p.peek().begin; p.accept("-") {
		if t := p.peek(); t.kind == number {
			return p.number("-", begin)
		}
		of, err := p.nested(p.factor)
		if err != nil {
			return nil, err
		}
		return &node{begin: begin, value: of.value.Neg(), operands: []*node{of}}, nil
	}
	n, err := p.primary()
	for err == nil {
		var further []*node
		switch {
		case p.accept("over"):
			window, further, err := p.window()
			if err != nil {
				return nil, err
			}
			n = &node{begin: n.begin, value: n.value.Over(window), operands: append([]*node{n}, further...)}
		case p.accept("where"):
			begin := p.peek().begin
			if further, err = p.arguments(); err != nil {
				return nil, err
			}
			if len(further) != 1 {
				return nil, p.failAt(begin, fmt.Errorf("where has %d conditions, expected one", len(further)))
			}
			n = &node{begin: n.begin, value: n.value.Where(further[0].value), operands: []*node{n, further[0]}}
		case p.accept("skip"):
			if !p.accept("nulls") {
				return nil, p.unexpected(`"nulls"`)
			}
			n = &node{begin: n.begin, value: n.value.SkipNulls(), operands: []*node{n}}
		default:
			return n, nil
		}
	}
	return nil, err
}

func (p *parser) primary() (*node, error) {
	t := p.peek()
	switch {
	case t.kind == number:
		return p.number("", t.begin)
	case t.kind == text:
		p.next()
		return literal(t.begin, t.value), nil
	case t.is("true"), t.is("false"):
		p.next()
		return literal(t.begin, t.value == "true"), nil
	case t.is("null"):
		p.next()
		return &node{begin: t.begin, value: gpuframe.Lit(nil), null: true}, nil
	case p.accept("("):
		n, err := p.expression()
		if err != nil {
			return nil, err
		}
		if !p.accept(")") {
			return nil, p.unexpected(`an operator or ")"`)
		}
		return &node{begin: t.begin, value: n.value, operands: []*node{n}}, nil
	case t.kind == quotedName:
		p.next()
		return &node{begin: t.begin, value: gpuframe.Col(t.value), column: t.value}, nil
	case t.kind == word && !slices.Contains(words, t.value):
		return p.named()
	}
	return nil, p.unexpected("an expression")
}

func literal(begin int, value any) *node {
	return &node{begin: begin, value: gpuframe.Lit(value), literal: value}
}

// number reads a number with a sign.
func (p *parser) number(sign string, begin int) (*node, error) {
	t := p.next()
	digits := sign + t.value
	if whole, err := strconv.ParseInt(digits, 10, 64); err == nil {
		if int64(int(whole)) == whole { // literals of Go's int take the type of the other operand
			return literal(begin, int(whole)), nil
		}
		return literal(begin, whole), nil
	}
	if whole, err := strconv.ParseUint(digits, 10, 64); err == nil {
		return literal(begin, whole), nil
	}
	value, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsInf(value, 0) {
		return nil, p.failAt(begin, fmt.Errorf("%s is no number of 64 bits", digits))
	}
	return literal(begin, value), nil
}

// named reads what begins with a name: a function, a literal with a type, or a column.
func (p *parser) named() (*node, error) {
	t := p.next()
	after := p.peek()
	switch {
	case after.is("(") && t.value == "cast":
		return p.cast(t)
	case after.is("("):
		return p.call(t)
	case after.kind == text && t.value == "date":
		day, err := time.Parse(time.DateOnly, p.next().value)
		if err != nil {
			return nil, p.failAt(after.begin, fmt.Errorf("%q is no date such as 2026-01-31", after.value))
		}
		return &node{begin: t.begin, value: gpuframe.LitOf(arrow.FixedWidthTypes.Date32, day), literal: day}, nil
	case after.kind == text && t.value == "timestamp":
		moment, err := parseTime(p.next().value)
		if err != nil {
			return nil, p.failAt(after.begin, err)
		}
		return literal(t.begin, moment), nil
	}
	return &node{begin: t.begin, value: gpuframe.Col(t.value), column: t.value}, nil
}

// layouts are the layouts of timestamps. Those without a zone are in UTC.
var layouts = []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly}

func parseTime(text string) (time.Time, error) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no timestamp such as 2026-01-31 12:30:00 or 2026-01-31T12:30:00Z", text)
}

// call reads the arguments of a function.
func (p *parser) call(name token) (*node, error) {
	f, known := functions[name.value]
	if !known {
		return nil, p.failAt(name.begin, errors.New(names.Unknown("function", name.value, Functions())))
	}
	arguments, err := p.arguments()
	if err != nil {
		return nil, err
	}
	if n := len(arguments); n < f.least || f.most >= 0 && n > f.most {
		return nil, p.failAt(name.begin, fmt.Errorf("%s has %d arguments, expected %s", name.value, n, f.arity()))
	}
	value, err := f.make(arguments)
	if err != nil {
		return nil, p.failAt(name.begin, fmt.Errorf("%s: %w", name.value, err))
	}
	return &node{begin: name.begin, value: value, operands: arguments}, nil
}

// cast reads the value and the type of a cast.
func (p *parser) cast(name token) (*node, error) {
	p.next()
	operand, err := p.expression()
	if err != nil {
		return nil, err
	}
	if err := p.expect(","); err != nil {
		return nil, err
	}
	t := p.next()
	to := types[t.value]
	if to == nil || t.kind != word {
		return nil, p.failAt(t.begin, errors.New(names.Unknown("type", t.value, Types())))
	}
	if err := p.expect(")"); err != nil {
		return nil, err
	}
	if operand.null {
		return &node{begin: name.begin, value: gpuframe.LitOf(to, nil)}, nil
	}
	return &node{begin: name.begin, value: operand.value.Cast(to), operands: []*node{operand}}, nil
}
