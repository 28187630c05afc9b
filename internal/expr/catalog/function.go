package catalog

import "strings"

// A Function is a function of expressions.
type Function struct {
	// Name is the name in query documents and on the command line.
	Name string
	// Go is the name in package gpuframe. The default is Name in camel case.
	Go string
	// Variant is a second function of package gpuframe for the same function of documents.
	Variant string
	// Free is set for functions of package gpuframe. Others are methods of Expr.
	Free bool
	// Aliases are further names on the command line: those of SQL, if they mean exactly the same.
	// A function with the name of an alias may exist, if it takes other numbers of arguments.
	Aliases []string
	// GoAliases are further names in package gpuframe.
	GoAliases []string
	// Parameters are in the order of the arguments. The first one of a method is the expression
	// itself; entries leave it out.
	Parameters []Parameter
	Kind       Kind

	// Doc is the comment in Go. It is empty if the exported function is written by hand.
	Doc string
	// Call is how Go computes it: a function or a method of a lower package, such as text.IsAlpha,
	// or an expression of such ones with the names of the parameters. The default of elementwise
	// functions is the method of package expr with the same name, the default of aggregates and
	// window functions is the aggregation.
	Call string
	// Body, if it is set, is how Go computes it as an expression of package gpuframe.
	Body string

	// Section is the title of its section in docs/functions.md.
	Section string
	// Operands, Result, Null and Fuses are the columns of docs/functions.md.
	Operands, Result, Null, Fuses string
	// Example is a call on the command line, if the parameters do not show it.
	Example string

	// Python is the signature of the method of Python's Expr without self: "dt.year()",
	// "str.pad_start(length: int)". Its parameters are in the order of Parameters. Without
	// parentheses, as in "str.find", the method is written by hand. It is empty if Python has none.
	Python string
	// PythonDoc is the docstring of a method that is not written by hand.
	PythonDoc string

	// Aggregation is the name of an aggregate or a window function in plans. The default is Name.
	// The following fields are properties of these.
	Aggregation string
	// Freedom is the number of degrees of freedom that the divisor of a variance lacks.
	Freedom int64
	// Order is the influence of the order of the rows.
	Order Order
	// CountsRows is set if the result for no rows is 0. Others are null, or an empty list.
	CountsRows bool
	// KeepsNulls is set if rows with a null take part, unless SkipNulls excludes them.
	KeepsNulls bool
	// Framed is set for functions of the rows of a frame.
	Framed bool
	// FromDecimals is set if windows compute it from decimals as float64.
	FromDecimals bool
	// Merge is the aggregation that makes the result of a group from the results of its parts, to the
	// bit. It is empty without one, and if nulls change the result.
	Merge string
}

// ByHand is the Call of functions that are written by hand in package gpuframe.
const ByHand = "by hand"

// Order is the influence of the order of the rows on the result of an aggregate.
type Order uint8

const (
	// AnyOrder is no influence: sums of floats are exact.
	AnyOrder Order = iota
	// TieOrder decides between equally good values.
	TieOrder
	// RowOrder is the order that the function is defined by.
	RowOrder
)

// Kind is the kind of a function.
type Kind uint8

const (
	_ Kind = iota // the kind of the section
	// Elementwise functions compute a value from the values of the same row.
	Elementwise
	// Form is a part of expressions: a column, a literal, or a change of another expression.
	Form
	// Aggregated functions have a value for each group of rows.
	Aggregated
	// Window functions have a value for each row of a window: its place, or the value of another row.
	Window
	// Composed functions are expressions of aggregates and window functions.
	Composed
)

// A Parameter is a parameter of a function.
type Parameter struct {
	// Name is the name of the member in query documents. Operands are in the list of arguments.
	Name string
	// Go is the name in Go. The default is Name.
	Go   string
	Type Type
	// Optional parameters may be left out. Those of any number need one argument without it.
	Optional bool
}

// Type is the type of a parameter.
type Type uint8

const (
	// Operand is an expression, or a value as a literal.
	Operand Type = iota
	// Operands are any number of them.
	Operands
	// Expression is an expression, in Go no value.
	Expression
	// Expressions are any number of them.
	Expressions
	// Whole is a whole number of 32 bits.
	Whole
	// Float is a number.
	Float
	// Numbers are any number of numbers.
	Numbers
	// Text is a string.
	Text
	// Texts are any number of strings.
	Texts
	// Character is a string of one character.
	Character
	// Literal is a literal of any type.
	Literal
	// DataType is the name of a type.
	DataType
	// Unit is the name of a unit of time.
	Unit
	// Zone is the name of a time zone.
	Zone
	// Dates are any number of dates.
	Dates
	// Windows is the rows of a window.
	Windows
	// Keys are the keys of an order.
	Keys
)

// IsOperand reports whether arguments of the type are in a document's list of arguments.
func (t Type) IsOperand() bool { return t <= Expressions }

// Many reports whether a parameter of the type takes any number of arguments. It is the last one.
func (t Type) Many() bool {
	return t == Operands || t == Expressions || t == Texts || t == Dates || t == Numbers
}

// Many is the greatest number of arguments of functions that take any number.
const Many = 1 << 30

// Arguments returns the least and the greatest number of arguments of a call on the command line.
func (f *Function) Arguments() (least, most int) {
	return count(f.Parameters, func(Parameter) bool { return true })
}

// OperandCounts returns the least and the greatest number of arguments in a document.
func (f *Function) OperandCounts() (least, most int) {
	return count(f.Parameters, func(p Parameter) bool { return p.Type.IsOperand() })
}

// count returns the numbers of arguments of some parameters.
func count(parameters []Parameter, counts func(Parameter) bool) (least, most int) {
	for _, p := range parameters {
		if !counts(p) {
			continue
		}
		if !p.Optional {
			least++
		}
		if most++; p.Type.Many() {
			most = Many
		}
	}
	return least, most
}

// ReadsOtherRows reports whether the value of a row depends on other rows.
func (f *Function) ReadsOtherRows() bool {
	return f.Kind == Aggregated || f.Kind == Window || f.Kind == Composed || f.Name == "over"
}

// Accepts reports whether a call on the command line may have a number of arguments.
func (f *Function) Accepts(arguments int) bool {
	least, most := f.Arguments()
	return least <= arguments && arguments <= most
}

// names are the parts of names that are not in camel case.
var names = map[string]string{"nan": "NaN", "iso": "ISO", "ieee": "IEEE", "ascii": "ASCII", "json": "JSON", "md5": "MD5", "sha1": "SHA1", "sha256": "SHA256", "xxh3": "XXH3", "qcut": "QCut", "hll": "HLL", "kll": "KLL"}

// camel returns a name in camel case.
func camel(name string) string {
	var text strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		if special, ok := names[part]; ok {
			text.WriteString(special)
			continue
		}
		text.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return text.String()
}
