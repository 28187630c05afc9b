package parse

import (
	"slices"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// isColumnName returns whether a token may be the name of a column or a table.
func (t *token) isColumnName() bool {
	return t.kind == quotedToken || t.kind == nameToken && t.class <= columnWord
}

// isLabel returns whether a token may be a name behind AS or a dot.
func (t *token) isLabel() bool { return t.kind == quotedToken || t.kind == nameToken }

// isFunctionName returns whether a token may be the name of a function without a schema.
func (t *token) isFunctionName() bool {
	switch t.word {
	case "anti", "by", "semi", "unpack":
		return false
	}
	return t.kind == quotedToken ||
		t.kind == nameToken && (t.class == notKeyword || t.class == unreserved || t.class == functionWord)
}

// takeName returns the current token as a name.
func (p *parser) takeName() tree.Name {
	t := p.take()
	return tree.Name{Position: tree.Position(t.pos), Text: t.text, Quoted: t.kind != nameToken && t.text != ""}
}

// name reads the name of a table, a column or an alias, which may stand in single quotes.
func (p *parser) name(form string) tree.Name {
	if t := p.token(); !t.isColumnName() && (t.kind != textToken || t.text == "") {
		p.failHere(form)
	}
	return p.takeName()
}

// label reads a name behind AS or a dot, which may be a keyword.
func (p *parser) label(form string) tree.Name {
	if t := p.token(); !t.isLabel() || slices.Contains(labelBefore[t.word], p.ahead(1).word) {
		p.failHere(form)
	}
	return p.takeName()
}

// labelBefore has the words before which a keyword is no label, because DuckDB reads both as one.
var labelBefore = map[string][]string{
	"not":   {"between", "in", "like", "ilike", "similar"},
	"nulls": {"first", "last"},
	"with":  {"time", "ordinality"},
}

// names reads names with commas between them. A comma may stand behind the last one.
func (p *parser) names(form string) []tree.Name {
	list := []tree.Name{p.name(form)}
	for p.accept(",") {
		if t := p.token(); !t.isColumnName() && t.kind != textToken {
			break
		}
		list = append(list, p.name(form))
	}
	return list
}

// nameList reads names in parentheses.
func (p *parser) nameList(form string) []tree.Name {
	p.expect("(")
	list := p.names(form)
	p.expect(")")
	return list
}

// qualifiedName reads a name with the names before it.
func (p *parser) qualifiedName(form string) []tree.Name {
	if !p.token().isColumnName() {
		p.failHere(form)
	}
	list := []tree.Name{p.takeName()}
	for p.accept(".") {
		list = append(list, p.label("a name"))
	}
	return list
}
