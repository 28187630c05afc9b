package gpuframe

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Add is e + x. Integers wrap around; decimals that overflow are null.
func (e Expr) Add(x any) Expr { return binary(e, x, expr.Expr.Add) }

// Sub is e − x.
func (e Expr) Sub(x any) Expr { return binary(e, x, expr.Expr.Sub) }

// Mul is e · x.
func (e Expr) Mul(x any) Expr { return binary(e, x, expr.Expr.Mul) }

// Div is e / x. Integers are divided without a remainder, and by zero gives null.
func (e Expr) Div(x any) Expr { return binary(e, x, expr.Expr.Div) }

// Mod is the remainder of e / x, with the sign of e.
func (e Expr) Mod(x any) Expr { return binary(e, x, expr.Expr.Mod) }

// TrueDiv is e / x as a real number: integers and decimals become float64. A duration divided
// by a number is a duration, cut off to whole units; divided by a duration it is float64.
func (e Expr) TrueDiv(x any) Expr { return binary(e, x, expr.Expr.TrueDiv) }

// FloorDiv is e / x, of numbers and durations, rounded down to a whole number. By an integer
// zero it is null. A duration divided by a duration is int64.
func (e Expr) FloorDiv(x any) Expr { return binary(e, x, expr.Expr.FloorDiv) }

// FloorMod is the remainder of FloorDiv, of two numbers or two durations, with the sign of x.
func (e Expr) FloorMod(x any) Expr { return binary(e, x, expr.Expr.FloorMod) }

// Pow is e to the power of x.
func (e Expr) Pow(x any) Expr { return binary(e, x, expr.Expr.Pow) }

// Eq is e == x. All comparisons have the order of keys and sorts: NaN equals itself and is greater
// than every number, and −0 equals 0. EqIEEE and the others of this name compare as IEEE 754 does.
func (e Expr) Eq(x any) Expr { return binary(e, x, expr.Expr.Eq) }

// Ne is e != x.
func (e Expr) Ne(x any) Expr { return binary(e, x, expr.Expr.Ne) }

// Lt is e < x.
func (e Expr) Lt(x any) Expr { return binary(e, x, expr.Expr.Lt) }

// Le is e ≤ x.
func (e Expr) Le(x any) Expr { return binary(e, x, expr.Expr.Le) }

// Gt is e > x.
func (e Expr) Gt(x any) Expr { return binary(e, x, expr.Expr.Gt) }

// Ge is e ≥ x.
func (e Expr) Ge(x any) Expr { return binary(e, x, expr.Expr.Ge) }

// EqIEEE is e == x of numbers, false if one is NaN.
func (e Expr) EqIEEE(x any) Expr { return binary(e, x, expr.Expr.EqIEEE) }

// NeIEEE is e != x of numbers, true if one is NaN.
func (e Expr) NeIEEE(x any) Expr { return binary(e, x, expr.Expr.NeIEEE) }

// LtIEEE is e < x of numbers, false if one is NaN.
func (e Expr) LtIEEE(x any) Expr { return binary(e, x, expr.Expr.LtIEEE) }

// LeIEEE is e ≤ x of numbers, false if one is NaN.
func (e Expr) LeIEEE(x any) Expr { return binary(e, x, expr.Expr.LeIEEE) }

// GtIEEE is e > x of numbers, false if one is NaN. Unlike Gt it leaves out row groups of files by
// their greatest value, which tells nothing of NaN.
func (e Expr) GtIEEE(x any) Expr { return binary(e, x, expr.Expr.GtIEEE) }

// GeIEEE is e ≥ x of numbers, false if one is NaN; see GtIEEE.
func (e Expr) GeIEEE(x any) Expr { return binary(e, x, expr.Expr.GeIEEE) }

// Between is low ≤ e ≤ high.
func (e Expr) Between(low, high any) Expr { return e.Ge(low).And(e.Le(high)) }

// And is true if both are, false if one is false, else null.
func (e Expr) And(x any) Expr { return binary(e, x, expr.Expr.And) }

