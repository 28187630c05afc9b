package sql

import (
	"math/big"
	"math/bits"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// comparisons are the operators of comparisons.
var comparisons = map[string]func(a, b gpuframe.Expr) gpuframe.Expr{
	"=":  func(a, b gpuframe.Expr) gpuframe.Expr { return a.Eq(b) },
	"<>": func(a, b gpuframe.Expr) gpuframe.Expr { return a.Ne(b) },
	"<":  func(a, b gpuframe.Expr) gpuframe.Expr { return a.Lt(b) },
	"<=": func(a, b gpuframe.Expr) gpuframe.Expr { return a.Le(b) },
	">":  func(a, b gpuframe.Expr) gpuframe.Expr { return a.Gt(b) },
	">=": func(a, b gpuframe.Expr) gpuframe.Expr { return a.Ge(b) },
}

// sums are the operators of numbers of any kind.
var sums = map[string]func(a, b gpuframe.Expr) gpuframe.Expr{
	"+": func(a, b gpuframe.Expr) gpuframe.Expr { return a.Add(b) },
	"-": func(a, b gpuframe.Expr) gpuframe.Expr { return a.Sub(b) },
	"*": func(a, b gpuframe.Expr) gpuframe.Expr { return a.Mul(b) },
}

// binary translates an operator of two values.
func (t *translation) binary(at tree.Node, op string, a, b value) value {
	if compare, ok := comparisons[op]; ok {
		both := t.unified(at, a, b)
		if both[0].null || both[1].null {
			return t.nullOf(boolType)
		}
		if isNested(both[0].dataType) || isNested(both[1].dataType) {
			both = t.alike(at, both)
			return t.compareNested(at, op, both[0], both[1])
		}
		return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return compare(list[0], list[1]) }, both...)
	}
	if v, ok := t.temporal(at, op, a, b); ok {
		return v
	}
	switch op {
	case "||":
		return t.concatenated(at, a, b)
	case "+", "-", "*", "/", "//", "%", "**", "^", "&", "|":
		return t.arithmetic(at, op, a, b)
	}
	t.fail(at, "operator %s is not supported", op)
	return a
}

// arithmetic translates an operator of two numbers.
func (t *translation) arithmetic(at tree.Node, op string, a, b value) value {
	if a.null && a.dataType == nil && isTemporal(b) || b.null && b.dataType == nil && isTemporal(a) {
		return value{null: true, uses: columnSet{}}
	}
	for _, v := range []value{a, b} {
		if v.interval != nil || !v.null && !isNumber(v.dataType) {
			t.fail(at, "operator %s has an operand of type %s, expected numbers", op, typeOf(v))
		}
	}
	switch {
	case a.null && a.dataType == nil || b.null && b.dataType == nil:
		return value{null: true, uses: columnSet{}}
	case a.null || b.null:
		return t.nullOf(numberType(a, b))
	}
	if f, ok := sums[op]; ok {
		if v, ok := t.exactSum(at, op, a, b); ok {
			return v
		}
		if !isDecimal(a.dataType) && !isDecimal(b.dataType) { // else literals take few digits
			a, b = t.widened(at, a), t.widened(at, b)
		}
		if isFloat(a.dataType) || isFloat(b.dataType) {
			a, b = t.double(at, a), t.double(at, b)
		}
		if isInteger(a.dataType) && isInteger(b.dataType) {
			return t.checked(at, op, a, b)
		}
		return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return f(list[0], list[1]) }, a, b)
	}
	if op == "/" || op == "**" || op == "^" {
		return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr {
			if op == "/" {
				return list[0].TrueDiv(list[1])
			}
			return list[0].Pow(list[1])
		}, t.double(at, a), t.double(at, b))
	}
	return t.integral(at, op, a, b)
}

