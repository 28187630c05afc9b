package parse

import (
	"strconv"
	"strings"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// typeName reads a type with the brackets of lists and arrays behind it.
func (p *parser) typeName() *tree.Type {
	outer := p.typeLevels
	p.typeLevel()
	t := p.simpleType()
	if p.accept("array") {
		if p.token().word != "[" {
			t = listOf(t, nil)
		} else {
			p.take()
			t = listOf(t, []int64{p.wholeNumber("the length of the array")})
			p.expect("]")
		}
	} else {
		t = p.brackets(t)
	}
	if outer == 0 {
		p.typeLevels = 0
	}
	return t
}

// brackets reads the brackets of lists and arrays behind a type.
func (p *parser) brackets(t *tree.Type) *tree.Type {
	for p.accept("[") {
		p.typeLevel()
		if p.accept("]") {
			t = listOf(t, nil)
			continue
		}
		t = listOf(t, []int64{p.wholeNumber("the length of the array, or ]")})
		p.expect("]")
	}
	return t
}

// typeLevel counts a level of the current type, which has MaxDepth of them at most.
func (p *parser) typeLevel() {
	p.typeLevels++
	if p.typeLevels > MaxDepth {
		p.fail(p.token().pos, depthMessage)
	}
}

// listOf returns the list of a type, or an array with a length.
func listOf(element *tree.Type, length []int64) *tree.Type {
	name := "list"
	if len(length) > 0 {
		name = "array"
	}
	return &tree.Type{Position: element.Position, Name: name, Params: length, Element: element}
}

// wholeNumber reads a whole number.
func (p *parser) wholeNumber(form string) int64 {
	t := p.token()
	number, err := strconv.ParseInt(t.text, 0, 64)
	if t.kind != numberToken || err != nil {
		p.failHere(form)
	}
	p.take()
	return number
}

// simpleType reads a type without brackets behind it.
func (p *parser) simpleType() *tree.Type {
	t := p.token()
	e := &tree.Type{Position: tree.Position(t.pos)}
	switch t.word {
	case "struct", "row", "union":
		if p.ahead(1).word == "(" {
			p.take()
			e.Name = t.word
			if t.word == "row" {
				e.Name = "struct"
			}
			e.Fields = p.typeFields()
			return e
		}
	case "map":
		if p.ahead(1).word == "(" {
			p.take()
			p.take()
			e.Name, e.Key = "map", p.typeName()
			p.expect(",")
			e.Element = p.typeName()
			p.expect(")")
			return e
		}
	case "setof":
		p.fail(t.pos, "SETOF is not supported: write the type followed by []")
	case "enum":
		if p.ahead(1).word == "(" {
			p.fail(t.pos, "enum types are not supported: write varchar")
		}
	}
	p.typeWords(e)
	return e
}

// typeFields reads the fields of a struct.
func (p *parser) typeFields() (fields []tree.TypeField) {
	p.expect("(")
	for {
		if !p.token().isColumnName() {
			p.failHere("the name of a field")
		}
		name := p.takeName()
		fields = append(fields, tree.TypeField{Name: name, Type: p.typeName()})
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return fields
}

// typeWords reads the words of a type and its parameters.
func (p *parser) typeWords(e *tree.Type) {
	t := p.token()
	switch t.word {
	case "double":
		p.take()
		p.accept("precision")
		e.Name = "double"
	case "character", "char", "nchar", "bit":
		p.take()
		e.Name = t.word
		if p.accept("varying") {
			e.Name += " varying"
		}
		e.Params = p.typeParams()
	case "national":
		p.take()
		if !p.at("character") && !p.at("char") {
			p.failHere("")
		}
		p.typeWords(e)
	case "timestamp", "time":
		p.take()
		e.Name, e.Params = t.word, p.typeParams()
		switch {
		case p.acceptWords("with", "time", "zone"):
			e.Name += " with time zone"
		case p.acceptWords("without", "time", "zone"):
		}
	case "interval":
		p.take()
		e.Name = "interval"
		if units[p.token().word] != "" {
			p.fail(p.token().pos, "units of the type INTERVAL are not supported: write INTERVAL")
		}
		e.Params = p.typeParams()
	default:
		p.genericType(e)
	}
}

// genericType reads the name of a type with the names before it and its parameters.
func (p *parser) genericType(e *tree.Type) {
	t := p.token()
	if !t.isTypeName() {
		p.failHere("a type")
	}
	names := []tree.Name{p.takeName()}
	for p.token().word == "." {
		p.take()
		if t := p.token(); t.kind != quotedToken && (t.kind != nameToken || t.class != notKeyword) {
			p.failHere("the name of a type")
		}
		names = append(names, p.takeName())
	}
	*e = *namedType(e.Position, names)
	e.Params = p.typeParams()
}

// isTypeName returns whether a token may be the name of a type.
func (t *token) isTypeName() bool {
	switch {
	case t.kind == quotedToken:
		return true
	case t.kind != nameToken, t.class == reserved, t.word == "struct", t.word == "map", t.word == "generated", t.word == "enum":
		return false
	}
	return t.class != columnWord || keywordTypes[t.word]
}

// namedType returns the type with a name.
func namedType(pos tree.Position, names []tree.Name) *tree.Type {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = name.Text
		if !name.Quoted {
			texts[i] = strings.ToLower(name.Text)
		}
	}
	return &tree.Type{Position: pos, Name: strings.Join(texts, ".")}
}

// typeParams reads the numbers in parentheses behind a type.
func (p *parser) typeParams() (params []int64) {
	if !p.accept("(") {
		return nil
	}
	for !p.at(")") {
		if t := p.token(); t.kind != numberToken {
			p.fail(t.pos, "parameters of types that are no numbers are not supported")
		}
		params = append(params, p.wholeNumber("a whole number"))
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return params
}

// keywordTypes are the keywords of types that stand before a text: date and others are names.
var keywordTypes = map[string]bool{
	"int": true, "integer": true, "smallint": true, "bigint": true, "real": true, "float": true, "decimal": true,
	"dec": true, "numeric": true, "boolean": true, "bit": true, "character": true, "char": true, "varchar": true,
	"national": true, "nchar": true, "timestamp": true, "time": true, "double": true,
}

// typedText reads a type that is a keyword with the text behind it. It returns nil if no text stands behind the
// type.
func (p *parser) typedText() tree.Expr {
	t := p.token()
	if !keywordTypes[t.word] {
		return nil
	}
	start, noted := p.next, p.expected
	e := &tree.TypedText{Position: tree.Position(t.pos)}
	if !p.skipsType() {
		p.next, p.expected = start, noted
		return nil
	}
	end := p.next
	p.next = start
	e.Type = p.simpleType()
	if p.next != end {
		p.failHere("a text behind the type")
	}
	e.Text = p.take().text
	return e
}

// skipsType moves behind the words and the numbers of a type, and returns whether a text follows.
func (p *parser) skipsType() bool {
	p.next++
	for {
		switch p.token().word {
		case "precision", "varying", "character", "char", "with", "without", "time", "zone":
			p.next++
			continue
		}
		break
	}
	if p.token().word == "(" {
		for p.ahead(1).kind == numberToken || p.ahead(1).word == "," {
			p.next++
		}
		if p.ahead(1).word != ")" {
			return false
		}
		p.next += 2
	}
	for p.next < len(p.tokens)-1 {
		switch p.token().word {
		case "with", "without", "time", "zone":
			p.next++
			continue
		}
		break
	}
	return p.token().kind == textToken
}

// typedTextOf returns the text behind a call: its arguments are the parameters of a type.
func (p *parser) typedTextOf(call *tree.Call) tree.Expr {
	e := &tree.TypedText{Position: call.Position, Type: namedType(call.Position, call.Name)}
	for _, arg := range call.Args {
		number, ok := arg.Expr.(*tree.Literal)
		if !ok || number.Kind != tree.Integer || arg.Name.Text != "" {
			p.fail(int(arg.Expr.Pos()), "the parameter of a type has to be a whole number")
		}
		value, err := strconv.ParseInt(number.Text, 0, 64)
		if err != nil {
			p.fail(int(number.Position), "the parameter of the type is too large")
		}
		e.Type.Params = append(e.Type.Params, value)
	}
	e.Text = p.take().text
	return e
}
