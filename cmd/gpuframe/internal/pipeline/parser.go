package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// parser reads the tokens of a text.
type parser struct {
	source, text string
	tokens       []token
	at           int
	// depth is the number of expressions that contain the one at hand.
	depth int
}

// deepest is the number of expressions that may contain each other.
const deepest = 200

// mostTokens is the length of a text that is read.
const mostTokens = 10_000

// words are the words of the grammar, which are no names of columns without backticks.
var words = []string{"and", "or", "not", "in", "like", "between", "is", "null", "true", "false", "as", "asc", "desc", "nulls", "by", "agg", "over", "where"}

func newParser(source, text string) (*parser, error) {
	list, err := tokens(source, text)
	if err != nil {
		return nil, err
	}
	p := &parser{source: source, text: text, tokens: list}
	if len(list) > mostTokens {
		return nil, p.failAt(list[mostTokens].begin, fmt.Errorf("more than %d words and signs", mostTokens))
	}
	return p, nil
}

// peek returns the next token.
func (p *parser) peek() token { return p.tokens[p.at] }

// next returns the next token and moves on.
func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}

// accept moves on if the next token is an operator or a word.
func (p *parser) accept(value string) bool {
	if !p.peek().is(value) {
		return false
	}
	p.at++
	return true
}

// acceptAny moves on if the next token is one of several, and returns it.
func (p *parser) acceptAny(values ...string) (string, bool) {
	t := p.peek()
	if t.kind != operator && t.kind != word || !slices.Contains(values, t.value) {
		return "", false
	}
	p.at++
	return t.value, true
}

// expect moves on if the next token is an operator or a word, or fails.
func (p *parser) expect(value string) error {
	if p.accept(value) {
		return nil
	}
	return p.unexpected(fmt.Sprintf("%q", value))
}

// unexpected is the error for the next token.
func (p *parser) unexpected(expected string) error {
	t := p.peek()
	hint := ""
	if lower := strings.ToLower(t.value); t.kind == word && lower != t.value && slices.Contains(words, lower) {
		hint = fmt.Sprintf(" (words are in lower case: %s)", lower)
	}
	return p.failAt(t.begin, fmt.Errorf("found %v, expected %s%s", t, expected, hint))
}

// failAt is an error of syntax at a byte of the text.
func (p *parser) failAt(offset int, err error) error {
	if !errors.Is(err, ErrSyntax) {
		err = fmt.Errorf("%w: %w", err, ErrSyntax)
	}
	return &Error{p.source, p.text, offset, err}
}

// list reads parts with commas between them.
func list[T any](p *parser, part func() (T, error)) ([]T, error) {
	var made []T
	for {
		one, err := part()
		if err != nil {
			return nil, err
		}
		made = append(made, one)
		if !p.accept(",") {
			return made, nil
		}
	}
}

// name reads the name of a column.
func (p *parser) name() (token, error) {
	t := p.peek()
	if t.kind == quotedName || t.kind == word && !slices.Contains(words, t.value) {
		return p.next(), nil
	}
	return t, p.unexpected("the name of a column")
}
