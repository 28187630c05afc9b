package kerneltest

import (
	"fmt"
	"strconv"
	"strings"
)

// body reads the statements of a function after its opening brace.
func (p *parser) body(f *function) {
	for depth := 1; ; {
		t := p.peek()
		switch t.text {
		case "{":
			p.next()
			depth++
			f.body = append(f.body, statement{kind: openStatement, line: t.line})
		case "}":
			p.next()
			if depth--; depth == 0 {
				f.last = t.line
				return
			}
			f.body = append(f.body, statement{kind: closeStatement, line: t.line})
		case ".loc", ".file":
			p.restOfLine(t.line)
		case ".pragma":
			p.skipStatement()
		case ";":
			p.next()
		case ".reg":
			p.registers(f)
		case ".shared", ".local", ".param", ".const", ".global":
			v := p.variable()
			p.expect(";")
			f.body = append(f.body, statement{kind: variableStatement, line: t.line, variable: v})
		default:
			if t.kind == endToken {
				refuse(t.line, "the body of %s does not end", f.name)
			}
			f.body = append(f.body, p.statement())
		}
	}
}

// registers reads .reg .b32 %a, %b<4>;
func (p *parser) registers(f *function) {
	line := p.next().line
	kind := p.word()
	t, ok := typeOf(kind.text)
	if !ok {
		refuse(line, "%q is not a type of registers", kind.text)
	}
	s := statement{kind: registerStatement, line: line, registers: t}
	for {
		name := p.word().text
		if p.accept("<") {
			for i := range p.integer() {
				s.names = append(s.names, fmt.Sprint(name, i))
			}
			p.expect(">")
		} else {
			s.names = append(s.names, name)
		}
		if p.accept(";") {
			break
		}
		p.expect(",")
	}
	f.body = append(f.body, s)
}

func (p *parser) statement() statement {
	first := p.peek()
	s := statement{line: first.line}
	if first.kind == wordToken && p.all[p.at+1].text == ":" {
		p.at += 2
		s.kind, s.label = labelStatement, first.text
		if p.peek().text == ".branchtargets" {
			p.next()
			s.kind = targetsStatement
			for {
				s.targets = append(s.targets, p.word().text)
				if p.accept(";") {
					return s
				}
				p.expect(",")
			}
		}
		return s
	}
	if p.accept("@") {
		s.guardNot = p.accept("!")
		s.guard = p.word().text
	}
	opcode := p.word()
	if strings.HasPrefix(opcode.text, ".") {
		refuse(opcode.line, "directive %q is not known", opcode.text)
	}
	words := strings.Split(opcode.text, ".")
	s.opcode, s.modifiers = words[0], words[1:]
	for p.peek().text != ";" {
		s.arguments = append(s.arguments, p.argument())
		if p.peek().text != ";" {
			p.expect(",")
		}
	}
	end := p.next()
	s.text = strings.Join(strings.Fields(p.source[first.start:end.start]), " ")
	return s
}

func (p *parser) argument() argument {
	t := p.next()
	switch {
	case t.text == "[":
		a := p.argument()
		if a.kind != nameArgument && a.kind != numberArgument {
			refuse(t.line, "unsupported form of address")
		}
		p.expect("]")
		return argument{kind: addressArgument, name: a.name, number: a.number, offset: a.offset}
	case t.text == "{" || t.text == "(":
		a := argument{kind: vectorArgument}
		end := "}"
		if t.text == "(" {
			a.kind, end = listArgument, ")"
		}
		for !p.accept(end) {
			a.parts = append(a.parts, p.argument())
			if p.peek().text != end {
				p.expect(",")
			}
		}
		return a
	case t.text == "!":
		return argument{kind: nameArgument, name: p.word().text, not: true}
	case t.text == "-" || t.text == "+":
		n := p.next()
		if n.kind != numberToken {
			refuse(t.line, "want a number after %q", t.text)
		}
		return argument{kind: numberArgument, number: t.text + n.text}
	case t.kind == numberToken:
		return argument{kind: numberArgument, number: t.text}
	case t.kind == wordToken && t.text == "generic" && p.accept("("):
		a := p.argument()
		p.expect(")")
		a.offset += p.offset()
		return a
	case t.kind == wordToken:
		a := argument{kind: nameArgument, name: t.text}
		if p.accept("|") {
			a.pair = p.word().text
			return a
		}
		a.offset = p.offset()
		return a
	}
	refuse(t.line, "%q is not an operand", t.text)
	return argument{}
}

// offset reads +n, -n or +-n.
func (p *parser) offset() int64 {
	sign := int64(1)
	switch {
	case p.accept("+"):
		if p.accept("-") {
			sign = -1
		}
	case p.accept("-"):
		sign = -1
	default:
		return 0
	}
	t := p.next()
	n, err := strconv.ParseInt(strings.TrimSuffix(t.text, "U"), 0, 64)
	if err != nil {
		refuse(t.line, "expected a number of bytes, not %q", t.text)
	}
	return sign * n
}
