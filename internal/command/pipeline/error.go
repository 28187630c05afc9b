package pipeline

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gpuframe/gpuframe/internal/text/apiterms"
)

// ErrSyntax reports a text that is not of the grammar.
var ErrSyntax = errors.New("not a pipeline")

// Error is an error at a place of a text.
type Error struct {
	// Source is the name of the text: "pipeline", or that of a flag.
	Source string
	// Text is the whole text, and Offset the byte in it that the error is about.
	Text   string
	Offset int
	Err    error
}

// Error returns the message in the words of the command line, and the line with a mark below the place.
func (e *Error) Error() string {
	before := e.Text[:e.Offset]
	line := strings.Count(before, "\n") + 1
	begin := strings.LastIndexByte(before, '\n') + 1
	shown, _, _ := strings.Cut(e.Text[begin:], "\n")
	column := utf8.RuneCountInString(before[begin:])
	message := apiterms.Text(apiterms.CommandLine, e.Err.Error())
	if errors.Is(e.Err, ErrSyntax) {
		message = strings.TrimSuffix(message, ": "+ErrSyntax.Error())
	}
	return fmt.Sprintf("%s:%d:%d: %s\n  %s\n  %s^", e.Source, line, column+1, message, strings.ReplaceAll(shown, "\t", " "), strings.Repeat(" ", column))
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }
