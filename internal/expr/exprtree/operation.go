package exprtree

import "strconv"

// Family groups operations by the rules for their operands. The binder, the evaluation on
// the host and the writer of kernels each have one function for a family.
type Family uint8

// The families. Operands are Column and Literal, Formulas the functions of Floats that
// are operations, Functions those of package function, Orders the comparisons.
const (
	NoFamily Family = iota
	Operands
	Arithmetic
	Signs
	Formulas
	Bitwise
	Orders
	Affixes
	Texts
	Measures
	Logic
	NullTests
	NaNTests
	Choices
	Extremes
	Casts
	DateParts
	Moves
	Hashes
	Functions
)

// NullRule says when the result of an operation is null because of its operands.
type NullRule uint8

const (
	// Strict operations are null if an operand is.
	Strict NullRule = iota
	// Decided ones are not if the operand that is not null decides the result.
	Decided
	// Skipping ones are null only if all operands are.
	Skipping
	// Chosen ones are null if the condition that decides is, or the value that it chooses.
	Chosen
	// Never null.
	Never
)

type operation struct {
	name   string
	family Family
	nulls  NullRule
}

// operations describes all operations but the functions of package function.
var operations = [Ops]operation{
	Column:  {name: "column", family: Operands},
	Literal: {name: "literal", family: Operands},

	Add:       {name: "add", family: Arithmetic},
	Subtract:  {name: "subtract", family: Arithmetic},
	Multiply:  {name: "multiply", family: Arithmetic},
	Divide:    {name: "divide", family: Arithmetic},
	Remainder: {name: "remainder", family: Arithmetic},
	Negate:    {name: "negate", family: Signs},
	Abs:       {name: "abs", family: Signs},
	Sign:      {name: "sign", family: Signs},

	Power:    {name: "power", family: Formulas},
	Sqrt:     {name: "sqrt", family: Formulas},
	Exp:      {name: "exp", family: Formulas},
	Log:      {name: "log", family: Formulas},
	Sin:      {name: "sin", family: Formulas},
	Cos:      {name: "cos", family: Formulas},
	Floor:    {name: "floor", family: Formulas},
	Ceil:     {name: "ceil", family: Formulas},
	Truncate: {name: "truncate", family: Formulas},
	Round:    {name: "round", family: Formulas},

	BitAnd:     {name: "bit_and", family: Bitwise},
	BitOr:      {name: "bit_or", family: Bitwise},
	BitXor:     {name: "bit_xor", family: Bitwise},
	BitNot:     {name: "bit_not", family: Bitwise},
	ShiftLeft:  {name: "shift_left", family: Bitwise},
	ShiftRight: {name: "shift_right", family: Bitwise},

	Equal:        {name: "equal", family: Orders},
	NotEqual:     {name: "not_equal", family: Orders},
	Less:         {name: "less", family: Orders},
	LessEqual:    {name: "less_equal", family: Orders},
	Greater:      {name: "greater", family: Orders},
	GreaterEqual: {name: "greater_equal", family: Orders},
	StartsWith:   {name: "starts_with", family: Affixes},
	EndsWith:     {name: "ends_with", family: Affixes},

	OneOf:        {name: "one_of", family: Measures},
	TableRank:    {name: "table_rank", family: Measures},
	Seek:         {name: "seek", family: Measures},
	Like:         {name: "like", family: Measures},
	LengthBytes:  {name: "length_bytes", family: Measures},
	LengthChars:  {name: "length_chars", family: Measures},
	CharOffset:   {name: "char_offset", family: Measures},
	SpaceStart:   {name: "space_start", family: Measures},
	SpaceEnd:     {name: "space_end", family: Measures},
	TextPlace:    {name: "text_place", family: Measures},
	ParseInteger: {name: "parse_integer", family: Measures},
	ParseDate:    {name: "parse_date", family: Measures},
	ByteRange:    {name: "byte_range", family: Texts},
	Join:         {name: "join", family: Texts},
	Upper:        {name: "upper", family: Texts},
	Lower:        {name: "lower", family: Texts},
	Reverse:      {name: "reverse", family: Texts},
	Replace:      {name: "replace", family: Texts},
	Format:       {name: "format", family: Texts},

	AndStrict: {name: "and_strict", family: Logic},
	OrStrict:  {name: "or_strict", family: Logic},
	Xor:       {name: "xor", family: Logic},
	Not:       {name: "not", family: Logic},
	And:       {name: "and", family: Logic, nulls: Decided},
	Or:        {name: "or", family: Logic, nulls: Decided},

	IsNull:   {name: "is_null", family: NullTests, nulls: Never},
	IsValid:  {name: "is_valid", family: NullTests, nulls: Never},
	IsNaN:    {name: "is_nan", family: NaNTests},
	Coalesce: {name: "coalesce", family: Choices, nulls: Skipping},
	IfElse:   {name: "if_else", family: Choices, nulls: Chosen},
	Minimum:  {name: "min", family: Extremes, nulls: Skipping},
	Maximum:  {name: "max", family: Extremes, nulls: Skipping},

	Cast:     {name: "cast", family: Casts},
	CastWrap: {name: "cast_wrap", family: Casts},

	Year:      {name: "year", family: DateParts},
	Quarter:   {name: "quarter", family: DateParts},
	Month:     {name: "month", family: DateParts},
	Day:       {name: "day", family: DateParts},
	DayOfYear: {name: "day_of_year", family: DateParts},
	Weekday:   {name: "weekday", family: DateParts},
	Hour:      {name: "hour", family: DateParts},
	Minute:    {name: "minute", family: DateParts},
	Second:    {name: "second", family: DateParts},
	Subsecond: {name: "subsecond", family: DateParts},

	AddSpan:     {name: "add_span", family: Moves},
	AddMonths:   {name: "add_months", family: Moves},
	FloorSpan:   {name: "floor_span", family: Moves},
	FloorWeek:   {name: "floor_week", family: Moves},
	FloorMonths: {name: "floor_months", family: Moves},

	Hash: {name: "hash", family: Hashes, nulls: Never},
}

// description returns the entry of an operation. Package expr has further operations, which no tree
// contains: they have no family.
func (o Op) description() operation {
	if o < Ops {
		return operations[o]
	}
	if f := o.Function(); f != nil {
		return operation{name: f.Name, family: Functions}
	}
	return operation{}
}

// Family returns the family of the operation.
func (o Op) Family() Family { return o.description().family }

// Nulls returns when the result is null because of the operands.
func (o Op) Nulls() NullRule { return o.description().nulls }

// String returns the operation's name in messages and keys.
func (o Op) String() string {
	if name := o.description().name; name != "" {
		return name
	}
	return "operation " + strconv.Itoa(int(o))
}