// exactSum computes +, - or * of literals that are integers or decimals.
func (t *translation) exactSum(at tree.Node, op string, a, b value) (v value, ok bool) {
	x, xDigits, isX := exact(a)
	y, yDigits, isY := exact(b)
	if !isX || !isY || xDigits+yDigits > 38 {
		return v, false
	}
	result, digits := new(big.Rat), max(xDigits, yDigits)
	switch op {
	case "+":
		result.Add(x, y)
	case "-":
		result.Sub(x, y)
	default:
		result.Mul(x, y)
		digits = xDigits + yDigits
	}
	if digits > 0 {
		return t.decimalLiteral(at, result.FloatString(digits)), true
	}
	if !result.Num().IsInt64() || a.dataType.ID() != arrow.INT64 || b.dataType.ID() != arrow.INT64 {
		return v, false
	}
	return constant(result.Num().Int64()), true
}

// exact returns the number of a literal and its digits behind the point.
func exact(v value) (number *big.Rat, digits int, ok bool) {
	switch x := v.constant.(type) {
	case int64:
		return new(big.Rat).SetInt64(x), 0, isInteger(v.dataType)
	case decimalText:
		_, fraction, _ := strings.Cut(string(x), ".")
		number, ok = new(big.Rat).SetString(string(x))
		return number, len(fraction), ok && isDecimal(v.dataType)
	}
	return nil, 0, false
}

// checked computes +, - or * of integers. A result that 64 bits do not hold is null.
func (t *translation) checked(at tree.Node, op string, a, b value) value {
	f, bits := sums[op], max(bitsOf(a), bitsOf(b))+1
	if op == "*" {
		bits = bitsOf(a) + bitsOf(b)
	}
	if bits < 64 {
		result := t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return f(list[0], list[1]) }, a, b)
		result.bits = bits
		return result
	}
	exact := &arrow.Decimal128Type{Precision: 19}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr {
		return f(list[0].Cast(exact), list[1].Cast(exact)).Cast(int64Type)
	}, a, b)
}

// bitsOf returns the number of bits of the magnitude of an integer.
func bitsOf(v value) int {
	if n, ok := v.constant.(int64); ok {
		return bits.Len64(uint64(max(n, -(n + 1)))) // the least integer has 63
	}
	if v.bits > 0 {
		return v.bits
	}
	width := v.dataType.(arrow.FixedWidthDataType).BitWidth()
	if arrow.IsUnsignedInteger(v.dataType.ID()) {
		return width
	}
	return width - 1
}

// integral translates an operator of whole numbers with a whole result.
func (t *translation) integral(at tree.Node, op string, a, b value) value {
	if isFloat(a.dataType) || isFloat(b.dataType) || isDecimal(a.dataType) || isDecimal(b.dataType) {
		t.fail(at, "operator %s of %s and %s is not supported: cast both to bigint", op, typeName(a.dataType), typeName(b.dataType))
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr {
		switch op {
		case "//":
			return list[0].Div(list[1])
		case "%":
			return list[0].Mod(list[1])
		case "&":
			return list[0].BitAnd(list[1])
		}
		return list[0].BitOr(list[1])
	}, t.widened(at, a), t.widened(at, b))
}

// double returns a number as a double.
func (t *translation) double(at tree.Node, v value) value {
	switch x := v.constant.(type) {
	case int64:
		return constant(float64(x))
	case decimalText:
		return t.floatLiteral(at, string(x))
	}
	if arrow.TypeEqual(v.dataType, floatType) {
		return v
	}
	return t.cast(at, v, floatType)
}

// numberType returns a type for the null of an operator.
func numberType(a, b value) arrow.DataType {
	for _, v := range []value{a, b} {
		if v.dataType != nil && !isInteger(v.dataType) {
			return v.dataType
		}
	}
	return int64Type
}

// typeOf returns the name of the type of a value.
func typeOf(v value) string {
	if v.interval != nil {
		return "INTERVAL"
	}
	return typeName(v.dataType)
}

