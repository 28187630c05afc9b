package regex

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Part is a part of a replacement: a literal, or the text between two places of
// [Searcher.Match] if the literal is empty.
type Part struct {
	Literal string
	Begin   int
}

// Replacer is a pattern and the replacement of its matches.
type Replacer struct {
	Program *Program
	Parts   []Part
}

// NewReplacer compiles a pattern and a replacement in the syntax of regexp.Expand: $1 or
// ${1} is a group, ${name} a named group, $$ a dollar sign.
func NewReplacer(ctx context.Context, pattern, with string) (*Replacer, error) {
	plain, err := Compile(ctx, pattern, Options{Positions: true})
	if err != nil {
		return nil, err
	}
	var groups []int
	var parts []Part
	var text []byte // of the literal at the end
	literal := func() {
		if len(text) > 0 {
			parts, text = append(parts, Part{Literal: string(text)}), nil
		}
	}
	group := func(number int) {
		literal()
		if number == 0 {
			parts = append(parts, Part{})
			return
		}
		at := slices.Index(groups, number)
		if at < 0 {
			at = len(groups)
			groups = append(groups, number)
		}
		parts = append(parts, Part{Begin: 2 + 2*at})
	}
	for with != "" {
		before, rest, more := strings.Cut(with, "$")
		text = append(text, before...)
		if with = rest; !more {
			break
		}
		if strings.HasPrefix(with, "$") {
			text = append(text, '$')
			with = with[1:]
			continue
		}
		name, rest, ok := reference(with)
		if !ok {
			text = append(text, '$')
			continue
		}
		with = rest
		if number, ok := plain.group(name); ok {
			group(number)
		}
	}
	literal()
	program := plain
	if len(groups) > 0 {
		if program, err = Compile(ctx, pattern, Options{Positions: true, Groups: groups}); err != nil {
			return nil, err
		}
	}
	return &Replacer{program, parts}, nil
}

// reference returns the name behind a dollar sign, and the rest of the text.
func reference(text string) (name, rest string, ok bool) {
	braced := strings.HasPrefix(text, "{")
	if braced {
		text = text[1:]
	}
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	if end < 0 {
		end = len(text)
	}
	name, rest = text[:end], text[end:]
	if braced {
		if !strings.HasPrefix(rest, "}") {
			return "", "", false
		}
		rest = rest[1:]
	}
	return name, rest, name != ""
}

// group returns the group of a name or a number. Without one, a reference is empty.
func (p *Program) group(name string) (int, bool) {
	if strings.Trim(name, "0123456789") == "" {
		number, err := strconv.Atoi(name)
		return number, err == nil && number <= p.groups && (name == "0" || name[0] != '0')
	}
	at := slices.Index(p.names, name)
	return at, at > 0
}

// Replace appends a text with its matches replaced, as regexp's ReplaceAllString.
func (s *Searcher) Replace(to, text []byte, parts []Part) []byte {
	behind := 0
	for at := 0; at <= len(text) && s.Search(text, at); {
		begin, end := int(s.Match[0]), int(s.Match[1])
		to = append(to, text[behind:begin]...)
		if end > behind || begin == 0 { // no empty match that adjoins the match before
			for _, part := range parts {
				switch {
				case part.Literal != "":
					to = append(to, part.Literal...)
				case s.Match[part.Begin] != None:
					to = append(to, text[s.Match[part.Begin]:s.Match[part.Begin+1]]...)
				}
			}
		}
		behind = end
		_, width := utf8.DecodeRune(text[at:])
		at = max(end, at+max(width, 1))
	}
	return append(to, text[behind:]...)
}
