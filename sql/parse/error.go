package parse

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// Error is a fault of a statement at a place of its text.
type Error struct {
	// Text is the whole text, Position the offset of the fault in it.
	Text     string
	Position tree.Position
	// Message names the fault and the forms that would be right.
	Message string
	// Cause is the error of another package, or nil.
	Cause error
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Place returns the line and the column of the fault, in characters from 1.
func (e *Error) Place() (line, column int) {
	before := e.Text[:min(max(int(e.Position), 0), len(e.Text))]
	line = 1 + strings.Count(before, "\n")
	return line, 1 + utf8.RuneCountInString(before[1+strings.LastIndexByte(before, '\n'):])
}

// Error returns the message with the line of the text and a caret below the fault. Users, passwords and queries of
// URLs are hidden.
func (e *Error) Error() string {
	line, column := e.Place()
	position := min(max(int(e.Position), 0), len(e.Text))
	begin := 1 + strings.LastIndexByte(e.Text[:position], '\n')
	shown, _, _ := strings.Cut(e.Text[begin:], "\n")
	shown, at := hideSecrets(strings.TrimSuffix(shown, "\r"), position-begin, false)
	margin := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, shown[:min(at, len(shown))])
	message, _ := hideSecrets(e.Message, 0, true)
	return fmt.Sprintf("sql: line %d, column %d: %s\n  %s\n  %s^", line, column, message, shown, margin)
}
