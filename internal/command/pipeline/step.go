package pipeline

import (
	"encoding/json"
	"strconv"
	"strings"
)

// step is one verb: a step of the document without its inputs.
type step struct {
	origin
	begin  int
	object object
	// nodes are the expressions and columns of the first input.
	nodes []*node
	// others are the further inputs.
	others []*branch
	// conditions are expressions on the columns of all inputs.
	conditions []*node
	// places are where members begin that only the decoder of documents checks.
	places map[string]int
}

// branch is a further input of a verb: a source with verbs.
type branch struct {
	origin
	begin int
	// path is of files, or the name of a table.
	path    string
	isTable bool
	steps   []*step
	// nodes are the expressions and columns of the branch that the verb has.
	nodes []*node
}

// step reads what follows the name of a verb.
func (p *parser) step(begin int, verb string) *step {
	line := json.Number(strconv.Itoa(strings.Count(p.text[:begin], "\n") + 1))
	place := object{"verb": verb, "file": p.source, "line": line}
	s := &step{origin: p.origin, begin: begin, object: object{"verb": verb, "place": place}, places: map[string]int{}}
	verbs[verb](p, s)
	return s
}

// other reads a further input: a source, or a pipeline in parentheses that begins with one.
func (p *parser) other(s *step) *branch {
	inParentheses := p.accept("(")
	b := &branch{origin: p.origin, begin: p.peek().begin, isTable: p.accept("table")}
	b.path = p.quoted("a file or a pattern in quotes")
	if inParentheses {
		for p.accept("|") {
			b.steps = append(b.steps, p.verb())
		}
		p.expectOr(")", `an operator, ",", "|" or ")"`)
	}
	s.others = append(s.others, b)
	return b
}

// expression adds an expression of the first input, and returns its object.
func (s *step) expression(n *node) object {
	s.nodes = append(s.nodes, n)
	return n.object
}

// columns adds columns of the first input, and returns their names.
func (s *step) columns(list []token) []any {
	names := make([]any, len(list))
	for i, t := range list {
		names[i] = t.value
		s.expression(column(t))
	}
	return names
}
