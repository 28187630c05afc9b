package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// parser reads the tokens of a text. After the first error the text reads as if it ended, and
// everything else becomes empty, so that the methods need not return errors.
type parser struct {
	origin
	tokens []token
	at     int
	// depth is the number of expressions that contain the one at hand.
	depth int
	err   error
}

// origin is a text with its name in errors.
type origin struct{ source, text string }

// errorAt is an error at a byte of the text.
func (o origin) errorAt(offset int, err error) *Error { return &Error{o.source, o.text, offset, err} }

// deepest is the number of expressions that may contain each other.
const deepest = 200

// mostTokens is the length of a text that is read.
const mostTokens = 10_000

// words are the words of the grammar, which are no names of columns without backticks.
var words = []string{"and", "or", "not", "in", "like", "between", "is", "null", "true", "false", "as", "asc", "desc", "nulls", "by", "agg", "over", "where"}

func newParser(source, text string) *parser {
	list, err := tokens(text)
	p := &parser{origin: origin{source, text}, tokens: list}
	switch {
	case !utf8.ValidString(text):
		valid := strings.IndexFunc(text, func(r rune) bool { return r == utf8.RuneError })
		p.fail(valid, "the text is no UTF-8")
	case err != nil:
		p.fail(list[len(list)-1].begin, "%v", err)
	case len(list) > mostTokens:
		p.fail(list[mostTokens].begin, "more than %d words and signs", mostTokens)
	}
	return p
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
	if !p.peek().matches(value) {
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

// acceptWords moves on if the next token is a word, and then expects another one.
func (p *parser) acceptWords(first, second string) bool {
	if !p.accept(first) {
		return false
	}
	p.expect(second)
	return true
}

// expect moves on if the next token is an operator or a word, or fails.
func (p *parser) expect(value string) { p.expectOr(value, fmt.Sprintf("%q", value)) }

// expectOr is expect with a list of all words that could come next.
func (p *parser) expectOr(value, expected string) {
	if !p.accept(value) {
		p.unexpected(expected)
	}
}

// quoted reads a text in quotes.
func (p *parser) quoted(expected string) string {
	if p.peek().kind != text {
		p.unexpected(expected)
		return ""
	}
	return p.next().value
}

// unexpected fails at the next token.
func (p *parser) unexpected(expected string) {
	t := p.peek()
	hint := ""
	if lower := strings.ToLower(t.value); t.kind == word && lower != t.value && slices.Contains(words, lower) {
		hint = fmt.Sprintf(" (words are in lower case: %s)", lower)
	}
	p.fail(t.begin, "found %v, expected %s%s", t, expected, hint)
}

// fail records the first error of syntax, at a byte of the text.
func (p *parser) fail(offset int, format string, values ...any) {
	if p.err == nil {
		p.err = p.errorAt(offset, fmt.Errorf("%s: %w", fmt.Sprintf(format, values...), ErrSyntax))
		p.at = len(p.tokens) - 1
	}
}

// list reads parts with commas between them.
func list[T any](p *parser, part func(*parser) T) []T {
	parts := []T{part(p)}
	for p.accept(",") {
		parts = append(parts, part(p))
	}
	return parts
}

// name reads the name of a column.
func (p *parser) name() token {
	if t := p.peek(); t.kind != quotedName && (t.kind != word || slices.Contains(words, t.value)) {
		p.unexpected("the name of a column")
	}
	return p.next()
}
