package parse

import (
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// Split cuts a text at the semicolons between statements, without reading the statements. rest is the text behind
// the last semicolon, which may be the beginning of a statement that has no end yet: a text or a comment
// without an end is no fault. Statements of comments only are left out.
//
// # Errors
//
// Characters that are no part of a statement are an [*Error].
func Split(text string) (statements []string, rest string, err error) {
	if err := checkText(text); err != nil {
		return nil, "", err
	}
	start, isEmpty := 0, true
	for _, k := range tokens(text) {
		switch {
		case k.kind == symbolToken && k.word == ";":
			if !isEmpty {
				statements = append(statements, strings.TrimSpace(text[start:k.pos]))
			}
			start, isEmpty = k.end, true
		case k.kind == faultToken && k.end < len(text):
			return nil, "", &Error{Text: text, Position: tree.Position(k.pos), Message: k.text}
		case k.kind != endToken:
			isEmpty = false
		}
	}
	if isEmpty {
		return statements, "", nil
	}
	return statements, text[start:], nil
}

// Keywords returns the keywords, in lower case and sorted.
func Keywords() []string {
	return slices.Sorted(slices.Values(strings.Fields(unreservedWords + columnWords + functionWords + reservedWords)))
}
