package parse

import (
	"strconv"
	"strings"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// suffix is a set of the forms that may stand behind an operand.
type suffix uint8

const (
	noSuffix suffix = iota
	// fieldSuffix is fields and subscripts.
	fieldSuffix
	// methodSuffix is fields, subscripts and methods.
	methodSuffix
)

// operand reads an operand with the fields, methods and subscripts behind it.
func (p *parser) operand() tree.Expr { return p.behind(p.bareOperand()) }

// bareOperand reads an operand, and returns the forms that may follow it.
func (p *parser) bareOperand() (e tree.Expr, s suffix) {
	t := p.token()
	pos := tree.Position(t.pos)
	switch t.kind {
	case numberToken:
		p.take()
		return &tree.Literal{Position: pos, Kind: numberKind(t.text), Text: t.text}, noSuffix
	case textToken:
		p.take()
		return &tree.Literal{Position: pos, Kind: tree.Text, Text: t.text}, fieldSuffix
	case blobToken:
		p.take()
		return &tree.Literal{Position: pos, Kind: tree.Blob, Text: t.text}, noSuffix
	case parameterToken:
		p.take()
		return p.parameter(t), methodSuffix
	case symbolToken:
		return p.symbolOperand(t), methodSuffix
	case quotedToken:
		return p.nameOperand()
	case nameToken:
		return p.wordOperand(t)
	}
	p.failHere("an expression")
	return nil, noSuffix
}

// numberKind returns the kind of a number.
func numberKind(text string) tree.LiteralKind {
	switch {
	case len(text) > 1 && text[0] == '0' && !isDigit(text[1]) && text[1] != '.' && text[1] != 'e' && text[1] != 'E':
		return tree.Integer
	case strings.ContainsAny(text, "eE"):
		return tree.Float
	case strings.Contains(text, "."):
		return tree.Decimal
	}
	return tree.Integer
}

// parameter returns $1 or $name.
func (p *parser) parameter(t *token) tree.Expr {
	e := &tree.Parameter{Position: tree.Position(t.pos)}
	p.countParameter(t.pos, !isDigit(t.text[0]))
	if !isDigit(t.text[0]) {
		e.Name = t.text
		return e
	}
	number, err := strconv.Atoi(t.text)
	if err != nil || number < 1 || number > maxParameters {
		p.fail(t.pos, "the number of a parameter has to be between 1 and "+strconv.Itoa(maxParameters))
	}
	e.Number = number
	return e
}

// countParameter refuses statements with both kinds of parameters.
func (p *parser) countParameter(pos int, named bool) {
	if named {
		p.named = true
	} else {
		p.numbered = true
	}
	if p.named && p.numbered {
		p.fail(pos, "a statement has parameters with names or with numbers, not both")
	}
}

// maxParameters is the highest number of a parameter.
const maxParameters = 1<<16 - 1

// symbolOperand reads an operand that begins with a symbol.
func (p *parser) symbolOperand(t *token) tree.Expr {
	pos := tree.Position(t.pos)
	switch t.word {
	case "(":
		query, items := p.parenthesized()
		switch {
		case query != nil:
			return &tree.Scalar{Position: pos, Query: query}
		case len(items) == 1:
			return items[0]
		}
		return p.overlaps(&tree.Row{Position: pos, Items: items})
	case "[":
		return p.list()
	case "{":
		return p.structure()
	case "?":
		p.take()
		if number := p.token(); number.kind == numberToken && number.pos == t.end {
			p.take()
			return p.parameter(&token{pos: t.pos, text: number.text})
		}
		p.countParameter(t.pos, false)
		p.parameters++
		return &tree.Parameter{Position: pos, Number: p.parameters}
	case "#":
		p.take()
		number, err := strconv.Atoi(p.token().text)
		if p.token().kind != numberToken || err != nil {
			p.failHere("the number of a column")
		}
		p.take()
		return &tree.Ordinal{Position: pos, Number: number}
	}
	p.failHere("an expression")
	return nil
}

// wordOperand reads an operand that begins with a word.
func (p *parser) wordOperand(t *token) (e tree.Expr, s suffix) {
	pos := tree.Position(t.pos)
	switch t.word {
	case "null", "true", "false":
		p.take()
		kind := map[string]tree.LiteralKind{"null": tree.Null, "true": tree.True, "false": tree.False}[t.word]
		return &tree.Literal{Position: pos, Kind: kind}, noSuffix
	case "case":
		return p.caseOf(), methodSuffix
	case "array":
		return p.array(), methodSuffix
	case "default":
		p.take()
		return &tree.Default{Position: pos}, noSuffix
	case "exists":
		if p.ahead(1).word == "(" {
			p.take()
			return &tree.Exists{Position: pos, Query: p.queryInParentheses()}, noSuffix
		}
	case "interval":
		if e := p.interval(); e != nil {
			return e, noSuffix
		}
	case "map":
		if p.ahead(1).word == "{" {
			return p.mapping(), methodSuffix
		}
	case "row":
		if p.ahead(1).word == "(" {
			return p.row(), methodSuffix
		}
	}
	if t.word == "columns" && p.ahead(1).word == "(" {
		return p.columns(), noSuffix
	}
	if read := specialCalls[t.word]; read != nil && p.ahead(1).word == "(" {
		return read(p), methodSuffix
	}
	if e := p.typedText(); e != nil {
		return e, noSuffix
	}
	switch {
	case t.class == reserved:
		p.failHere("an expression")
	case t.word == "treat" && p.ahead(1).word == "(", t.word == "collation" && p.ahead(1).word == "for":
		p.fail(t.pos, upper(t.word)+" is not supported")
	}
	return p.nameOperand()
}

// behind reads the forms behind an operand that may follow it.
func (p *parser) behind(e tree.Expr, s suffix) tree.Expr {
	for s != noSuffix {
		switch p.token().word {
		case "[":
			e = p.subscript(e)
		case ".":
			p.take()
			isFunction := p.token().isFunctionName()
			name := p.label("the name of a field or a function")
			if p.token().word != "(" || s != methodSuffix {
				e = &tree.FieldOf{Position: e.Pos(), X: e, Name: name}
				continue
			}
			name.Quoted = name.Quoted || !isFunction // the name of a function needs quotes where it is no method
			call := &tree.Call{Position: name.Position, Name: []tree.Name{name}, Args: []tree.Arg{{Expr: e}}}
			p.take()
			if !p.accept(")") {
				p.arguments(call)
				p.expect(")")
			}
			e = call
		default:
			return e
		}
	}
	return e
}

// subscript reads [index] or [from:to:step].
func (p *parser) subscript(e tree.Expr) tree.Expr {
	pos := e.Pos()
	p.expect("[")
	var bounds [3]tree.Expr
	if p.token().word != ":" {
		bounds[0] = p.expr()
		if p.accept("]") {
			return &tree.Subscript{Position: pos, X: e, Index: bounds[0]}
		}
	}
	p.expect(":")
	switch {
	case p.token().word == "-" && p.ahead(1).word == ":":
		p.take()
	case p.token().word != ":" && p.token().word != "]":
		bounds[1] = p.expr()
	}
	if p.accept(":") && p.token().word != "]" {
		bounds[2] = p.expr()
	}
	p.expect("]")
	return &tree.Slice{Position: pos, X: e, From: bounds[0], To: bounds[1], Step: bounds[2]}
}

// nameOperand reads a column, a star of a table, a call, or a text with the name of a type before it.
func (p *parser) nameOperand() (e tree.Expr, s suffix) {
	t := p.token()
	pos := tree.Position(t.pos)
	if !t.isColumnName() && !(t.isFunctionName() && (p.ahead(1).word == "(" || p.ahead(1).kind == textToken)) {
		p.failHere("an expression")
	}
	names := []tree.Name{p.takeName()}
	for p.token().word == "." {
		if p.ahead(1).word == "*" && len(names) == 1 {
			p.take()
			return p.star(names), noSuffix
		}
		p.take()
		names = append(names, p.label("a name or *"))
	}
	if p.token().word == "(" && (len(names) > 1 || t.isFunctionName() && t.word != "operator") {
		return p.call(pos, names)
	}
	if text := p.token(); text.kind == textToken && (len(names) > 1 || t.isFunctionName() && !noTypes[t.word]) {
		if strings.EqualFold(t.text, "n") && t.kind == nameToken && text.pos == t.end {
			names[0].Text = "varchar" // N'…'
		}
		if len(names) > 1 || t.kind == quotedToken {
			p.fail(t.pos, "a type before a text that has a name in quotes or of a schema is not supported: use CAST")
		}
		p.take()
		return &tree.TypedText{Position: pos, Type: namedType(pos, names), Text: text.text}, noSuffix
	}
	return p.behind(&tree.Column{Position: pos, Name: names}, fieldSuffix), noSuffix
}

// noTypes are the names of functions that are no types before a text.
var noTypes = map[string]bool{"columns": true, "map": true, "struct": true, "try_cast": true, "enum": true}

// star reads * or table.* with its changes. The current token is the star.
func (p *parser) star(table []tree.Name) tree.Expr {
	e := &tree.Star{Position: p.pos(), Table: table}
	if len(table) > 0 {
		e.Position = table[0].Position
	}
	p.expect("*")
	if table == nil && p.token().word == "columns" && p.ahead(1).word == "(" {
		columns := p.columns().(*tree.Columns)
		columns.Unpack = true
		return columns
	}
	if p.accept("exclude") {
		e.Exclude = p.excluded()
	}
	if p.accept("replace") {
		e.Replace = p.replaced()
	}
	if p.accept("rename") {
		e.Rename = p.renamed()
	}
	return e
}

// excluded reads the columns of EXCLUDE.
func (p *parser) excluded() (columns [][]tree.Name) {
	if !p.accept("(") {
		return [][]tree.Name{p.starColumn()}
	}
	for {
		columns = append(columns, p.starColumn())
		if !p.accept(",") || p.at(")") {
			break
		}
	}
	p.expect(")")
	return columns
}

// starColumn reads the name of a column that a star changes.
func (p *parser) starColumn() []tree.Name {
	names := []tree.Name{p.name("the name of a column")}
	for p.accept(".") {
		names = append(names, p.name("the name of a column"))
	}
	return names
}

// replaced reads the items of REPLACE.
func (p *parser) replaced() (items []tree.Item) {
	item := func() {
		e := p.expr()
		p.expect("as")
		items = append(items, tree.Item{Expr: e, Name: p.columnName()})
	}
	p.starItems(item)
	return items
}

// renamed reads the items of RENAME.
func (p *parser) renamed() (items []tree.Item) {
	item := func() {
		names := p.starColumn()
		p.expect("as")
		column := &tree.Column{Position: names[0].Position, Name: names}
		items = append(items, tree.Item{Expr: column, Name: p.columnName()})
	}
	p.starItems(item)
	return items
}

// columnName reads the name of a column, without quotes of texts.
func (p *parser) columnName() tree.Name {
	if !p.token().isColumnName() {
		p.failHere("the name of a column")
	}
	return p.takeName()
}

// starItems reads an item, or items in parentheses.
func (p *parser) starItems(item func()) {
	if !p.accept("(") {
		item()
		return
	}
	for {
		item()
		if !p.accept(",") || p.at(")") {
			break
		}
	}
	p.expect(")")
}
