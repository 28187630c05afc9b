package tree

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
	// on the integers.
	Add
	Subtract
	Multiply
	// Divide of Integers truncates; a zero divisor gives null; the lowest integer by
	// −1 wraps to itself. Of Floats as IEEE 754 has it. Remainder has the sign of
	// the dividend; a zero divisor gives null; of Floats it is C's fmod.
	Divide
	Remainder
	// Negate and Abs wrap for the lowest integer. Sign of a Number gives T's −1, 0,
	// 1, of NaN NaN. Negate, Abs and Sign are of Decimals too.
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
	// or a Literal, whose Value is the string.
	Equal
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	// StartsWith of a string Column and a string Literal gives bool. EndsWith too.
	StartsWith
	EndsWith

	// And, Or, Xor and Not of bools. The Kleene ones are null only where the operand
	// that is not null leaves the result open.
	And
	Or
	Xor
	Not
	AndKleene
	OrKleene

	// IsNull and IsValid of anything give bool, never null. IsNaN of Floats.
	IsNull
	IsValid
	IsNaN
	// Coalesce is its first operand that is not null. Any number of operands, of
	// any fixed-width type.
	Coalesce
	// IfElse is its second operand where the first, a bool, is true, the third where
	// it is false, and null where it is null. A null in the operand not chosen does
	// not matter.
	IfElse
	// Minimum and Maximum of several pass over nulls, and over NaN beside a number;
	// they are null where all operands are. Numbers, Decimals of one scale, temporal.
	Minimum
	Maximum

	// Cast converts a Number, bool, Decimal or temporal to Type. What cannot be
	// represented gives null: integers out of range, floats out of range or NaN to
	// integer, decimals whose digits do not fit. Floats to integers truncate,
	// floats to narrower floats round, timestamps to coarser units round down, as
	// do timestamps to dates.
	Cast
	// CastWrap is Cast that never gives null for want of range: integers keep their
	// low bits, floats to integers saturate and NaN gives 0.
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
	// uint64, never null: package tree documents the function (see HashSeed).
	Hash

	// Ops is how many there are.
	Ops
)