// Or is true if one is, false if both are false, else null.
func (e Expr) Or(x any) Expr { return binary(e, x, expr.Expr.Or) }

// Xor is true if exactly one is. It is null if one is null.
func (e Expr) Xor(x any) Expr { return binary(e, x, expr.Expr.Xor) }

// BitAnd is the bitwise and of integers.
func (e Expr) BitAnd(x any) Expr { return binary(e, x, expr.Expr.BitAnd) }

// BitOr is the bitwise or of integers.
func (e Expr) BitOr(x any) Expr { return binary(e, x, expr.Expr.BitOr) }

// BitXor is the bitwise exclusive or of integers.
func (e Expr) BitXor(x any) Expr { return binary(e, x, expr.Expr.BitXor) }

// FillNull is e, or x where e is null.
func (e Expr) FillNull(x any) Expr { return binary(e, x, expr.Expr.FillNull) }

// HasPrefix reports whether a string begins with x.
func (e Expr) HasPrefix(x any) Expr { return binary(e, x, expr.Expr.HasPrefix) }

// HasSuffix reports whether a string ends with x.
func (e Expr) HasSuffix(x any) Expr { return binary(e, x, expr.Expr.HasSuffix) }

// Clamp is e, or the bound that it lies beyond.
func (e Expr) Clamp(low, high any) Expr {
	return apply(func(list []expr.Expr) expr.Expr { return list[0].Clamp(list[1], list[2]) }, e, operand(low), operand(high))
}

// Cast converts to a type. Values that do not fit are null. Decimals are rounded half away from zero,
// and floats that become integers cut off.
func (e Expr) Cast(to arrow.DataType) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return value.Cast(to) })
}

// Not is the negation of a bool.
func (e Expr) Not() Expr { return unary(e, expr.Expr.Not) }

// Neg is −e.
func (e Expr) Neg() Expr { return unary(e, expr.Expr.Neg) }

// Abs is the magnitude.
func (e Expr) Abs() Expr { return unary(e, expr.Expr.Abs) }

// Sign is −1, 0 or 1.
func (e Expr) Sign() Expr { return unary(e, expr.Expr.Sign) }

// Sqrt is the square root.
func (e Expr) Sqrt() Expr { return unary(e, expr.Expr.Sqrt) }

// Exp is the exponential.
func (e Expr) Exp() Expr { return unary(e, expr.Expr.Exp) }

// Log is the natural logarithm.
func (e Expr) Log() Expr { return unary(e, expr.Expr.Log) }

// Sin is the sine.
func (e Expr) Sin() Expr { return unary(e, expr.Expr.Sin) }

// Cos is the cosine.
func (e Expr) Cos() Expr { return unary(e, expr.Expr.Cos) }

// Floor rounds down to a whole number.
func (e Expr) Floor() Expr { return unary(e, expr.Expr.Floor) }

// Ceil rounds up to a whole number.
func (e Expr) Ceil() Expr { return unary(e, expr.Expr.Ceil) }

// Round rounds to the nearest whole number: floats half to even, decimals half away from zero.
func (e Expr) Round() Expr { return unary(e, expr.Expr.Round) }

// RoundDigits rounds to a number of decimal digits behind the point, as [Expr.Round]; a negative
// number is of digits in front of it.
func (e Expr) RoundDigits(digits int) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return value.RoundDigits(digits) })
}

// Trunc rounds towards zero.
func (e Expr) Trunc() Expr { return unary(e, expr.Expr.Trunc) }

// IsNull reports whether the value is null.
func (e Expr) IsNull() Expr { return unary(e, expr.Expr.IsNull) }

// IsValid reports whether the value is not null.
func (e Expr) IsValid() Expr { return unary(e, expr.Expr.IsValid) }

// IsNaN reports whether a float is not a number.
func (e Expr) IsNaN() Expr { return unary(e, expr.Expr.IsNaN) }

// Year is the year of a date or timestamp.
func (e Expr) Year() Expr { return unary(e, expr.Expr.Year) }

