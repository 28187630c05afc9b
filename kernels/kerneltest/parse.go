package kerneltest

import (
	"slices"
	"strconv"
	"strings"
)

type parser struct {
	source string
	all    []token
	at     int
}

// parse reads the text of a module.
func parse(source string) (m *module, err error) {
	defer recovered(&err)
	p := &parser{source: source, all: tokens(source)}
	m = &module{functions: map[string]*function{}, source: source}
	for p.peek().kind != endToken {
		p.topLevel(m)
	}
	if m.version == "" || m.target == "" {
		refuse(1, "the text lacks .version or .target")
	}
	return m, nil
}

func (p *parser) peek() token { return p.all[p.at] }

func (p *parser) next() token {
	t := p.all[p.at]
	if t.kind != endToken {
		p.at++
	}
	return t
}

func (p *parser) accept(text string) bool {
	if t := p.peek(); t.kind != stringToken && t.text == text {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(text string) token {
	t := p.next()
	if t.text != text {
		refuse(t.line, "expected %q, not %q", text, t.text)
	}
	return t
}

func (p *parser) word() token {
	t := p.next()
	if t.kind != wordToken {
		refuse(t.line, "expected a name, not %q", t.text)
	}
	return t
}

func (p *parser) integer() int {
	t := p.next()
	n, err := strconv.ParseInt(strings.TrimSuffix(t.text, "U"), 0, 64)
	if err != nil {
		refuse(t.line, "expected an integer, not %q", t.text)
	}
	return int(n)
}

// restOfLine skips a directive that has no end mark.
func (p *parser) restOfLine(line int) {
	for p.peek().kind != endToken && p.peek().line == line {
		p.at++
	}
}

func (p *parser) topLevel(m *module) {
	t := p.peek()
	switch t.text {
	case ".version":
		p.next()
		m.version = p.next().text
	case ".target":
		p.next()
		m.target = p.next().text
		p.restOfLine(t.line)
	case ".address_size":
		p.next()
		if p.integer() != 64 {
			refuse(t.line, "addresses have 64 bits")
		}
	case ".file", ".loc":
		p.restOfLine(t.line)
	case ".section":
		p.skipSection()
	case ".pragma":
		p.skipStatement()
	case ";":
		p.next()
	default:
		p.declaration(m)
	}
}

func (p *parser) skipStatement() {
	for t := p.next(); t.text != ";"; t = p.next() {
		if t.kind == endToken {
			refuse(t.line, "a statement that does not end")
		}
	}
}

func (p *parser) skipSection() {
	for t := p.next(); t.text != "{"; t = p.next() {
		if t.kind == endToken {
			refuse(t.line, "a section without a brace")
		}
	}
	for depth := 1; depth > 0; {
		switch t := p.next(); {
		case t.text == "{":
			depth++
		case t.text == "}":
			depth--
		case t.kind == endToken:
			refuse(t.line, "a section that does not end")
		}
	}
}

func (p *parser) declaration(m *module) {
	extern := false
	for {
		t := p.peek()
		switch t.text {
		case ".visible", ".weak", ".common":
			p.next()
		case ".extern":
			extern = true
			p.next()
		case ".entry", ".func":
			p.function(m)
			return
		case ".global", ".const", ".shared":
			v := p.variable()
			v.extern = extern
			if !slices.ContainsFunc(m.variables, func(o *variable) bool { return o.name == v.name }) {
				m.variables = append(m.variables, v)
			}
			p.expect(";")
			return
		default:
			refuse(t.line, "%q is not known here", t.text)
		}
	}
}

// variable reads a declaration up to its semicolon or comma.
func (p *parser) variable() *variable {
	first := p.word()
	v := &variable{space: first.text[1:], line: first.line, count: 1}
	times := 1
	for {
		t := p.word()
		switch {
		case t.text == ".align":
			v.align = p.integer()
		case t.text == ".ptr" || t.text == ".global" || t.text == ".shared" || t.text == ".const" || t.text == ".local":
			// the pointee of a pointer parameter
		case t.text == ".v2":
			times = 2
		case t.text == ".v4":
			times = 4
		case strings.HasPrefix(t.text, "."):
			var ok bool
			if v.typ, ok = typeOf(t.text); !ok {
				refuse(t.line, "%q is not known in a declaration", t.text)
			}
		default:
			v.name = t.text
		}
		if v.name != "" {
			break
		}
	}
	if v.typ.class == noType || v.typ.class == predicateClass {
		refuse(first.line, "%s has no type that memory can have", v.name)
	}
	v.count = times
	v.align = max(v.align, v.typ.bytes()*times)
	for p.accept("[") {
		v.array = true
		if p.accept("]") {
			v.count = 0
			continue
		}
		v.count *= p.integer()
		p.expect("]")
	}
	if p.accept("=") {
		v.init = p.initializer()
	}
	return v
}

func (p *parser) initializer() []argument {
	if !p.accept("{") {
		return []argument{p.argument()}
	}
	var values []argument
	for !p.accept("}") {
		if p.peek().text == "{" {
			values = append(values, p.initializer()...)
		} else {
			values = append(values, p.argument())
		}
		p.accept(",")
	}
	return values
}

func (p *parser) parameterList() []parameter {
	var list []parameter
	p.expect("(")
	for !p.accept(")") {
		t := p.peek()
		if t.text == ".reg" {
			p.next()
			kind := p.word()
			typ, ok := typeOf(kind.text)
			if !ok {
				refuse(kind.line, "%q is not a type", kind.text)
			}
			list = append(list, parameter{variable: variable{name: p.word().text, typ: typ, count: 1, line: t.line}, register: true})
		} else if t.text == ".param" {
			list = append(list, parameter{variable: *p.variable()})
		} else {
			refuse(t.line, "%q is not a parameter", t.text)
		}
		p.accept(",")
	}
	return list
}

func (p *parser) function(m *module) {
	first := p.next()
	f := &function{entry: first.text == ".entry", line: first.line}
	if p.peek().text == "(" {
		f.results = p.parameterList()
	}
	f.name = p.word().text
	if p.peek().text == "(" {
		f.parameters = p.parameterList()
	}
	for {
		t := p.next()
		switch t.text {
		case ".maxntid", ".reqntid":
			size := [3]int{1, 1, 1}
			size[0] = p.integer()
			for i := 1; i < 3 && p.accept(","); i++ {
				size[i] = p.integer()
			}
			f.maxThreads = size[0] * size[1] * size[2]
			if t.text == ".reqntid" {
				f.required = size
			}
		case ".minnctapersm", ".maxnreg", ".maxnctapersm":
			p.integer()
		case ".noreturn":
		case ".pragma":
			p.skipStatement()
		case ";":
			if m.functions[f.name] == nil {
				m.functions[f.name] = f
			}
			return
		case "{":
			if old := m.functions[f.name]; old != nil && old.hasBody {
				refuse(f.line, "%s is declared twice", f.name)
			}
			f.hasBody = true
			m.functions[f.name] = f
			p.body(f)
			return
		default:
			refuse(t.line, "%q is not known before the body of %s", t.text, f.name)
		}
	}
}
