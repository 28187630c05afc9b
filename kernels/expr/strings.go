package expr

import "github.com/gpuframe/gpuframe/internal/expr/exprtree"

// HasPrefix is whether e, a string, begins with x, a literal string.
func (e Expr) HasPrefix(x Expr) Expr { return make2(exprtree.StartsWith, e, x) }

// HasSuffix is whether e, a string, ends with x, a literal string.
func (e Expr) HasSuffix(x Expr) Expr { return make2(exprtree.EndsWith, e, x) }

// Contains is whether e, a string, contains x, a literal string.
func (e Expr) Contains(x Expr) Expr { return make2(contains, e, x) }

// Find is the position of the first occurrence of x, a literal string, in e, in
// characters from 1, as int64. It is 0 if e does not contain x.
func (e Expr) Find(x Expr) Expr { return make2(find, e, x) }

// Like is whether all of e, a string, matches a pattern, in which % is any number of
// characters and _ is one character. Other characters match themselves. If an escape
// character is given, the character after it in the pattern matches itself. Patterns are
// valid UTF-8; see [Expr.LengthChars] for what a character is in strings that are not.
func (e Expr) Like(pattern string, escape ...rune) Expr {
	arguments := []Expr{e, Lit(pattern)}
	for _, character := range escape {
		arguments = append(arguments, Lit(string(character)))
	}
	return makeMany(like, arguments...)
}

// LengthBytes is the number of bytes of e, a string, as int64.
func (e Expr) LengthBytes() Expr { return make1(exprtree.LengthBytes, e) }

// LengthChars is the number of characters of e, a string, as int64. A character is a byte
// other than 0x80 to 0xBF, with the bytes in this range that follow it: in valid UTF-8 an
// encoded code point.
func (e Expr) LengthChars() Expr { return make1(exprtree.LengthChars, e) }

// Substring is the characters of e, a string, from number start on, length of them, or
// fewer at the end of e. The first character has number 1, as in SQL. A negative start
// counts from the end: -1 is the last character. A negative length is an error.
func (e Expr) Substring(start, length int) Expr {
	return makeMany(substring, e, Lit(start), Lit(length))
}

// SubstringAt is [Expr.Substring] from a start and of a length that are computed. A negative length is 0, and
// a null start or length gives null.
func (e Expr) SubstringAt(start, length Expr) Expr {
	return makeMany(substringAt, e, start.Cast(int64Type), length.Cast(int64Type))
}

// Trim is e, a string, without the white space at both ends, as Unicode defines it.
func (e Expr) Trim() Expr { return make1(trim, e) }

// TrimStart is e without the white space at its beginning; see Trim.
func (e Expr) TrimStart() Expr { return make1(trimStart, e) }

// TrimEnd is e without the white space at its end; see Trim.
func (e Expr) TrimEnd() Expr { return make1(trimEnd, e) }

// Upper is e, a string, with each character in upper case, as Go's unicode.ToUpper has it.
// The result may have more or fewer bytes. Bytes that are no UTF-8 stay.
func (e Expr) Upper() Expr { return make1(exprtree.Upper, e) }

// Lower is e with each character in lower case; see Upper.
func (e Expr) Lower() Expr { return make1(exprtree.Lower, e) }

// Reverse is e, a string, with its characters in the opposite order.
func (e Expr) Reverse() Expr { return make1(exprtree.Reverse, e) }

// Replace is e, a string, with every occurrence of old, a literal, replaced by another
// literal. An empty old occurs nowhere.
func (e Expr) Replace(old, with Expr) Expr { return makeMany(exprtree.Replace, e, old, with) }

// Concat is the strings one after the other, columns or literals. It is null if one of them
// is.
func Concat(expressions ...Expr) Expr { return makeMany(exprtree.Join, expressions...) }

// Repeat is e, a string, a number of times, 0 to 65536.
func (e Expr) Repeat(times int) Expr { return makeMany(repeat, e, Lit(times)) }

// Capitalize is e, a string, with its first character in upper case and the others in lower
// case; see Upper.
func (e Expr) Capitalize() Expr { return make1(capitalize, e) }

// PadStart is e, a string, with a character in front as often as it takes to have a number
// of characters. Longer strings stay. PadEnd has it behind.
func (e Expr) PadStart(characters int, with rune) Expr {
	return makeMany(padStart, e, Lit(characters), Lit(string(with)))
}

// PadEnd is e with a character behind; see PadStart.
func (e Expr) PadEnd(characters int, with rune) Expr {
	return makeMany(padEnd, e, Lit(characters), Lit(string(with)))
}

// TrimPrefix is e, a string, without x, a literal, at its beginning. If e does not begin
// with x it stays.
func (e Expr) TrimPrefix(x Expr) Expr { return make2(trimPrefix, e, x) }

// TrimSuffix is e without x at its end; see TrimPrefix.
func (e Expr) TrimSuffix(x Expr) Expr { return make2(trimSuffix, e, x) }

// SplitPart is a part of e, a string, that is split at each occurrence of a separator, a
// literal of one byte or more. The first part has number 1. It is null if e has fewer
// parts.
func (e Expr) SplitPart(separator Expr, number int) Expr {
	return makeMany(splitPart, e, separator, Lit(number))
}

// Count is the number of occurrences of x, a literal of one byte or more, in e, a string,
// as int64. Occurrences do not overlap.
func (e Expr) Count(x Expr) Expr { return make2(count, e, x) }

// In is whether e equals one of the values, which are those of [Lit], or expressions. One
// slice of values stands for its elements. It is null if e is null, and also if no value
// equals e but one of them is null (nil), as in SQL. In of no values is false.
//
// Values of numbers, times and bools are looked up by a binary search, strings are
// compared one after the other. A kernel holds about 400 numbers, or as many words of
// eight bytes of strings, and more take several kernels: a join with a table of the values is faster.
func (e Expr) In(values ...any) Expr {
	arguments := []Expr{e}
	for _, value := range elements(values) {
		switch x := value.(type) {
		case Expr:
			if x.node != nil && x.node.op == exprtree.Literal && x.node.value == nil {
				x = Null(boolean)
			}
			arguments = append(arguments, x)
		case nil:
			arguments = append(arguments, Null(boolean)) // of any type
		default:
			arguments = append(arguments, Lit(value))
		}
	}
	return makeMany(oneOf, arguments...)
}