// Quarter is the quarter of the year, 1 to 4.
func (e Expr) Quarter() Expr { return unary(e, expr.Expr.Quarter) }

// Month is the month, 1 to 12.
func (e Expr) Month() Expr { return unary(e, expr.Expr.Month) }

// Day is the day of the month, 1 to 31.
func (e Expr) Day() Expr { return unary(e, expr.Expr.Day) }

// DayOfYear is the day of the year, 1 to 366.
func (e Expr) DayOfYear() Expr { return unary(e, expr.Expr.DayOfYear) }

// Weekday is the day of the week, as in package expr.
func (e Expr) Weekday() Expr { return unary(e, expr.Expr.Weekday) }

// Hour is the hour of a time or timestamp.
func (e Expr) Hour() Expr { return unary(e, expr.Expr.Hour) }

// Minute is the minute of a time or timestamp.
func (e Expr) Minute() Expr { return unary(e, expr.Expr.Minute) }

// Second is the second of a time or timestamp.
func (e Expr) Second() Expr { return unary(e, expr.Expr.Second) }

// In reports whether the value is one of some values, or of the elements of a slice. It is
// null if e is null, and if no value is equal and one of them is nil.
func (e Expr) In(values ...any) Expr {
	if len(values) == 1 {
		if _, ok := values[0].(Expression); !ok {
			return unary(e, func(value expr.Expr) expr.Expr { return value.In(values[0]) })
		}
	}
	operands := []Expr{e}
	for _, v := range values {
		operands = append(operands, operand(v))
	}
	return apply(func(list []expr.Expr) expr.Expr {
		values := make([]any, len(list)-1)
		for i := range values {
			values[i] = list[i+1]
		}
		return list[0].In(values...)
	}, operands...)
}

// Contains reports whether a string contains x, a literal.
func (e Expr) Contains(x any) Expr { return binary(e, x, expr.Expr.Contains) }

// Find is the position of x, a literal, in a string: in characters from 1, and 0 if the
// string does not contain it.
func (e Expr) Find(x any) Expr { return binary(e, x, expr.Expr.Find) }

// Like reports whether a string matches a pattern: % is any number of characters, _ is one.
// A character after the escape character, if one is given, matches itself.
func (e Expr) Like(pattern string, escape ...rune) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return value.Like(pattern, escape...) })
}

// LengthBytes is the number of bytes of a string.
func (e Expr) LengthBytes() Expr { return unary(e, expr.Expr.LengthBytes) }

// LengthChars is the number of characters of a string.
func (e Expr) LengthChars() Expr { return unary(e, expr.Expr.LengthChars) }

// Substring is length characters of a string from number start on, the first is 1, or from
// the end for a negative start.
func (e Expr) Substring(start, length int) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return value.Substring(start, length) })
}

// Trim is a string without the white space at both ends.
func (e Expr) Trim() Expr { return unary(e, expr.Expr.Trim) }

// TrimStart is a string without the white space at its beginning.
func (e Expr) TrimStart() Expr { return unary(e, expr.Expr.TrimStart) }

// TrimEnd is a string without the white space at its end.
func (e Expr) TrimEnd() Expr { return unary(e, expr.Expr.TrimEnd) }

// Upper is a string in upper case.
func (e Expr) Upper() Expr { return unary(e, expr.Expr.Upper) }

// Lower is a string in lower case.
func (e Expr) Lower() Expr { return unary(e, expr.Expr.Lower) }

// Reverse is the characters of a string in the opposite order.
func (e Expr) Reverse() Expr { return unary(e, expr.Expr.Reverse) }

// Repeat is a string a number of times, 0 to 65536.
func (e Expr) Repeat(times int) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return value.Repeat(times) })
}

// Replace is a string with one text in place of every occurrence of another.
func (e Expr) Replace(old, with string) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return value.Replace(expr.Lit(old), expr.Lit(with)) })
}

// Capitalize is a string with its first character in upper case and the others in lower.
func (e Expr) Capitalize() Expr { return unary(e, expr.Expr.Capitalize) }

