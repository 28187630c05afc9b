package pipeline

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
)

// shortTypes are short names of types.
var shortTypes = map[string]string{"date": "date32", "timestamp": "timestamp[us, UTC]"}

// Types returns the names of the types without parameters, sorted.
func Types() []string {
	return slices.Sorted(slices.Values(slices.AppendSeq(querydata.TypeNames(), maps.Keys(shortTypes))))
}

// typeNamed returns the name that documents have for a type, and whether there is such a type.
func typeNamed(name string) (inDocuments string, ok bool) {
	if short := shortTypes[name]; short != "" {
		name = short
	}
	_, ok = querydata.Type(name)
	return name, ok
}

// dataType reads the name of a type: a word, perhaps with parameters, or a text.
func (p *parser) dataType() *node {
	t := p.next()
	name := t.value
	if closing := map[string]string{"(": ")", "[": "]"}[p.peek().value]; closing != "" && p.peek().kind == operator {
		for p.peek().kind != end && !p.peek().matches(closing) {
			p.next()
		}
		if p.expect(closing); p.err == nil {
			name = p.text[t.begin : p.tokens[p.at-1].begin+1]
		}
	}
	inDocuments, ok := typeNamed(name)
	if !ok || t.kind != word && t.kind != text {
		p.fail(t.begin, "%s", names.Unknown("type", name, Types()))
	}
	return &node{begin: t.begin, object: object{"type": inDocuments}}
}

// ParseTypes returns the types of columns that texts name, by column: "id=string, at=timestamp[ms]".
// Types are those of casts.
func ParseTypes(texts []string) (map[string]any, error) {
	parsed := map[string]any{}
	for _, text := range texts {
		for _, part := range outsideBrackets(text) {
			column, name, ok := cutLast(part, "=")
			if column, name = strings.TrimSpace(column), strings.TrimSpace(name); !ok || column == "" {
				return nil, fmt.Errorf("%q, expected a column and its type, such as id=string", part)
			}
			inDocuments, ok := typeNamed(name)
			if !ok {
				return nil, fmt.Errorf("column %q: %w", column, errors.New(names.Unknown("type", name, Types())))
			}
			if _, twice := parsed[column]; twice {
				return nil, fmt.Errorf("column %q has two types, expected one", column)
			}
			parsed[column] = inDocuments
		}
	}
	return parsed, nil
}

// outsideBrackets splits a text at its commas that are not in brackets: types have some.
func outsideBrackets(text string) (parts []string) {
	depth, begin := 0, 0
	for i, r := range text {
		switch r {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				parts, begin = append(parts, text[begin:i]), i+1
			}
		}
	}
	return append(parts, text[begin:])
}

func cutLast(text, separator string) (before, after string, ok bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}
