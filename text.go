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

// IsAlpha reports whether all characters of a string are letters, as package unicode has
// them, and the string is not empty. Bytes that are no UTF-8 are of no class.
func (e Expr) IsAlpha() Expr { return unary(e, text.IsAlpha) }

// IsDigit reports whether all characters are decimal digits and the string is not empty.
func (e Expr) IsDigit() Expr { return unary(e, text.IsDigit) }

// IsAlnum reports whether all characters are letters or decimal digits and the string is not empty.
func (e Expr) IsAlnum() Expr { return unary(e, text.IsAlnum) }

// IsSpace reports whether all characters are white space and the string is not empty.
func (e Expr) IsSpace() Expr { return unary(e, text.IsSpace) }

// IsUpper reports whether a string has a letter in upper case and none in lower or title case.
func (e Expr) IsUpper() Expr { return unary(e, text.IsUpper) }

// IsLower reports whether a string has a letter in lower case and none in upper or title case.
func (e Expr) IsLower() Expr { return unary(e, text.IsLower) }

// IsASCII reports whether all bytes of a string are below 128.
func (e Expr) IsASCII() Expr { return unary(e, text.IsASCII) }

// Hex is the bytes of a string or binary as hexadecimal digits.
func (e Expr) Hex() Expr { return unary(e, text.Hex) }

// Unhex is the bytes of hexadecimal digits, as binary. It is null for other strings.
func (e Expr) Unhex() Expr { return unary(e, text.Unhex) }

// Base64 is the bytes of a string or binary in base64 with padding.
func (e Expr) Base64() Expr { return unary(e, text.Base64) }

// Unbase64 is the bytes of a string in base64, as binary. It is null for other strings.
func (e Expr) Unbase64() Expr { return unary(e, text.Unbase64) }

// EditDistance is the number of characters to insert, remove or replace to make a string x:
// the distance of Levenshtein. It is null if the shorter one has more than 256 characters.
func (e Expr) EditDistance(x any) Expr { return binary(e, x, text.EditDistance) }

// FormatFloat is a float32 or float64 as the shortest text that is read as the same number, as
// strconv.FormatFloat(x, 'g', -1, bits) has it.
func (e Expr) FormatFloat() Expr { return unary(e, text.FormatFloat) }
