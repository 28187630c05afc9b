package parse

import (
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// Split cuts a text at the semicolons between statements, without reading the statements. rest is the text behind
// the last semicolon, which may be the beginning of a statement that has no end yet: a text or a comment
// without an end is no fault.
//
// # Errors
//
// Characters that are no part of a statement are an [*Error].
func Split(text string) (statements []string, rest string, err error) {
	if err := checkText(text); err != nil {
		return nil, "", err
	}
	start := 0
	for _, k := range tokens(text) {
		switch {
		case k.kind == symbolToken && k.word == ";":
			if statement := strings.TrimSpace(text[start:k.pos]); statement != "" {
				statements = append(statements, statement)
			}
			start = k.end
		case k.kind == faultToken && k.end < len(text):
			return nil, "", &Error{Text: text, Position: tree.Position(k.pos), Message: k.text}
		}
	}
	return statements, text[start:], nil
}

// Keywords returns the keywords, in lower case and sorted.
func Keywords() []string {
	return slices.Sorted(slices.Values(strings.Fields(unreservedWords + columnWords + functionWords + reservedWords)))
}
