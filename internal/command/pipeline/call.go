package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/gpuframe/gpuframe/internal/expr/catalog"
)

// isCallable reports whether a word of the grammar is a function too, without other grammar.
func isCallable(word string) bool {
	return len(catalog.Named(word)) > 0 && word != "in" && word != "over" && word != "order_by"
}

// call reads the arguments of a function.
func (p *parser) call(name token) *node {
	known := catalog.Named(name.value)
	if len(known) == 0 {
		p.fail(name.begin, "%s", unknown("function", name.value, Functions()))
	}
	var order *node
	if p.star(name) {
		return call(name.begin, "count_rows")
	}
	arguments := p.arguments(func(p *parser, i int) *node {
		n := p.argument(known, i)
		if p.acceptWords("order", "by") { // behind the last argument
			order = call(name.begin, "order_by")
			order.object["order"], order.operands = p.keys()
		}
		return n
	})
	f, ok := catalog.Lookup(name.value, len(arguments))
	if !ok || p.err != nil {
		return call(name.begin, name.value)
	}
	if !f.Accepts(len(arguments)) {
		p.fail(name.begin, "%s has %d arguments, expected %s", name.value, len(arguments), arity(known))
		return call(name.begin, name.value)
	}
	n := p.called(name, f, arguments)
	if order != nil {
		order.object["arguments"] = order.including([]*node{n})
		return order
	}
	return n
}

// star reads the argument (*) of a function of rows: count(*) is count().
func (p *parser) star(name token) bool {
	if !p.peek().matches("(") || !p.tokens[p.at+1].matches("*") {
		return false
	}
	if f, _ := catalog.Lookup(name.value, 0); f.Name != "count_rows" {
		p.fail(p.tokens[p.at+1].begin, "%s has no form with *, which is for count: give a column", name.value)
		return true
	}
	p.at += 2
	p.expect(")")
	return true
}

// argument reads an argument with a number.
func (p *parser) argument(known []*catalog.Function, i int) *node {
	takes := func(t catalog.Type) bool {
		return slices.ContainsFunc(known, func(f *catalog.Function) bool { return parameter(f, i).Type == t })
	}
	switch {
	case takes(catalog.DataType):
		return p.dataType()
	case takes(catalog.Expressions):
		return p.item()
	}
	return p.expression()
}

// parameter returns the parameter of an argument with a number. The last one may take any number.
func parameter(f *catalog.Function, i int) catalog.Parameter {
	last := len(f.Parameters) - 1
	if i > last && (last < 0 || !f.Parameters[last].Type.Many()) {
		return catalog.Parameter{}
	}
	return f.Parameters[min(i, last)]
}

// arity describes the numbers of arguments of the functions of a name.
func arity(known []*catalog.Function) string {
	least, most := known[0].Arguments()
	for _, f := range known[1:] {
		low, high := f.Arguments()
		least, most = min(least, low), max(most, high)
	}
	switch {
	case most == catalog.Many:
		return fmt.Sprintf("%d or more", least)
	case least < most:
		return fmt.Sprintf("%d or %d", least, most)
	}
	return fmt.Sprint(least)
}

// Functions returns the names of the functions, with their aliases. Columns and other parts of
// expressions, which have other grammar, are left out.
func Functions() (list []string) {
	for _, f := range catalog.All() {
		if f.Kind != catalog.Form {
			list = append(append(list, f.Name), f.Aliases...)
		}
	}
	return list
}

// called is a function of arguments, which are operands and members.
func (p *parser) called(name token, f *catalog.Function, arguments []*node) *node {
	n := &node{begin: name.begin, object: object{"function": f.Name}}
	var operands []*node
	for i, argument := range arguments {
		taken := parameter(f, i)
		if taken.Type.IsOperand() {
			operands = append(operands, argument)
			continue
		}
		value, expected := member(taken.Type, argument)
		if expected != "" {
			p.fail(name.begin, "%s: argument %d must be %s", name.value, i+1, expected)
		}
		if taken.Type.Many() {
			values, _ := n.object[taken.Name].([]any)
			value = append(values, value)
		}
		n.object[taken.Name] = value
	}
	switch {
	case f.Name == "literal":
		return arguments[0]
	case f.Name == "cast" && operands[0].isNull():
		return literalOf(name.begin, n.object["type"].(string), nil)
	case len(operands) > 0:
		n.object["arguments"] = n.including(operands)
	}
	return n
}

// member returns the value of a member of some type, or what was expected instead of the argument.
func member(t catalog.Type, argument *node) (value any, expected string) {
	value, dataType := argument.object["value"], argument.object["type"]
	number, isNumber := value.(json.Number)
	text, isText := value.(string)
	isText = isText && dataType == nil
	switch t {
	case catalog.Whole:
		if !isNumber || dataType != nil || !isWhole(number) {
			return nil, "a whole number"
		}
	case catalog.Float, catalog.Numbers:
		if !isNumber || dataType != nil {
			return nil, "a number"
		}
	case catalog.Text, catalog.Texts, catalog.Unit, catalog.Zone:
		if !isText {
			return nil, "a text"
		}
	case catalog.Character:
		if !isText || utf8.RuneCountInString(text) != 1 {
			return nil, "one character"
		}
	case catalog.Dates:
		if dataType != "date32" || value == nil {
			return nil, "a date such as date '2026-01-31'"
		}
	case catalog.DataType:
		return dataType, ""
	default:
		if !argument.calls("literal") {
			return nil, "a literal"
		}
		return argument.object, ""
	}
	return value, ""
}
