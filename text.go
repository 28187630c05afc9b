package gpuframe

import (
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/text"
)

// A PatternError is a regular expression that does not compile, with the position in it.
// [Query.Explain] and Collect return it.
type PatternError = text.PatternError

// MatchesRegex reports whether a string has a match of a regular expression in the syntax of
// package regexp.
func (e Expr) MatchesRegex(pattern string) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return text.Matches(value, pattern) })
}

// FindRegex is the number of the character at which the first match begins, from 1, or 0
// without a match.
func (e Expr) FindRegex(pattern string) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return text.Find(value, pattern) })
}

// CountRegex is the number of matches that do not overlap.
func (e Expr) CountRegex(pattern string) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return text.Count(value, pattern) })
}

// ExtractRegex is the text of a group of the first match. Group 0 is the match. It is null
// without a match, and if the group takes no part in it.
func (e Expr) ExtractRegex(pattern string, group int) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return text.Extract(value, pattern, group) })
}

// ReplaceRegex is a string with another text in place of all matches, as regexp's
// ReplaceAllString: $1 or ${1} is the text of a group, ${name} that of a named group, $$ a
// dollar sign.
func (e Expr) ReplaceRegex(pattern, with string) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return text.Replace(value, pattern, with) })
}
