package exprtree

// Op is an operation. Unless it says otherwise its operands have one type T, the
// result has type T, and the result is null where an operand is.
type Op uint8

// The operations. "Number" is an integer of 8 to 64 bits, float32 or float64;
// "Integer", "Float" likewise. Decimal is decimal128. Temporal types count in the
// integers that store them.
const (
	Invalid Op = iota

	// Column is column Input of the table. Literal is the value of the node; one
	// whose Value is nil is null.
	Column
	Literal

	// Add, Subtract and Multiply of Numbers: integers wrap around. Of Decimals of
	// one scale for Add and Subtract, and of any for Multiply, whose scales add up:
	// null where the result does not fit its type's precision.
	// Add and Subtract are of temporal types too: package expr makes the types of
	// operands and result ones of the same width and unit, and the node computes
	// on the integers. So it is with Multiply, Divide and Remainder of durations.
	Add
	Subtract
	Multiply
	// Divide of Integers truncates; a zero divisor gives null; the lowest integer by
	// −1 wraps to itself. Of Floats as IEEE 754 has it. Remainder has the sign of
	// the dividend; a zero divisor gives null; of Floats it is C's fmod.
	Divide
	Remainder
	// Negate and Abs wrap for the lowest integer. Sign of a Number gives T's −1, 0,
	// 1, of NaN NaN and of a zero float that zero. Negate and Abs are of Decimals and
	// durations too; Sign of a Decimal gives int64.
	Negate
	Abs
	Sign
	// Power, Sqrt, Exp, Log (natural), Sin and Cos are of Floats, as in C. Sqrt is
	// rounded correctly; the others are computed in float64, and for float32 rounded
	// from that.
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
	// Integers, both of type T; a shift by a negative number or by T's width or
	// more gives null. ShiftRight of signed ones keeps the sign.
	BitAnd
	BitOr
	BitXor
	BitNot
	ShiftLeft
	ShiftRight

	// The comparisons give bool. Operands are Numbers, bool, Decimals of one scale,
	// or temporal of one type. Floats as IEEE 754 has it: NaN is unequal to all.
	// Equal and NotEqual are of strings too: a string operand is a Column (utf8,
	// large utf8, binary, large binary, fixed-size binary, or a dictionary of these)
	// or a Literal, whose Value is the string. A dictionary's index that points
	// nowhere, or to a null, is a null here.
	Equal
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	// One operand at least is a Column, and they may be of different types: the
	// bytes are compared.
	// StartsWith of a string Column and a string Literal gives bool. EndsWith too.
	StartsWith
	EndsWith

	// And, Or, AndStrict, OrStrict, Xor and Not of bools. And and Or are Kleene's: null
	// only if the operand that is not null leaves the result open.
	And
	Or
	Xor
	Not
	AndStrict
	OrStrict

	// IsNull and IsValid of anything give bool, never null: of a Column of any type
	// that has a validity bitmap, too. A dictionary of strings is null also where the
	// index points to a null, or nowhere. IsNaN of Floats.
	IsNull
	IsValid
	IsNaN
	// Coalesce is its first operand that is not null. Any number of operands, of
	// Numbers, bool, Decimals of one type, or temporal of one type.
	Coalesce
	// IfElse is its second operand where the first, a bool, is true, the third where
	// it is false, and null where it is null. A null in the operand not chosen does
	// not matter. Operands as Coalesce.
	IfElse
	// Minimum and Maximum of several pass over nulls, and over NaN beside a number;
	// they are null where all operands are. −0 is less than 0. Numbers, Decimals of
	// one type, temporal.
	Minimum
	Maximum

	// Cast converts a Number, bool, Decimal or temporal to Type, where CanCast says
	// so. What cannot be represented gives null.
	//
	//   - Integers to integers: null out of range. Temporal values to and from
	//     integers as the integers that store them.
	//   - Integers to floats, and floats to narrower ones, round to the nearest even.
	//   - Floats to integers truncate; NaN, and what is out of range after that, is
	//     null.
	//   - bool to Numbers gives 0 and 1; Numbers to bool whether they are unequal to
	//     zero, which NaN is.
	//   - Integers to Decimals, and Decimals to others: digits ahead of the point
	//     that do not fit the precision (or 128 bits on the way) give null, digits
	//     behind it that do not fit are cut off. Decimals to integers likewise.
	//   - Decimals to floats: with m the magnitude of the unscaled value,
	//     fma(high word of m, 2^64, low word of m) / 10^scale, in float64, words
	//     and 10^scale rounded to float64; for float32 rounded from that.
	//   - Floats to Decimals: in float64, x · 10^scale rounded half to even; NaN and
	//     what has more digits than the precision is null.
	//   - Temporal values to one another: see TemporalCast.
	Cast
	// CastWrap is Cast that never gives null for want of range: integers keep their
	// low bits, floats to integers saturate and NaN gives 0. It is not of Decimals.
	CastWrap

	// Date parts of a date or timestamp (UTC), and those of the clock of a time or
	// timestamp too, as int64. Weekday counts from Monday = 0, as Arrow's default;
	// DayOfYear from 1; Subsecond is the nanoseconds within the second.
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

	// Hash of any number of operands of fixed-width types or string Columns gives
	// uint64, never null: see HashSeed for the function.
	Hash

	// Ops is how many there are.
	Ops
)