// temporal translates an operator of dates, timestamps and intervals.
func (t *translation) temporal(at tree.Node, op string, a, b value) (v value, ok bool) {
	switch {
	case op == "+" && b.interval != nil && a.interval == nil:
		v = t.moved(at, a, b.interval)
		v.uses.add(b.uses)
	case op == "+" && a.interval != nil && b.interval == nil:
		return t.temporal(at, op, b, a)
	case op == "-" && b.interval != nil && a.interval == nil:
		v = t.moved(at, a, t.negative(at, b.interval))
		v.uses.add(b.uses)
	case op == "+" && isDate(a.dataType) && isInteger(b.dataType):
		v = t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].AddDays(list[1]) }, a, b)
	case op == "-" && isDate(a.dataType) && isInteger(b.dataType):
		v = t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].AddDays(list[1].Neg()) }, a, t.widened(at, b))
	case op == "+" && isInteger(a.dataType) && isDate(b.dataType):
		return t.temporal(at, op, b, a)
	case op == "-" && isTemporal(a) && isTemporal(b):
		both := t.unified(at, a, b)
		a, b = both[0], both[1]
		if isDate(a.dataType) && isDate(b.dataType) {
			v = t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].DaysSince(list[1]) }, a, b)
			break
		}
		if isDate(a.dataType) {
			a = t.convert(at, a, timestampType)
		}
		if isDate(b.dataType) {
			b = t.convert(at, b, timestampType)
		}
		v = t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].Sub(list[1]) }, a, b)
	default:
		return v, false
	}
	return v, true
}

// isTemporal reports whether a value is a date or a timestamp.
func isTemporal(v value) bool { return isDate(v.dataType) || isTimestamp(v.dataType) }

// concatenated translates ||.
func (t *translation) concatenated(at tree.Node, a, b value) value {
	if isList(a.dataType) || isList(b.dataType) {
		return t.concatenatedOperands(at, a, b)
	}
	if a.null || b.null {
		return t.nullOf(textType)
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return gpuframe.Concat(list[0], list[1]) }, t.asText(at, a), t.asText(at, b))
}

// asText returns a value as text.
func (t *translation) asText(at tree.Node, v value) value {
	if isText(v.dataType) {
		return v
	}
	return t.convert(at, v, textType)
}

// globRegex returns the regular expression of a pattern of GLOB: * is any text, ? a character, [a-z] and [!a] are one of
// some or of others.
func globRegex(pattern string) string {
	var regex strings.Builder
	regex.WriteString("^(?s:")
	for rest := pattern; rest != ""; {
		first, size := utf8.DecodeRuneInString(rest)
		end := strings.IndexByte(rest[min(2, len(rest)):], ']') + 2
		switch {
		case first == '*':
			regex.WriteString(".*")
		case first == '?':
			regex.WriteString(".")
		case first == '[' && end > 1:
			class := strings.ReplaceAll(rest[1:end], `\`, `\\`)
			if after, isOther := strings.CutPrefix(class, "!"); isOther {
				class = "^" + after
			}
			regex.WriteString("[" + class + "]")
			size = end + 1
		default:
			regex.WriteString(regexp.QuoteMeta(rest[:size]))
		}
		rest = rest[size:]
	}
	regex.WriteString(")$")
	return regex.String()
}

// like translates a match of a text with a pattern.
func (t *translation) like(s *scope, e *tree.Like) value {
	x, pattern := t.expr(s, e.X), t.expr(s, e.Pattern)
	if x.null || pattern.null {
		return t.nullOf(boolType)
	}
	written := t.literalText(e.Pattern, pattern, "the pattern")
	var escape []rune
	if e.Escape != nil {
		escape = []rune(t.literalText(e.Escape, t.expr(s, e.Escape), "the escape character"))
		if len(escape) > 1 {
			t.fail(e.Escape, "the escape has %d characters, expected 1", len(escape))
		}
	}
	result := t.typed(e, func(list []gpuframe.Expr) gpuframe.Expr {
		switch e.Kind {
		case tree.LikePattern:
			return list[0].Like(written, escape...)
		case tree.ILikePattern:
			return list[0].Lower().Like(strings.ToLower(written), escape...)
		case tree.SimilarPattern, tree.RegexPattern:
			return list[0].MatchesRegex("^(?:" + written + ")$")
		case tree.IRegexPattern:
			return list[0].MatchesRegex("(?i)^(?:" + written + ")$")
		}
		return list[0].MatchesRegex(globRegex(written))
	}, x)
	if e.Not {
		return t.not(e, result)
	}
	return result
}
