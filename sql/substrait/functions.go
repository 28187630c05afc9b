package substrait

import (
	"strings"

	"github.com/substrait-io/substrait-protobuf/go/substraitpb"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// invocation is a call of a function of Substrait with translated arguments.
type invocation struct {
	path string
	name string
	// values are the arguments that are expressions, choices those that are words, in their orders.
	values  []tree.Expr
	choices []string
	// options are the choices of options in lower case.
	options map[string]string
	output  *substraitpb.Type
}

// scalar makes an expression of a call.
type scalar struct {
	least, most int
	make        func(c *invocation) (tree.Expr, error)
}

// many is the limit of functions with any number of arguments.
const many = 1 << 20

// operator is an operator between two values: of three, a comparison would mean another one.
func operator(op string) scalar {
	return scalar{2, 2, func(c *invocation) (tree.Expr, error) { return binary(op, c.values[0], c.values[1]), nil }}
}

// logic is AND or OR.
func logic(or bool) scalar {
	return scalar{0, many, func(c *invocation) (tree.Expr, error) {
		switch len(c.values) {
		case 0: // AND of nothing is true
			return &tree.Literal{Kind: map[bool]tree.LiteralKind{false: tree.True, true: tree.False}[or]}, nil
		case 1:
			return c.values[0], nil
		}
		return &tree.Logic{Or: or, Terms: c.values}, nil
	}}
}

// named is a function of SQL with the same arguments.
func named(name string, least, most int) scalar {
	return scalar{least, most, func(c *invocation) (tree.Expr, error) { return call(name, c.values...), nil }}
}

// hasState is a test for a state.
func hasState(state tree.IsKind, not bool) scalar {
	return scalar{1, 1, func(c *invocation) (tree.Expr, error) { return &tree.Is{X: c.values[0], State: state, Not: not}, nil }}
}

// distinct is IS DISTINCT FROM, or its opposite.
func distinct(not bool) scalar {
	return scalar{2, 2, func(c *invocation) (tree.Expr, error) {
		return &tree.Is{X: c.values[0], State: tree.IsDistinct, Not: not, From: c.values[1]}, nil
	}}
}

// like is a match with a pattern.
func like(c *invocation) (tree.Expr, error) {
	l := &tree.Like{X: c.values[0], Kind: tree.LikePattern, Pattern: c.values[1]}
	if len(c.values) == 3 && !isNull(c.values[2]) {
		l.Escape = c.values[2]
	}
	return l, nil
}

// isNull reports whether an expression is a null of any type.
func isNull(e tree.Expr) bool {
	if c, ok := e.(*tree.Cast); ok {
		e = c.X
	}
	l, ok := e.(*tree.Literal)
	return ok && l.Kind == tree.Null
}

// scalars are the functions of the extensions, and those of producers that name them as SQL does.
var scalars = map[string]scalar{
	"add": operator("+"), "subtract": operator("-"), "multiply": operator("*"), "divide": {2, 2, divide}, "modulus": operator("%"), "mod": operator("%"),
	"negate": {1, 1, func(c *invocation) (tree.Expr, error) { return &tree.Unary{Op: "-", X: c.values[0]}, nil }},
	"power":  named("pow", 2, 2), "sqrt": named("sqrt", 1, 1), "exp": named("exp", 1, 1), "abs": named("abs", 1, 1), "sign": named("sign", 1, 1),
	"sin": named("sin", 1, 1), "cos": named("cos", 1, 1), "tan": named("tan", 1, 1), "asin": named("asin", 1, 1), "acos": named("acos", 1, 1),
	"atan": named("atan", 1, 1), "atan2": named("atan2", 2, 2), "sinh": named("sinh", 1, 1), "cosh": named("cosh", 1, 1), "tanh": named("tanh", 1, 1),
	"asinh": named("asinh", 1, 1), "acosh": named("acosh", 1, 1), "atanh": named("atanh", 1, 1), "radians": named("radians", 1, 1), "degrees": named("degrees", 1, 1),
	"bitwise_and": operator("&"), "bitwise_or": operator("|"), "bitwise_xor": named("xor", 2, 2),

	"ln": named("ln", 1, 1), "log10": named("log10", 1, 1), "log2": named("log2", 1, 1), "log1p": named("log1p", 1, 1), "logb": {2, 2, logarithm},
	"ceil": named("ceil", 1, 1), "floor": named("floor", 1, 1), "round": named("round", 1, 2), "trunc": named("trunc", 1, 1),

	"equal": operator("="), "not_equal": operator("<>"), "lt": operator("<"), "lte": operator("<="), "gt": operator(">"), "gte": operator(">="),
	"between": {3, 3, func(c *invocation) (tree.Expr, error) {
		return &tree.Between{X: c.values[0], Low: c.values[1], High: c.values[2]}, nil
	}},
	"is_null": hasState(tree.IsNull, false), "is_not_null": hasState(tree.IsNull, true), "is_true": hasState(tree.IsTrue, false), "is_not_true": hasState(tree.IsTrue, true),
	"is_false": hasState(tree.IsFalse, false), "is_not_false": hasState(tree.IsFalse, true),
	"is_distinct_from": distinct(false), "is_not_distinct_from": distinct(true),
	"is_nan": named("isnan", 1, 1), "is_finite": named("isfinite", 1, 1), "is_infinite": named("isinf", 1, 1),
	"nullif": named("nullif", 2, 2), "coalesce": named("coalesce", 1, many), "least": nullIfAny("least"), "greatest": nullIfAny("greatest"), "least_skip_null": named("least", 1, many), "greatest_skip_null": named("greatest", 1, many),

	"and": logic(false), "or": logic(true), "xor": {2, 2, xor},
	"not": {1, 1, func(c *invocation) (tree.Expr, error) { return not(c.values[0]), nil }},

	"concat": {1, many, concatenated}, "concat_ws": named("concat_ws", 2, many), "like": {2, 3, like},
	"substring": named("substring", 2, 3), "starts_with": named("starts_with", 2, 2), "ends_with": named("ends_with", 2, 2), "contains": named("contains", 2, 2),
	"strpos": named("strpos", 2, 2), "replace": named("replace", 3, 3), "repeat": named("repeat", 2, 2), "reverse": named("reverse", 1, 1),
	"lower": named("lower", 1, 1), "upper": named("upper", 1, 1), "char_length": named("length", 1, 1), "character_length": named("length", 1, 1), "octet_length": named("octet_length", 1, 1),
	"bit_length": {1, 1, func(c *invocation) (tree.Expr, error) {
		return binary("*", call("octet_length", c.values[0]), integer(8)), nil
	}},
	"ltrim": named("ltrim", 1, 2), "rtrim": named("rtrim", 1, 2), "trim": named("trim", 1, 2), "btrim": named("trim", 1, 2),
	"left": named("left", 2, 2), "right": named("right", 2, 2), "lpad": padding("lpad"), "rpad": padding("rpad"),
	"string_split": named("string_split", 2, 2), "regexp_match_substring": named("regexp_extract", 2, 2),

	"extract": {1, 3, extract}, "strftime": named("strftime", 2, 2), "strptime_date": parsed("date"), "strptime_timestamp": parsed("timestamp"),
	"date_part": {1, 2, extract}, "year": named("year", 1, 1),
}

// divide divides. A division of integers is one of integers; a decimal is rounded to its type.
func divide(c *invocation) (tree.Expr, error) {
	switch c.output.GetKind().(type) {
	case *substraitpb.Type_I8_, *substraitpb.Type_I16_, *substraitpb.Type_I32_, *substraitpb.Type_I64_:
		return binary("//", c.values[0], c.values[1]), nil
	}
	return asDeclared(c, binary("/", c.values[0], c.values[1]))
}

// asDeclared rounds a double to the decimal that the plan declares.
func asDeclared(c *invocation, e tree.Expr) (tree.Expr, error) {
	if c.output.GetDecimal() == nil {
		return e, nil
	}
	typ, err := typeOf(c.path, c.output)
	return &tree.Cast{X: e, Type: typ}, err
}

func logarithm(c *invocation) (tree.Expr, error) {
	return binary("/", call("ln", c.values[0]), call("ln", c.values[1])), nil
}

func xor(c *invocation) (tree.Expr, error) { return binary("<>", c.values[0], c.values[1]), nil }

// concatenated joins texts. A null makes the result null, unless an option ignores nulls.
func concatenated(c *invocation) (tree.Expr, error) {
	if c.options["null_handling"] == "ignore_nulls" {
		return call("concat", c.values...), nil
	}
	if len(c.values) == 1 {
		return c.values[0], nil
	}
	e := c.values[0]
	for _, y := range c.values[1:] {
		e = binary("||", e, y)
	}
	return e, nil
}

// nullIfAny is a function that skips nulls in SQL, and is null for each in Substrait.
func nullIfAny(name string) scalar {
	return scalar{1, many, func(c *invocation) (tree.Expr, error) {
		var nulls []tree.Expr
		for _, e := range c.values {
			nulls = append(nulls, &tree.Is{X: e, State: tree.IsNull})
		}
		null := tree.Branch{When: or(nulls), Then: &tree.Literal{Kind: tree.Null}}
		return &tree.Case{Branches: []tree.Branch{null}, Else: call(name, c.values...)}, nil
	}}
}

func padding(name string) scalar {
	return scalar{2, 3, func(c *invocation) (tree.Expr, error) {
		if len(c.values) == 2 {
			c.values = append(c.values, textLiteral(" "))
		}
		return call(name, c.values...), nil
	}}
}

func parsed(typ string) scalar {
	return scalar{2, 2, func(c *invocation) (tree.Expr, error) {
		return &tree.Cast{X: call("strptime", c.values...), Type: &tree.Type{Name: typ}}, nil
	}}
}

// components are the parts of times by their names in Substrait, where SQL has others.
var components = map[string]string{
	"iso_year": "isoyear", "iso_week": "week", "unix_time": "epoch", "iso_day": "isodow",
	"year": "year", "quarter": "quarter", "month": "month", "day": "day", "hour": "hour", "minute": "minute", "second": "second",
	"week": "week", "dow": "dow", "doy": "doy", "isodow": "isodow", "isoyear": "isoyear", "epoch": "epoch",
	"millisecond": "millisecond", "microsecond": "microsecond", "day_of_year": "doy",
}

// extract returns a part of a time. Producers name it by a word or by a literal.
func extract(c *invocation) (tree.Expr, error) {
	words := c.choices
	values := c.values
	if len(words) == 0 && len(values) == 2 {
		if l, ok := values[0].(*tree.Literal); ok && l.Kind == tree.Text {
			words, values = []string{l.Text}, values[1:]
		}
	}
	if len(words) == 0 || len(values) != 1 {
		return nil, failed(c.path, "extract needs a component and a time without a zone")
	}
	for _, word := range words[1:] {
		if !strings.EqualFold(word, "ONE") {
			return nil, failed(c.path, "extract with indexing %s is not supported: ONE", word)
		}
	}
	part, ok := components[strings.ToLower(words[0])]
	if !ok {
		return nil, failed(c.path, "extract has no component %s", words[0])
	}
	e := call("date_part", textLiteral(part), values[0])
	if part == "epoch" { // whole seconds
		return &tree.Cast{X: call("floor", e), Type: &tree.Type{Name: "bigint"}}, nil
	}
	return e, nil
}

// scalarFunction translates a call of a scalar function.
func (t *translator) scalarFunction(path string, b *block, e *substraitpb.Expression_ScalarFunction) (tree.Expr, error) {
	f, ok := scalars[t.functions[e.GetFunctionReference()]]
	if name, declared := t.functions[e.GetFunctionReference()]; declared && !ok {
		return nil, failed(path+"."+name, "function %s is not supported", name)
	}
	c, err := t.invocation(path, b, e)
	if err != nil {
		return nil, err
	}
	switch {
	case len(c.values) < f.least || len(c.values) > f.most:
		return nil, failed(c.path, "function %s has %d arguments, expected %d or more and %d at most", c.name, len(c.values), f.least, f.most)
	}
	return f.make(c)
}

// called is a call of any kind of function.
type called interface {
	GetFunctionReference() uint32
	GetArguments() []*substraitpb.FunctionArgument
	GetOptions() []*substraitpb.FunctionOption
	GetOutputType() *substraitpb.Type
}

// invocation translates the arguments of a call.
func (t *translator) invocation(path string, b *block, f called) (*invocation, error) {
	name, ok := t.functions[f.GetFunctionReference()]
	if !ok {
		return nil, failed(path, "the plan declares no function %d", f.GetFunctionReference())
	}
	c := &invocation{path: path + "." + name, name: name, output: f.GetOutputType()}
	var err error
	if c.options, err = choose(c.path, name, f.GetOptions()); err != nil {
		return nil, err
	}
	for i, a := range f.GetArguments() {
		switch a := a.GetArgType().(type) {
		case *substraitpb.FunctionArgument_Value:
			e, err := t.expression(element(c.path, i), b, a.Value)
			if err != nil {
				return nil, err
			}
			c.values = append(c.values, e)
		case *substraitpb.FunctionArgument_Enum:
			c.choices = append(c.choices, a.Enum)
		}
	}
	if old, ok := f.(interface {
		GetArgs() []*substraitpb.Expression
	}); ok && len(f.GetArguments()) == 0 { // the form before arguments
		list, err := t.expressions(c.path, b, old.GetArgs())
		if err != nil {
			return nil, err
		}
		c.values = list
	}
	return c, nil
}
