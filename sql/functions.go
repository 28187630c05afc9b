package sql

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/internal/expr/catalog"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// function translates a call with least to most arguments.
type function struct {
	least, most int
	call        func(t *translation, at *tree.Call, list []value) value
}

// many is the limit of functions that take any number of arguments.
const many = 1 << 30

// direct is a function of one expression that gpuframe has as a method.
func direct(f func(e gpuframe.Expr) gpuframe.Expr) function {
	return function{1, 1, func(t *translation, at *tree.Call, list []value) value {
		return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return f(list[0]) }, list[0])
	}}
}

// ofDouble is a function of a number as a double.
func ofDouble(f func(e gpuframe.Expr) gpuframe.Expr) function {
	return function{1, 1, func(t *translation, at *tree.Call, list []value) value {
		return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return f(list[0]) }, t.double(at, list[0]))
	}}
}

// ofText is a function of a text and of literals behind it.
func ofText(literals int, f func(t *translation, at *tree.Call, e gpuframe.Expr, list []value) gpuframe.Expr) function {
	return function{1 + literals, 1 + literals, func(t *translation, at *tree.Call, list []value) value {
		return t.typed(at, func(exprs []gpuframe.Expr) gpuframe.Expr { return f(t, at, exprs[0], list[1:]) }, list[0])
	}}
}

// ofTextWith is a function of a text and of a literal text.
func ofTextWith(f func(e gpuframe.Expr, literal string) gpuframe.Expr) function {
	return ofText(1, func(t *translation, at *tree.Call, e gpuframe.Expr, list []value) gpuframe.Expr {
		return f(e, t.literalText(at, list[0], "argument 2"))
	})
}

// part is a function that returns a part of a time.
func part(name string) function {
	return function{1, 1, func(t *translation, at *tree.Call, list []value) value { return t.datePart(at, name, list[0]) }}
}

// takesNulls has the functions that are not null for each null argument.
var takesNulls = map[string]bool{
	"coalesce": true, "ifnull": true, "nullif": true, "if": true, "greatest": true, "least": true, "concat": true, "concat_ws": true,
	"list_value": true, "list_pack": true, "list_concat": true, "list_cat": true, "array_concat": true, "array_cat": true, "list_append": true, "array_append": true, "array_push_back": true,
	"list_prepend": true, "array_prepend": true, "array_push_front": true, "list_position": true, "list_indexof": true, "array_position": true, "array_indexof": true,
	"list_zip": true, "array_zip": true, "list_resize": true, "array_resize": true, "list_intersect": true, "array_intersect": true,
}

// functions are the functions of SQL by their names, and by those that other functions have in SQL.
var functions map[string]function

func init() { // the functions refer to the table
	functions = map[string]function{
		"coalesce": {1, many, coalesce},
		"ifnull":   {2, 2, coalesce},
		"nullif":   {2, 2, nullIf},
		"if": {3, 3, func(t *translation, at *tree.Call, list []value) value {
			return t.cases(at, []value{t.condition(at, list[0])}, list[1:])
		}},
		"greatest": {1, many, extreme(greatest)},
		"least":    {1, many, extreme(func(list []gpuframe.Expr, _ bool) gpuframe.Expr { return gpuframe.Least(anys(list)...) })},

		"abs": {1, 1, func(t *translation, at *tree.Call, list []value) value {
			return t.sameNumber(at, list[0], gpuframe.Expr.Abs)
		}},
		"sign":     {1, 1, sign},
		"sqrt":     ofDouble(gpuframe.Expr.Sqrt),
		"exp":      ofDouble(gpuframe.Expr.Exp),
		"ln":       ofDouble(gpuframe.Expr.Log),
		"log":      ofDouble(gpuframe.Expr.Log10),
		"log10":    ofDouble(gpuframe.Expr.Log10),
		"log2":     ofDouble(gpuframe.Expr.Log2),
		"sin":      ofDouble(gpuframe.Expr.Sin),
		"cos":      ofDouble(gpuframe.Expr.Cos),
		"floor":    {1, 1, rounding(gpuframe.Expr.Floor)},
		"ceil":     {1, 1, rounding(gpuframe.Expr.Ceil)},
		"ceiling":  {1, 1, rounding(gpuframe.Expr.Ceil)},
		"trunc":    {1, 1, rounding(gpuframe.Expr.Trunc)},
		"round":    {1, 2, round},
		"pow":      {2, 2, operator("**")},
		"power":    {2, 2, operator("**")},
		"mod":      {2, 2, operator("%")},
		"isnan":    ofDouble(gpuframe.Expr.IsNaN),
		"isinf":    ofDouble(func(e gpuframe.Expr) gpuframe.Expr { return e.Abs().Eq(math.Inf(1)) }),
		"isfinite": ofDouble(func(e gpuframe.Expr) gpuframe.Expr { return e.Abs().LtIEEE(math.Inf(1)) }),
		"pi":       {0, 0, func(*translation, *tree.Call, []value) value { return constant(math.Pi) }},
		"radians":  ofDouble(gpuframe.Expr.Radians),
		"degrees":  ofDouble(gpuframe.Expr.Degrees),
		"xor":      {2, 2, bitXor},

		"lower":             direct(gpuframe.Expr.Lower),
		"lcase":             direct(gpuframe.Expr.Lower),
		"upper":             direct(gpuframe.Expr.Upper),
		"ucase":             direct(gpuframe.Expr.Upper),
		"reverse":           direct(gpuframe.Expr.Reverse),
		"length":            {1, 1, length},
		"len":               {1, 1, length},
		"char_length":       {1, 1, length},
		"character_length":  {1, 1, length},
		"strlen":            direct(gpuframe.Expr.LengthBytes),
		"octet_length":      direct(gpuframe.Expr.LengthBytes),
		"trim":              trimmed(true, true),
		"ltrim":             trimmed(true, false),
		"rtrim":             trimmed(false, true),
		"concat":            {1, many, concat},
		"left":              {2, 2, left},
		"regexp_matches":    ofTextWith(gpuframe.Expr.MatchesRegex),
		"regexp_full_match": ofTextWith(func(e gpuframe.Expr, x string) gpuframe.Expr { return e.MatchesRegex("^(?:" + x + ")$") }),
		"replace": ofText(2, func(t *translation, at *tree.Call, e gpuframe.Expr, list []value) gpuframe.Expr {
			return e.Replace(t.literalText(at, list[0], "argument 2"), t.literalText(at, list[1], "argument 3"))
		}),
		"repeat": ofText(1, func(t *translation, at *tree.Call, e gpuframe.Expr, list []value) gpuframe.Expr {
			return e.Repeat(max(0, t.whole(at, list[0], "argument 2")))
		}),
		"regexp_replace": {3, 4, regexReplace},
		"string_split":   ofTextWith(gpuframe.Expr.Split),
		"str_split":      ofTextWith(gpuframe.Expr.Split),
		"hex":            direct(func(e gpuframe.Expr) gpuframe.Expr { return e.Hex().Upper() }),
		"to_hex":         direct(func(e gpuframe.Expr) gpuframe.Expr { return e.Hex().Upper() }),
		"right":          {2, 2, right},
		"lpad":           {3, 3, padded(gpuframe.Expr.PadStart)},
		"rpad":           {3, 3, padded(gpuframe.Expr.PadEnd)},
		"split_part":     {3, 3, splitPart},
		"concat_ws":      {2, many, concatWith},
		"regexp_extract": {2, 3, regexExtract},

		"date_part":    {2, 2, datePartCall},
		"datepart":     {2, 2, datePartCall},
		"date_trunc":   {2, 2, dateTrunc},
		"datetrunc":    {2, 2, dateTrunc},
		"date_diff":    {3, 3, dateDiff},
		"datediff":     {3, 3, dateDiff},
		"date_add":     {2, 2, operator("+")},
		"last_day":     {1, 1, lastDay},
		"strftime":     ofTextWith(gpuframe.Expr.FormatTime),
		"make_date":    {3, 3, makeDate},
		"strptime":     {2, 2, parsedTime},
		"try_strptime": {2, 2, parsedTime},
		"dayofmonth":   part("day"),
		"dayofweek":    part("dow"),
		"dayofyear":    part("doy"),
		"weekofyear":   part("week"),

		"struct_extract": {2, 2, func(t *translation, at *tree.Call, list []value) value {
			return t.field(at, list[0], t.literalText(at, list[1], "the name of a field"))
		}},
	}
	for _, name := range []string{"year", "quarter", "month", "day", "hour", "minute", "second", "week", "isodow", "isoyear", "weekday", "epoch"} {
		functions[name] = part(name)
	}
	maps.Copy(functions, textFunctions())
	maps.Copy(functions, listFunctions())
	maps.Copy(functions, integerFunctions())
}

// call translates a call: of a window function, an aggregate, or a function.
func (t *translation) call(s *scope, e *tree.Call) value {
	name := strings.ToLower(text(e.Name))
	switch {
	case e.Over != nil:
		return t.windowValue(s, e, name)
	case isAggregate(name):
		t.fail(e, "aggregate %s is not possible in %s%s", name, s.clause, havingHint(s.clause))
	case name == "grouping" || name == "grouping_id":
		t.fail(e, "GROUPING needs a GROUP BY with its arguments")
	case isWindowFunction(name):
		t.fail(e, "%s is a window function: add OVER (…)", name)
	case e.Distinct || e.OrderBy != nil || e.Filter != nil || e.Within != nil || e.IgnoreNulls:
		t.fail(e, "%s is no aggregate: DISTINCT, ORDER BY, FILTER, WITHIN GROUP and IGNORE NULLS are for aggregates", name)
	case e.Star:
		t.fail(e, "%s has no form with *", name)
	}
	if isEvaluation[name] || isFilter[name] {
		return t.lambdaCall(s, e, name)
	}
	if isReduction[name] {
		return t.reduction(s, e, name)
	}
	f, known := functions[name]
	for _, a := range e.Args {
		if a.Name.Text != "" {
			t.fail(e, "%s has no arguments with names", name)
		}
	}
	if known && (len(e.Args) < f.least || len(e.Args) > f.most) {
		t.fail(e, "%s has %d arguments, expected %s", name, len(e.Args), f.expected())
	}
	other, isOther := catalogued(name, len(e.Args), catalog.Elementwise)
	if !known && !isOther {
		t.fail(e, "%s", names.Meant("function", name, catalog.Meaning(name, functionNames()), functionNames()))
	}
	if literal, ok := listedArgument(e, name); ok {
		return t.isListed(s, e, e.Args[1].Expr, literal)
	}
	list := make([]value, len(e.Args))
	for i, a := range e.Args {
		list[i] = t.expr(s, a.Expr)
	}
	if !known {
		return t.callCatalogued(e, other, list)
	}
	if slices.ContainsFunc(list, func(v value) bool { return v.null }) && !takesNulls[name] {
		return value{null: true, uses: columnSet{}}
	}
	return f.call(t, e, list)
}

func (f function) expected() string {
	switch f.most {
	case f.least:
		return fmt.Sprint(f.least)
	case many:
		return fmt.Sprintf("%d or more", f.least)
	}
	return fmt.Sprintf("%d to %d", f.least, f.most)
}

func operator(op string) func(t *translation, at *tree.Call, list []value) value {
	return func(t *translation, at *tree.Call, list []value) value { return t.binary(at, op, list[0], list[1]) }
}

func coalesce(t *translation, at *tree.Call, list []value) value { return t.coalesced(at, list...) }

func (t *translation) coalesced(at tree.Node, list ...value) value {
	if areNull(list) {
		return list[0]
	}
	list = t.alike(at, list)
	if isNested(list[0].dataType) {
		return t.firstNested(at, list)
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return gpuframe.Coalesce(anys(list)...) }, list...)
}

func anys(list []gpuframe.Expr) []any {
	result := make([]any, len(list))
	for i, e := range list {
		result[i] = e
	}
	return result
}

// nullIf is the first argument, or null if both are equal.
func nullIf(t *translation, at *tree.Call, list []value) value {
	equal := t.binary(at, "=", list[0], list[1])
	if equal.null {
		return list[0]
	}
	return t.cases(at, []value{equal}, []value{{null: true, uses: columnSet{}}, list[0]})
}

// greatest is the greatest of values. NaN is above all numbers.
func greatest(list []gpuframe.Expr, isFloat bool) gpuframe.Expr {
	value := gpuframe.Greatest(anys(list)...)
	if isFloat {
		for _, e := range list {
			value = gpuframe.If(e.IsNaN(), math.NaN(), value)
		}
	}
	return value
}

func extreme(f func(list []gpuframe.Expr, isFloat bool) gpuframe.Expr) func(t *translation, at *tree.Call, list []value) value {
	return func(t *translation, at *tree.Call, list []value) value {
		if areNull(list) {
			return list[0]
		}
		list = t.alike(at, list)
		isDouble := isFloat(list[0].dataType)
		return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return f(list, isDouble) }, list...)
	}
}

// sameNumber is a function of a number that keeps its type.
func (t *translation) sameNumber(at tree.Node, v value, f func(e gpuframe.Expr) gpuframe.Expr) value {
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return f(list[0]) }, t.widened(at, v))
}

// sign is −1, 0 or 1, of NaN 0.
func sign(t *translation, at *tree.Call, list []value) value {
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr {
		if isFloat(list[0].dataType) {
			return gpuframe.If(e[0].IsNaN(), 0.0, e[0].Sign())
		}
		return e[0].Sign()
	}, list[0])
}

// rounding is floor, ceil or trunc, which keep integers.
func rounding(f func(e gpuframe.Expr) gpuframe.Expr) func(t *translation, at *tree.Call, list []value) value {
	return func(t *translation, at *tree.Call, list []value) value {
		if isInteger(list[0].dataType) {
			return list[0]
		}
		if isDecimal(list[0].dataType) {
			t.fail(at, "rounding of decimals by this function is not supported: cast to double, or use round")
		}
		return t.sameNumber(at, list[0], f)
	}
}

// round rounds half away from zero, also floats.
func round(t *translation, at *tree.Call, list []value) value {
	digits := 0
	if len(list) > 1 {
		digits = t.whole(at, list[1], "the number of digits")
	}
	switch {
	case isInteger(list[0].dataType) && digits >= 0:
		return list[0]
	case isInteger(list[0].dataType):
		t.fail(at, "integers cannot be rounded to digits before the point: cast to double or decimal")
	case isFloat(list[0].dataType):
		scale := constant(pow10(max(digits, -digits)))
		return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr {
			scaled := e[0].Mul(e[1])
			if digits < 0 {
				scaled = e[0].TrueDiv(e[1])
			}
			// Half away from zero: the whole part, and one more from a half on.
			rounded := scaled.Abs().Floor()
			rounded = gpuframe.If(scaled.Abs().Sub(rounded).Ge(0.5), rounded.Add(1.0), rounded).Mul(scaled.Sign())
			if digits < 0 {
				rounded = rounded.Mul(e[1])
			} else {
				rounded = rounded.TrueDiv(e[1])
			}
			// Infinities, NaN and numbers without a fraction stay as they are. As in DuckDB, infinities and NaN are 0 if digits before the point are rounded.
			rounded = gpuframe.If(scaled.Abs().LtIEEE(4503599627370496.0), rounded, e[0])
			if digits < 0 {
				rounded = gpuframe.If(e[0].Abs().LtIEEE(math.Inf(1)).FillNull(true), rounded, 0.0)
			}
			return rounded
		}, list[0], scale)
	}
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr { return e[0].RoundDigits(digits) }, list[0])
}

// pow10 returns ten to the power of n.
func pow10(n int) float64 {
	p := 1.0
	for range min(n, 300) {
		p *= 10
	}
	return p
}

// length is the number of characters of a text, or of elements of a list.
func length(t *translation, at *tree.Call, list []value) value {
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr {
		if !isText(list[0].dataType) {
			return e[0].ListLength()
		}
		return e[0].LengthChars()
	}, list[0])
}

// concat joins texts. Nulls count as empty.
func concat(t *translation, at *tree.Call, list []value) value {
	texts := make([]value, 0, len(list))
	for _, v := range list {
		if !v.null {
			texts = append(texts, t.asText(at, v))
		}
	}
	if len(texts) == 0 {
		return constant("")
	}
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr {
		filled := make([]any, len(e))
		for i := range e {
			filled[i] = e[i].FillNull("")
		}
		return gpuframe.Concat(filled...)
	}, texts...)
}

// trimmed removes spaces, or some characters, from the start and the end of a text.
func trimmed(start, end bool) function {
	return function{1, 2, func(t *translation, at *tree.Call, list []value) value {
		characters := " "
		if len(list) > 1 {
			characters = t.literalText(at, list[1], "the characters to remove")
		}
		var class strings.Builder
		for _, r := range characters {
			fmt.Fprintf(&class, `\x{%x}`, r)
		}
		return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr {
			text := e[0]
			if start && characters != "" {
				text = text.ReplaceRegex("^["+class.String()+"]+", "")
			}
			if end && characters != "" {
				text = text.ReplaceRegex("["+class.String()+"]+$", "")
			}
			return text
		}, t.asText(at, list[0]))
	}}
}

