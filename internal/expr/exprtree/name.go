package exprtree

import "strconv"

var names = [Ops]string{
	Column: "column", Literal: "literal",
	Add: "add", Subtract: "subtract", Multiply: "multiply", Divide: "divide", Remainder: "remainder",
	Negate: "negate", Abs: "abs", Sign: "sign",
	Power: "power", Sqrt: "sqrt", Exp: "exp", Log: "log", Sin: "sin", Cos: "cos",
	Floor: "floor", Ceil: "ceil", Truncate: "truncate", Round: "round",
	BitAnd: "bit_and", BitOr: "bit_or", BitXor: "bit_xor", BitNot: "bit_not",
	ShiftLeft: "shift_left", ShiftRight: "shift_right",
	Equal: "equal", NotEqual: "not_equal", Less: "less", LessEqual: "less_equal", Greater: "greater", GreaterEqual: "greater_equal",
	StartsWith: "starts_with", EndsWith: "ends_with",
	OneOf: "one_of", TableRank: "table_rank", Seek: "seek", Like: "like", LengthBytes: "length_bytes", LengthChars: "length_chars",
	CharOffset: "char_offset", SpaceStart: "space_start", SpaceEnd: "space_end", ByteRange: "byte_range",
	Join: "join", Upper: "upper", Lower: "lower", Reverse: "reverse", Replace: "replace", TextPlace: "text_place",
	Format: "format", ParseInteger: "parse_integer", ParseDate: "parse_date",
	AndStrict: "and_strict", OrStrict: "or_strict", Xor: "xor", Not: "not", And: "and", Or: "or",
	IsNull: "is_null", IsValid: "is_valid", IsNaN: "is_nan",
	Coalesce: "coalesce", IfElse: "if_else", Minimum: "min", Maximum: "max",
	Cast: "cast", CastWrap: "cast_wrap",
	Year: "year", Quarter: "quarter", Month: "month", Day: "day", DayOfYear: "day_of_year", Weekday: "weekday",
	Hour: "hour", Minute: "minute", Second: "second", Subsecond: "subsecond",
	AddSpan: "add_span", AddMonths: "add_months", FloorSpan: "floor_span", FloorWeek: "floor_week", FloorMonths: "floor_months",
	Hash: "hash",
}

// String returns the operation's name in messages and keys.
func (o Op) String() string {
	if o < Ops && names[o] != "" {
		return names[o]
	}
	if f := o.Function(); f != nil {
		return f.Name
	}
	return "operation " + strconv.Itoa(int(o))
}
