package text

import "github.com/gpuframe/gpuframe/kernels/expr"

// The characters of classes, as package unicode has them.
const (
	letters = `\pL`
	digits  = `\p{Nd}`
	spaces  = `\t\n\v\f\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}`
	small   = `\p{Ll}\p{Lt}`
	capital = `\p{Lu}\p{Lt}`
)

// all is whether a string has one character or more, all of them of a class.
func all(e expr.Expr, class string) expr.Expr { return Matches(e, `\A[`+class+`]+\z`) }

// IsAlpha is whether all characters of a string are letters and the string is not empty.
// Bytes that are no UTF-8 are of no class.
func IsAlpha(e expr.Expr) expr.Expr { return all(e, letters) }

// IsDigit is whether all characters are decimal digits and the string is not empty.
func IsDigit(e expr.Expr) expr.Expr { return all(e, digits) }

// IsAlnum is whether all characters are letters or decimal digits and the string is not empty.
func IsAlnum(e expr.Expr) expr.Expr { return all(e, letters+digits) }

// IsSpace is whether all characters are white space and the string is not empty.
func IsSpace(e expr.Expr) expr.Expr { return all(e, spaces) }

// IsUpper is whether a string has a letter in upper case and none in lower or title case.
func IsUpper(e expr.Expr) expr.Expr { return Matches(e, `\A[^`+small+`]*\p{Lu}[^`+small+`]*\z`) }

// IsLower is whether a string has a letter in lower case and none in upper or title case.
func IsLower(e expr.Expr) expr.Expr { return Matches(e, `\A[^`+capital+`]*\p{Ll}[^`+capital+`]*\z`) }

// IsASCII is whether all bytes of a string are below 128. An empty string is.
func IsASCII(e expr.Expr) expr.Expr { return Matches(e, `\A[\x00-\x7f]*\z`) }
