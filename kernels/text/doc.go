// Package text has functions of strings that are separate steps of an expression:
// regular expressions.
//
//	isAddress := text.Matches(expr.Col("contact"), `^[a-z]+@[a-z]+\.(com|org)$`)
//
// Patterns have the syntax of package regexp, and give its results. The host compiles a
// pattern to an automaton, and each thread of a kernel runs it on a string: see
// internal/text/regex. A pattern that does not compile is a [*PatternError] with the position in
// it; an automaton that exceeds a limit wraps [ErrPatternTooLarge].
//
// Strings and binaries of 32-bit and 64-bit offsets and dictionaries of them are operands.
// Each distinct value of a dictionary is searched once. The results have the nulls of the
// operand. Strings of 4 GiB and more have no matches. Functions that make strings wait for the
// number of their bytes.
//
// An automaton has at most 131,072 transitions, and a search that returns places or groups
// keeps at most 128 positions: [a-z]{200} can be matched, but not found.
package text