// left is the first characters of a text.
func left(t *translation, at *tree.Call, list []value) value {
	n := t.whole(at, list[1], "the number of characters")
	if n < 0 {
		t.fail(at, "a negative number of characters is not supported")
	}
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr { return e[0].Substring(1, n) }, list[0])
}

// right is the last characters of a text.
func right(t *translation, at *tree.Call, list []value) value {
	n := t.whole(at, list[1], "the number of characters")
	if n < 0 {
		t.fail(at, "a negative number of characters is not supported")
	}
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr {
		if n == 0 {
			return e[0].Substring(1, 0)
		}
		return gpuframe.If(e[0].LengthChars().Le(n), e[0], e[0].Substring(-n, n))
	}, list[0])
}

// padded is lpad or rpad: a text of a number of characters, which longer ones are cut to.
func padded(pad func(e gpuframe.Expr, characters int, with rune) gpuframe.Expr) func(t *translation, at *tree.Call, list []value) value {
	return func(t *translation, at *tree.Call, list []value) value {
		n, with := max(t.whole(at, list[1], "the number of characters"), 0), []rune(t.literalText(at, list[2], "the padding"))
		if len(with) != 1 {
			t.fail(at, "a padding of %d characters is not supported, expected 1", len(with))
		}
		return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr { return pad(e[0], n, with[0]).Substring(1, n) }, list[0])
	}
}

// splitPart is a part of a text that is split at a separator: empty, if there are fewer.
func splitPart(t *translation, at *tree.Call, list []value) value {
	separator, n := t.literalText(at, list[1], "the separator"), t.whole(at, list[2], "the number of the part")
	if separator == "" || n < 1 {
		t.fail(at, "an empty separator and parts before the first are not supported")
	}
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr {
		return gpuframe.If(e[0].IsNull(), e[0], e[0].SplitPart(separator, n).FillNull(""))
	}, list[0])
}

// concatWith joins the texts that are not null with a separator between them.
func concatWith(t *translation, at *tree.Call, list []value) value {
	if list[0].null {
		return t.nullOf(textType)
	}
	separator := t.literalText(at, list[0], "the separator")
	var texts []value
	for _, v := range list[1:] {
		if !v.null {
			texts = append(texts, t.asText(at, v))
		}
	}
	if len(texts) == 0 {
		return constant("")
	}
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr { return gpuframe.ConcatWith(separator, anys(e)...) }, texts...)
}

// regexExtract is the text of a group of the first match, or empty without one.
func regexExtract(t *translation, at *tree.Call, list []value) value {
	pattern, group := t.literalText(at, list[1], "the pattern"), 0
	if len(list) > 2 {
		group = t.whole(at, list[2], "the number of the group")
	}
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr {
		return gpuframe.If(e[0].IsNull(), e[0], e[0].ExtractRegex(pattern, group).FillNull(""))
	}, list[0])
}

// bitXor is the exclusive or of integers.
func bitXor(t *translation, at *tree.Call, list []value) value {
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr { return e[0].BitXor(e[1]) }, t.widened(at, list[0]), t.widened(at, t.settled(list[1])))
}

// regexReplace replaces all matches. Without the option g DuckDB replaces the first.
func regexReplace(t *translation, at *tree.Call, list []value) value {
	pattern, with := t.literalText(at, list[1], "the pattern"), t.literalText(at, list[2], "the text instead")
	if len(list) < 4 || t.literalText(at, list[3], "the options") != "g" {
		if !strings.HasPrefix(pattern, "^") || strings.Contains(pattern, "|") {
			t.fail(at, "replacing the first match alone is not supported: pass 'g' to replace all, or begin the pattern with ^")
		}
	}
	with = strings.ReplaceAll(with, "$", "$$")
	for i := range 10 {
		with = strings.ReplaceAll(with, fmt.Sprintf(`\%d`, i), fmt.Sprintf("${%d}", i))
	}
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr { return e[0].ReplaceRegex(pattern, with) }, list[0])
}
