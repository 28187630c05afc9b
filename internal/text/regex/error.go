package regex

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
)

// ErrTooLarge is wrapped by the error of a pattern if its automaton exceeds a limit.
var ErrTooLarge = errors.New("the automaton is too large")

// Error is a pattern that does not compile.
type Error struct {
	Pattern string
	// Position is the byte of the pattern at which the construct begins that is not
	// supported. It is 0 for limits of the whole pattern.
	Position int
	// Reason wraps ErrTooLarge or is the error of regexp/syntax.
	Reason error
}

func (e *Error) Error() string {
	return fmt.Sprintf("regular expression %q: at byte %d: %v", e.Pattern, e.Position, e.Reason)
}

func (e *Error) Unwrap() error { return e.Reason }

// refused returns the error of a pattern that does not parse.
func refused(pattern string, err error) error {
	var parsing *syntax.Error
	if !errors.As(err, &parsing) {
		return &Error{Pattern: pattern, Reason: err}
	}
	return &Error{Pattern: pattern, Position: position(pattern, parsing), Reason: err}
}

// position returns where the part of a pattern begins that an error names: the first
// occurrence at which the pattern that ends there is refused for the same reason. If it is not among
// the first ones, the first one is returned.
func position(pattern string, err *syntax.Error) int {
	// Each occurrence takes a parse of the pattern before it, so a pattern with many ends the search.
	tries := 100
	for at := 0; at <= len(pattern)-len(err.Expr) && tries > 0; at++ {
		if !strings.HasPrefix(pattern[at:], err.Expr) {
			continue
		}
		tries--
		_, again := syntax.Parse(pattern[:at+len(err.Expr)], syntax.Perl)
		var parsing *syntax.Error
		if errors.As(again, &parsing) && parsing.Code == err.Code && parsing.Expr == err.Expr {
			return at
		}
	}
	return max(strings.Index(pattern, err.Expr), 0)
}
