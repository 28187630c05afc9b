package pipeline

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is the kind of a token.
type kind int

const (
	end kind = iota
	word
	quotedName
	number
	text
	operator
)

// token is a part of the text.
type token struct {
	kind kind
	// value is the text of the token, without quotes.
	value string
	begin int
}

// matches reports whether the token is an operator or a word of the grammar.
func (t token) matches(value string) bool {
	return (t.kind == operator || t.kind == word) && t.value == value
}

// String describes the token for messages.
func (t token) String() string {
	switch t.kind {
	case end:
		return "the end"
	case text:
		return fmt.Sprintf("the text %q", t.value)
	}
	return fmt.Sprintf("%q", t.value)
}

// operators are the operators, longer ones before their beginnings.
var operators = []string{"==", "!=", "<>", "<=", ">=", "|", ",", "(", ")", "[", "]", "+", "-", "*", "/", "%", "=", "<", ">"}

// tokens divides a text. The last token is the end. An error is about the text from there.
func tokens(whole string) (list []token, err error) {
	for at := 0; ; {
		rest := strings.TrimLeftFunc(whole[at:], unicode.IsSpace)
		at = len(whole) - len(rest)
		if rest == "" {
			return append(list, token{kind: end, begin: at}), nil
		}
		t, length, err := first(rest)
		if err != nil {
			return append(list, token{kind: end, begin: at}), err
		}
		t.begin = at
		list = append(list, t)
		at += length
	}
}

// first returns the token that a text begins with, and its length.
func first(rest string) (t token, length int, err error) {
	r, _ := utf8.DecodeRuneInString(rest)
	switch {
	case r == '\'' || r == '"':
		value, length, err := quoted(rest)
		return token{kind: text, value: value}, length, err
	case r == '`':
		value, length, err := quoted(rest)
		if err == nil && value == "" {
			err = fmt.Errorf("a column needs a name")
		}
		return token{kind: quotedName, value: value}, length, err
	case r >= '0' && r <= '9' || r == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
		length := numberLength(rest)
		return token{kind: number, value: rest[:length]}, length, nil
	case isLetter(r):
		length := strings.IndexFunc(rest, func(r rune) bool { return !isLetter(r) && !unicode.IsDigit(r) })
		if length < 0 {
			length = len(rest)
		}
		return token{kind: word, value: rest[:length]}, length, nil
	}
	for _, o := range operators {
		if strings.HasPrefix(rest, o) {
			return token{kind: operator, value: o}, len(o), nil
		}
	}
	return token{}, 0, fmt.Errorf("unexpected %q", r)
}

func isLetter(r rune) bool { return r == '_' || r != utf8.RuneError && unicode.IsLetter(r) }

// quoted returns the text between the quote that rest begins with and the next one. Two
// quotes stand for one.
func quoted(rest string) (value string, length int, err error) {
	quote := rest[:1]
	var b strings.Builder
	for at := 1; ; {
		part, _, closed := strings.Cut(rest[at:], quote)
		if !closed {
			return "", 0, fmt.Errorf("the closing %s is missing", quote)
		}
		b.WriteString(part)
		at += len(part) + 1
		if !strings.HasPrefix(rest[at:], quote) {
			return b.String(), at, nil
		}
		b.WriteString(quote)
		at++
	}
}

// numberLength returns the length of the number that a text begins with.
func numberLength(rest string) int {
	digits := func(at int) int {
		for at < len(rest) && rest[at] >= '0' && rest[at] <= '9' {
			at++
		}
		return at
	}
	at := digits(0)
	if at < len(rest) && rest[at] == '.' {
		at = digits(at + 1)
	}
	if at < len(rest) && (rest[at] == 'e' || rest[at] == 'E') {
		exponent := at + 1
		if exponent < len(rest) && (rest[exponent] == '+' || rest[exponent] == '-') {
			exponent++
		}
		if after := digits(exponent); after > exponent {
			at = after
		}
	}
	return at
}
