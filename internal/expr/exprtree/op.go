package exprtree

// Op is an operation. Unless documented otherwise its operands have one type T, the
// result has type T, and the result is null if an operand is.
type Op uint8

// The operations. "Number" means an integer of 8 to 64 bits, float32 or float64;
// "Integer" and "Float" are the respective subsets. Decimal is decimal128. Temporal
// types are computed as the integers that store them.
const (
	Invalid Op = iota

	// Column is column Input of the table. Literal is the value of the node; it is null
	// if Value is nil.
	Column
	Literal

	// Add, Subtract and Multiply of Numbers: integers wrap around. Add and Subtract of
	// Decimals of one scale, and Multiply of any Decimals, which adds the scales: null
	// if the result does not fit the precision of its type. Add and Subtract also
	// support temporal types: package expr converts operands and result to types of one
	// width and unit, and the node computes on the integers. Multiply, Divide and
	// Remainder of durations work in the same way. Temporal results that 64 bits do not
	// hold are null.
	Add
	Subtract
	Multiply
	// Divide of Integers truncates; a zero divisor gives null; the lowest integer by −1
	// wraps to itself, and is null for a duration. Divide of Floats follows IEEE 754. Remainder has the sign of the
	// dividend; a zero divisor gives null; for Floats it is C's fmod.
	Divide
	Remainder
	// Negate and Abs wrap for the lowest integer, and give null for a duration. Sign of a Number gives −1, 0 or 1 in
	// T; for NaN it gives NaN and for a zero float that zero. Negate and Abs also
	// support Decimals and durations; Sign of a Decimal gives int64.
	Negate
	Abs
	Sign
	// Power, Sqrt, Exp, Log (natural), Sin and Cos of Floats, as in C. Sqrt is
	// correctly rounded; the others are computed in float64, and for float32 rounded
	// from the float64 result.
	Power
	Sqrt
	Exp
	Log
	Sin
	Cos
	// Floor, Ceil, Truncate and Round (half to even) of Floats.
	Floor
	Ceil
	Truncate
	Round

	// BitAnd, BitOr, BitXor and BitNot of Integers. ShiftLeft and ShiftRight of
	// Integers, both of type T; a shift by a negative number or by at least T's width
	// gives null. ShiftRight of signed integers keeps the sign.
	BitAnd
	BitOr
	BitXor
	BitNot
	ShiftLeft
	ShiftRight

	// The comparisons give bool. Operands are Numbers, bool, Decimals of one scale, or
	// temporal of one type. NaN equals itself and is greater than all numbers. Strings
	// compare by their bytes, a prefix first: a string operand is a Column (utf8, large
	// utf8, binary, large binary, fixed-size binary, or a dictionary of these) or a
	// Literal with a string Value. A dictionary index that is out of range or selects a
	// null is null here.
	Equal
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	// For strings at least one operand is a Column. The types may differ: the bytes are
	// compared. StartsWith and EndsWith of a string Column and a string Literal give
	// bool.
	StartsWith
	EndsWith

	// OneOf of a Number, bool or temporal value and a Literal of type binary is whether
	// the value's word is one of the literal's: at least one word of 8 bytes,
	// little-endian, as unsigned integers in ascending order, 2^k of them. The word of a
	// value is that of Hash. Gives bool.
	OneOf
	// TableRank of an int64 and a Literal of type binary is the number of the literal's
	// entries that are not greater, as int64. The literal has 2^k entries, integers of 32
	// bits, little-endian. Constant · i is subtracted from entry i; the differences do not
	// descend.
	TableRank
	// Seek of a string, a Literal and an int64, the position of a byte, gives the position
	// behind the first occurrence of the literal that begins at the position or later,
	// as int64, and −1 without an occurrence or for a negative position.
	Seek
	// Like of a string and a Literal of type binary, a pattern, is whether all of the
	// string matches. The pattern consists of units of 16 bits, little-endian: a byte
	// for itself, LikeOne for one character, and LikeMany for any number of bytes. The
	// literal bytes between two LikeOne or LikeMany are whole characters. Gives bool.
	Like
	// LengthBytes and LengthChars of a string give int64. A character is a byte that is
	// not in 0x80 to 0xBF and the bytes in that range that follow it. Such bytes at the
	// beginning of an invalid string belong to no character.
	LengthBytes
	LengthChars
	// CharOffset of a string and an int64 n is the position of the first byte of
	// character n, from 0, as int64; for negative n, of the last characters, −1 the very
	// last. It is the length in bytes if n is too large, and that of character 0 if n is
	// too small.
	CharOffset
	// SpaceStart and SpaceEnd of a string give the position of the first byte after the
	// white space at its beginning, and of the first byte of the white space at its end,
	// as int64. White space is defined by Unicode.
	SpaceStart
	SpaceEnd
	// ByteRange of a string and two int64 is the string from the first position to
	// before the second. Positions are limited to the string, and the second one to the
	// first. Its type is that of the values of the string operand, utf8 or binary. The
	// operand may be a Literal if the result is an operand of Join.
	ByteRange
	// Join of any number of strings is their bytes in this order.
	Join
	// Upper and Lower of a string replace each character by unicode.ToUpper or ToLower of
	// it. Bytes that are no UTF-8 stay. Reverse has the characters in the opposite order,
	// as CharOffset counts them; bytes that belong to none come last. Replace of a string
	// and two Literals has the second one in place of each occurrence of the first, from
	// left to right; an empty first one occurs nowhere.
	Upper
	Lower
	Reverse
	Replace
	// ParseInteger of a string gives int64 or uint64: digits, for int64 after a sign or
	// none, as Go's strconv has them. ParseDate gives the date32 of YYYY-MM-DD. Both are
	// null for other strings, and for values out of range.
	ParseInteger
	ParseDate
	// Format of an int64 or uint64 is its digits, after a minus sign if it is negative.
	Format
	// TextPlace of a string is a uint64, the place of its bytes: the number of an
	// input, or the number of inputs plus the slot of a Literal, in the highest 8 bits, and
	// the position in the memory of its data. Code that makes strings uses it.
	TextPlace

	// And, Or, AndStrict, OrStrict, Xor and Not of bools. And and Or follow Kleene
	// logic: they are null only if the operand that is not null does not decide the
	// result.
	And
	Or
	Xor
	Not
	AndStrict
	OrStrict

	// IsNull and IsValid of any type give bool, never null, including a Column of any
	// type that has a validity bitmap. A dictionary of strings is also null if the
	// index is out of range or selects a null. IsNaN of Floats.
	IsNull
	IsValid
	IsNaN
	// Coalesce is the first operand that is not null. It takes any number of operands,
	// of Numbers, bool, Decimals of one type, temporal of one type, or strings.
	Coalesce
	// IfElse has pairs of a condition, which is a bool, and a value, and a last value behind them. It is the value
	// of the first condition that is not false, null if that condition is null, and the last value if all are
	// false. A null in a value that is not chosen has no effect. Values as the operands of Coalesce.
	IfElse
	// Minimum and Maximum of several operands skip nulls, and NaN if there is a number;
	// they are null if all operands are. −0 is less than 0. Numbers, Decimals of one
	// type, temporal.
	Minimum
	Maximum

	// Cast converts a Number, bool, Decimal or temporal value to Type, if CanCast
	// reports true. Values that Type cannot represent become null.
	//
	//   - Integers to integers: null out of range. Temporal values convert to and from
	//     integers as the integers that store them.
	//   - Integers to floats, and floats to narrower ones, round to nearest even.
	//   - Floats to integers truncate; NaN and values that are then out of range are null.
	//   - bool to Numbers gives 0 and 1; Numbers to bool gives whether they are unequal to
	//     zero, which NaN is.
	//   - Integers to Decimals, and Decimals to others: null if the digits before the decimal
	//     point do not fit the precision (or an intermediate result 128 bits). Fraction digits
	//     that do not fit are rounded half away from zero. The same applies to Decimals to
	//     integers.
	//   - Decimals to floats: with m the magnitude of the unscaled value,
	//     fma(high word of m, 2^64, low word of m) / 10^scale, in float64, words
	//     and 10^scale rounded to float64; for float32 rounded from that.
	//   - Floats to Decimals: in float64, x · 10^scale rounded half away from zero; NaN and
	//     values with more digits than the precision are null.
	//   - Temporal values to one another: see TemporalCast.
	Cast
	// CastWrap is a Cast that never gives null for values out of range: integers keep
	// their low bits, floats to integers saturate and NaN gives 0. It does not support
	// Decimals.
	CastWrap

	// Parts of a date or timestamp (UTC), and of the clock of a time or timestamp, as
	// int64. Weekday counts from Monday = 0, the default in Arrow; DayOfYear counts
	// from 1; Subsecond is the nanoseconds within the second.
	Year
	Quarter
	Month
	Day
	DayOfYear
	Weekday
	Hour
	Minute
	Second
	Subsecond

	// AddSpan of a temporal value and an int64 adds Constant units of the type, which may be
	// negative, as often as the int64; null if the type does not hold the result. The value
	// may have another type of the same width.
	AddSpan
	// AddMonths of a date or timestamp and an int64 moves the date by a number of months.
	// If the month has no such day it is the last day of the month. The time of the day
	// stays. Null if the type does not hold the result.
	AddMonths
	// FloorSpan of a date or timestamp is the latest multiple of Constant units of the
	// type that is not later. FloorWeek is the same for weeks that begin on Monday;
	// Constant is the number of units in a day. FloorMonths is the beginning of the first
	// day of Constant months, counted from January of year 0; the number divides 12 or is a
	// multiple of it. Null if the type does not hold the result.
	FloorSpan
	FloorWeek
	FloorMonths

	// Hash of any number of operands of fixed-width types or string Columns gives
	// uint64, never null: see HashSeed for the function.
	Hash

	// Ops is the number of operations.
	Ops
)

// The units of patterns of Like that are not bytes.
const (
	LikeOne  = 0x100
	LikeMany = 0x200
)