// PadStart is a string with a character in front until it has a number of characters.
func (e Expr) PadStart(characters int, with rune) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return value.PadStart(characters, with) })
}

// PadEnd is a string with a character behind until it has a number of characters.
func (e Expr) PadEnd(characters int, with rune) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return value.PadEnd(characters, with) })
}

// TrimPrefix is a string without x, a literal, at its beginning.
func (e Expr) TrimPrefix(x any) Expr { return binary(e, x, expr.Expr.TrimPrefix) }

// TrimSuffix is a string without x, a literal, at its end.
func (e Expr) TrimSuffix(x any) Expr { return binary(e, x, expr.Expr.TrimSuffix) }

// SplitPart is a part of a string that is split at a separator, the first is 1. It is null
// if there are fewer parts.
func (e Expr) SplitPart(separator string, number int) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return value.SplitPart(expr.Lit(separator), number) })
}

// CountOf is the number of occurrences of x, a literal, in a string.
func (e Expr) CountOf(x any) Expr { return binary(e, x, expr.Expr.Count) }

// Concat joins strings. It is null if one of them is.
func Concat(values ...any) Expr { return choice(expr.Concat, values) }

// AddDays moves a date or timestamp by a number of days.
func (e Expr) AddDays(days any) Expr { return binary(e, days, expr.Expr.AddDays) }

// AddMonths moves a date or timestamp by a number of months. A day that the month lacks
// becomes its last day.
func (e Expr) AddMonths(months any) Expr { return binary(e, months, expr.Expr.AddMonths) }

// AddYears is AddMonths with twelve times the number.
func (e Expr) AddYears(years any) Expr { return binary(e, years, expr.Expr.AddYears) }

// Truncate rounds a date or timestamp down to a unit: "year", "quarter", "month", "week"
// (Monday), "day", "hour", "minute", "second", "millisecond" or "microsecond".
func (e Expr) Truncate(unit string) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return value.Truncate(unit) })
}

// DaysSince is the number of days from the day of x to the day of e.
func (e Expr) DaysSince(x any) Expr { return binary(e, x, expr.Expr.DaysSince) }

// If is a if the condition is true, and b if it is false or null, as CASE of SQL. A nil is the
// null of the other one's type: If(speed.Lt(0), nil, speed). [Case] has several conditions.
func If(condition Expression, a, b any) Expr {
	made := apply(func(list []expr.Expr) expr.Expr { return expr.If(list[0], list[1], list[2]) }, condition.expression(), operand(a), operand(b))
	made.root = operand(a).Name()
	return made
}

// Cases are the choices of [Case]. They are immutable.
type Cases struct {
	conditions []Expression
	values     []any
}

// Case begins a choice by several conditions, CASE of SQL:
//
//	gpuframe.Case().When(speed.Lt(0), nil).When(speed.Lt(30), "slow").Else("fast")
func Case() Cases { return Cases{} }

// When adds the value of rows in which the condition is true, and no condition before it.
func (c Cases) When(condition Expression, value any) Cases {
	return Cases{append(slices.Clip(c.conditions), condition), append(slices.Clip(c.values), value)}
}

// Else is the value of the first condition that is true, or else the given one: of rows in which
// all conditions are false or null. A nil is null.
func (c Cases) Else(value any) Expr {
	for i := len(c.conditions) - 1; i >= 0; i-- {
		value = If(c.conditions[i], c.values[i], value)
	}
	return operand(value)
}

// Coalesce is the first of the values that is not null.
func Coalesce(values ...any) Expr { return choice(expr.Coalesce, values) }

// Least is the least of the values that are not null.
func Least(values ...any) Expr { return choice(expr.Min, values) }

// Greatest is the greatest of the values that are not null.
func Greatest(values ...any) Expr { return choice(expr.Max, values) }

func choice(f func(...expr.Expr) expr.Expr, values []any) Expr {
	operands := make([]Expr, len(values))
	for i, v := range values {
		operands[i] = operand(v)
	}
	return apply(func(list []expr.Expr) expr.Expr { return f(list...) }, operands...)
}
