package exprtest

import (
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/function"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// operation draws an operation with a result of the class.
func (g *generator) operation(kind class, depth int) expr.Expr {
	switch kind {
	case integers:
		return g.integerOperation(depth)
	case floats:
		return g.floatOperation(depth)
	case bools:
		return g.boolOperation(depth)
	case decimals:
		return g.decimalOperation(depth)
	case instants:
		return g.instantOperation(depth)
	case clocks:
		return g.clockOperation(depth)
	}
	return g.lengthOperation(depth)
}

func (g *generator) integerOperation(depth int) expr.Expr {
	x := func() expr.Expr { return g.draw(integers, depth) }
	if len(g.columns[stringValues]) > 0 && g.among("text", 8) == 0 {
		return g.textMeasure()
	}
	return g.pick(
		func() expr.Expr { return x().Add(x()) },
		func() expr.Expr { return x().Sub(x()) },
		func() expr.Expr { return x().Mul(x()) },
		func() expr.Expr { return x().Div(x()) },
		func() expr.Expr { return x().Mod(x()) },
		func() expr.Expr { return x().FloorDiv(x()) },
		func() expr.Expr { return x().FloorMod(x()) },
		func() expr.Expr { return g.draw(lengths, depth).FloorDiv(g.draw(lengths, depth)) },
		func() expr.Expr { return x().Neg() },
		func() expr.Expr { return x().Abs() },
		func() expr.Expr { return x().Sign() },
		func() expr.Expr { return x().BitAnd(x()) },
		func() expr.Expr { return x().BitOr(x()) },
		func() expr.Expr { return x().BitXor(x()) },
		func() expr.Expr { return x().BitNot() },
		func() expr.Expr { return x().ShiftLeft(x()) },
		func() expr.Expr { return x().ShiftRight(x()) },
		func() expr.Expr { return g.any(depth).Cast(g.typeOf(integers)) },
		func() expr.Expr { return g.number(depth).Cast(g.typeOf(integers)) },
		func() expr.Expr { return g.number(depth).CastWrap(g.typeOf(integers)) },
		func() expr.Expr { return g.datePart(depth) },
		func() expr.Expr { return g.hash(depth) },
		func() expr.Expr { return g.draw(instants, depth).DaysSince(g.draw(instants, depth)) },
		func() expr.Expr {
			return g.draw(instants, depth).BusinessDaysSince(g.draw(instants, depth), g.holidays()...)
		},
		func() expr.Expr { return g.dateMeasure(depth) },
		func() expr.Expr { return g.lengthMeasure(depth) },
		func() expr.Expr { return g.call(true, x) },
	)
}

// call draws a registered function of integers or of floats.
func (g *generator) call(ofIntegers bool, operand func() expr.Expr) expr.Expr {
	var functions []*function.Function
	for i := range function.Count() {
		if f := function.At(i); f.OfIntegers() == ofIntegers {
			functions = append(functions, f)
		}
	}
	f := functions[g.among("function", len(functions))]
	operands := make([]expr.Expr, f.Operands())
	for i := range operands {
		operands[i] = operand()
	}
	return expr.Call(f.Name, operands...)
}

func (g *generator) datePart(depth int) expr.Expr {
	if g.among("clock", 3) == 0 {
		x := g.draw(clocks, depth)
		return g.pick(x.Hour, x.Minute, x.Second, x.Subsecond)
	}
	x := g.draw(instants, depth)
	return g.pick(x.Year, x.Quarter, x.Month, x.Day, x.DayOfYear, x.Weekday, x.Hour, x.Minute, x.Second, x.Subsecond)
}

// dateMeasure draws an integer that is composed of several parts of dates.
func (g *generator) dateMeasure(depth int) expr.Expr {
	x, y := g.draw(instants, depth), func() expr.Expr { return g.draw(instants, depth) }
	return g.pick(x.ISOYear, x.ISOWeek, x.DaysInMonth,
		func() expr.Expr { return x.MonthsSince(y()) },
		func() expr.Expr { return x.YearsSince(y()) },
		// Operations on one operand that differ in their constants only.
		func() expr.Expr { return g.multiple(x).DaysSince(g.multiple(x)) },
		func() expr.Expr { return g.multiple(x).MonthsSince(g.multiple(x)) })
}

// lengthMeasure draws a number of whole units of a duration.
func (g *generator) lengthMeasure(depth int) expr.Expr {
	x := g.draw(lengths, depth)
	return g.pick(x.TotalDays, x.TotalHours, x.TotalMinutes, x.TotalSeconds, x.TotalMilliseconds, x.TotalMicroseconds, x.TotalNanoseconds)
}

func (g *generator) hash(depth int) expr.Expr {
	operands := []expr.Expr{g.any(depth)}
	for range g.choose("operands", 3) {
		if columns := g.columns[stringValues]; len(columns) > 0 && g.among("string", 2) == 0 {
			operands = append(operands, columns[g.among("which", len(columns))])
		} else {
			operands = append(operands, g.any(depth))
		}
	}
	return expr.Hash(operands...)
}

func (g *generator) floatOperation(depth int) expr.Expr {
	x := func() expr.Expr { return g.draw(floats, depth) }
	functions := []func() expr.Expr{
		func() expr.Expr { return x().Add(g.number(depth)) },
		func() expr.Expr { return g.number(depth).Sub(x()) },
		func() expr.Expr { return x().Mul(g.number(depth)) },
		func() expr.Expr { return x().Div(g.number(depth)) },
		func() expr.Expr { return x().Mod(x()) },
		func() expr.Expr { return g.number(depth).TrueDiv(g.number(depth)) },
		func() expr.Expr { return x().FloorDiv(g.number(depth)) },
		func() expr.Expr { return g.number(depth).FloorMod(x()) },
		func() expr.Expr { return g.number(depth).RoundDigits(g.among("digits", 40) - 20) },
		func() expr.Expr { return g.draw(lengths, depth).TrueDiv(g.draw(lengths, depth)) },
		func() expr.Expr { return x().Neg() },
		func() expr.Expr { return x().Abs() },
		func() expr.Expr { return x().Sign() },
		func() expr.Expr { return g.number(depth).Sqrt() },
		func() expr.Expr { return g.number(depth).Floor() },
		func() expr.Expr {
			return g.call(false, func() expr.Expr { return g.number(depth) })
		},
		func() expr.Expr { return x().Ceil() },
		func() expr.Expr { return x().Trunc() },
		func() expr.Expr { return x().Round() },
		func() expr.Expr { return g.number(depth).Cast(g.typeOf(floats)) },
		func() expr.Expr { return g.draw(bools, depth).Cast(g.typeOf(floats)) },
		func() expr.Expr { return g.any(depth).CastWrap(g.typeOf(floats)) },
	}
	if !g.options.NoDecimals {
		functions = append(functions, func() expr.Expr { return g.draw(decimals, depth).Cast(g.typeOf(floats)) })
	}
	if !g.options.Exact {
		functions = append(functions,
			func() expr.Expr { return x().Pow(g.number(depth)) },
			func() expr.Expr { return x().Exp() },
			func() expr.Expr { return g.number(depth).Log() },
			func() expr.Expr { return x().Sin() },
			func() expr.Expr { return x().Cos() },
		)
	}
	return g.pick(functions...)
}

func (g *generator) boolOperation(depth int) expr.Expr {
	x := func() expr.Expr { return g.draw(bools, depth) }
	functions := []func() expr.Expr{
		func() expr.Expr { return x().And(x()) },
		func() expr.Expr { return x().Or(x()) },
		func() expr.Expr { return x().Xor(x()) },
		func() expr.Expr { return x().Not() },
		func() expr.Expr { return x().AndStrict(x()) },
		func() expr.Expr { return x().OrStrict(x()) },
		func() expr.Expr { return expr.If(x(), x(), x()) },
		func() expr.Expr { return expr.Coalesce(x(), x()) },
		func() expr.Expr { return g.number(depth).Cast(g.typeOf(bools)) },
		func() expr.Expr { return g.number(depth).IsNaN() },
		func() expr.Expr { return g.nullable(depth).IsNull() },
		func() expr.Expr { return g.nullable(depth).IsValid() },
		func() expr.Expr { return g.comparison(depth) },
		func() expr.Expr { return g.comparison(depth) },
		func() expr.Expr { return g.comparison(depth) },
		func() expr.Expr { return g.oneOf(depth) },
		func() expr.Expr { return g.draw(instants, depth).IsLeapYear() },
	}
	if len(g.columns[stringValues]) > 0 {
		functions = append(functions, g.stringTest, g.stringTest, g.stringTest, g.stringTest)
	}
	return g.pick(functions...)
}

// nullable draws any expression, or a column of any type.
func (g *generator) nullable(depth int) expr.Expr {
	for _, kind := range []class{stringValues, others} {
		if columns := g.columns[kind]; len(columns) > 0 && g.among("column", 3) == 0 {
			return columns[g.among("which", len(columns))]
		}
	}
	return g.any(depth)
}

func (g *generator) comparison(depth int) expr.Expr {
	kind := class(g.among("class", int(lengths)+1))
	if g.options.NoDecimals && kind == decimals {
		kind = integers
	}
	x, y := g.draw(kind, depth), g.draw(kind, depth)
	if (kind == floats || kind == decimals) && g.among("mixed", 3) == 0 {
		y = g.draw(integers, depth)
	}
	return g.pick(
		func() expr.Expr { return x.Eq(y) },
		func() expr.Expr { return x.Ne(y) },
		func() expr.Expr { return x.Lt(y) },
		func() expr.Expr { return x.Le(y) },
		func() expr.Expr { return x.Gt(y) },
		func() expr.Expr { return x.Ge(y) },
	)
}

// text draws a column of strings, or a part of one.
func (g *generator) text() expr.Expr {
	x := g.columns[stringValues][g.among("which", len(g.columns[stringValues]))]
	number := func() int { return g.among("number", 9) - 3 }
	if g.options.Strings && g.among("made", 6) == 0 {
		return g.madeText(1)
	}
	if g.among("part", 3) > 0 {
		return x
	}
	return g.pick(x.Trim, x.TrimStart, x.TrimEnd,
		func() expr.Expr { return x.TrimPrefix(g.plainLiteral()) },
		func() expr.Expr { return x.TrimSuffix(g.plainLiteral()) },
		func() expr.Expr { return x.SplitPart(g.separator(), g.among("part", 4)+1) },
		func() expr.Expr { return x.Substring(number(), g.among("length", 4)) },
		func() expr.Expr { return x.Trim().Substring(number(), g.among("length", 10)) })
}

// madeText draws an expression that makes strings.
func (g *generator) madeText(depth int) expr.Expr {
	if depth <= 0 {
		return g.text()
	}
	x := func() expr.Expr {
		if g.among("literal", 4) == 0 {
			return g.textLiteral()
		}
		return g.text()
	}
	condition := func() expr.Expr { return g.draw(bools, depth-1) }
	return g.pick(
		g.text,
		func() expr.Expr { return g.text().Upper() },
		func() expr.Expr { return g.text().Lower() },
		func() expr.Expr { return g.text().Reverse() },
		func() expr.Expr { return g.text().Capitalize() },
		func() expr.Expr { return g.text().PadStart(g.among("characters", 9), 'ä') },
		func() expr.Expr { return g.text().PadEnd(g.among("characters", 9), '.') },
		func() expr.Expr { return g.text().Replace(expr.Lit("a"), expr.Lit("xyz")) },
		func() expr.Expr { return g.text().Replace(expr.Lit("ab"), expr.Lit("")) },
		func() expr.Expr { return expr.Concat(x(), g.text(), x()) },
		func() expr.Expr { return g.madeText(depth - 1).Repeat(g.among("times", 3)) },
		func() expr.Expr { return expr.If(condition(), x(), g.text()) },
		func() expr.Expr { return expr.If(condition(), g.madeText(depth-1), x()) },
		func() expr.Expr { return g.draw(integers, depth-1).Cast(arrow.BinaryTypes.String) },
		func() expr.Expr { return condition().Cast(arrow.BinaryTypes.LargeString) },
		func() expr.Expr { return expr.Coalesce(g.text(), x()) },
		func() expr.Expr { return expr.Min(g.text(), x(), g.text()) },
		func() expr.Expr { return expr.Max(x(), g.text()) },
	)
}

func (g *generator) textLiteral() expr.Expr {
	text := texts[g.among("text", len(texts))]
	switch g.among("literal", 8) {
	case 0:
		return expr.Null(typesOf(stringValues, "")[0])
	case 1:
		return expr.Lit([]byte(text))
	case 2:
		return expr.Lit(text[len(text)/3 : len(text)-len(text)/3])
	}
	return expr.Lit(text)
}

// plainLiteral draws a string.
func (g *generator) plainLiteral() expr.Expr { return expr.Lit(texts[g.among("text", len(texts))]) }

// separator draws a string that is not empty.
func (g *generator) separator() expr.Expr {
	return expr.Lit([]string{"a", "b", "ab", "bc", "-", "€", "aa"}[g.among("separator", 7)])
}

// pattern draws a pattern for Like.
func (g *generator) pattern() string {
	pattern := ""
	for range g.among("length", 6) {
		pattern += []string{"a", "b", "%", "_", "%", "ab", "ä", "c", "%%", "!%", "h"}[g.among("part", 11)]
	}
	return pattern
}

func (g *generator) stringTest() expr.Expr {
	text, literal := g.text, g.textLiteral
	return g.pick(
		func() expr.Expr { return text().Eq(literal()) },
		func() expr.Expr { return literal().Ne(text()) },
		func() expr.Expr { return text().Eq(text()) },
		func() expr.Expr { return text().Ne(text()) },
		func() expr.Expr { return text().Lt(literal()) },
		func() expr.Expr { return literal().Le(text()) },
		func() expr.Expr { return text().Gt(text()) },
		func() expr.Expr { return text().Ge(text()) },
		func() expr.Expr { return text().HasPrefix(literal()) },
		func() expr.Expr { return text().HasSuffix(literal()) },
		func() expr.Expr { return text().Contains(literal()) },
		func() expr.Expr { return text().Like(g.pattern(), '!') },
		func() expr.Expr { return text().Like(g.pattern(), '!') },
		func() expr.Expr { return text().In(literal(), literal(), text()) },
		func() expr.Expr { return text().IsNull() },
		func() expr.Expr { return text().Cast(arrow.FixedWidthTypes.Boolean) },
	)
}

// textMeasure draws an integer that belongs to a string.
func (g *generator) textMeasure() expr.Expr {
	return g.pick(
		func() expr.Expr { return g.text().LengthBytes() },
		func() expr.Expr { return g.text().LengthChars() },
		func() expr.Expr { return g.text().Find(g.textLiteral()) },
		func() expr.Expr { return g.text().Count(g.separator()) },
		func() expr.Expr { return expr.Hash(g.text()) },
		func() expr.Expr { return g.text().Cast(g.typeOf(integers)) },
		func() expr.Expr { return g.text().Cast(arrow.FixedWidthTypes.Date32).DaysSince(g.draw(instants, 0)) },
	)
}

// oneOf draws a test for one of several values.
func (g *generator) oneOf(depth int) expr.Expr {
	kind := class(g.among("class", int(lengths)+1))
	if g.options.NoDecimals && kind == decimals {
		kind = integers
	}
	var values []any
	for range g.among("values", 9) {
		values = append(values, g.literal(kind))
	}
	if g.among("null", 4) == 0 {
		values = append(values, nil)
	}
	return g.draw(kind, depth).In(values...)
}

func (g *generator) decimalOperation(depth int) expr.Expr {
	x := func() expr.Expr { return g.draw(decimals, depth) }
	either := func() expr.Expr {
		if g.among("integer", 4) == 0 {
			return g.draw(integers, depth)
		}
		return x()
	}
	return g.pick(
		func() expr.Expr { return x().Add(either()) },
		func() expr.Expr { return either().Sub(x()) },
		func() expr.Expr { return x().Mul(either()) },
		func() expr.Expr { return x().Neg() },
		func() expr.Expr { return x().Abs() },
		func() expr.Expr { return g.number(depth).Cast(g.typeOf(decimals)) },
		func() expr.Expr { return x().Cast(g.typeOf(decimals)) },
	)
}

var timeUnits = []string{"year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond"}

func (g *generator) instantOperation(depth int) expr.Expr {
	x := func() expr.Expr { return g.draw(instants, depth) }
	return g.pick(
		func() expr.Expr { return x().Add(g.draw(lengths, depth)) },
		func() expr.Expr { return g.draw(lengths, depth).Add(x()) },
		func() expr.Expr { return x().Sub(g.draw(lengths, depth)) },
		func() expr.Expr { return x().AddDays(g.draw(integers, depth)) },
		func() expr.Expr { return x().AddMonths(g.draw(integers, depth)) },
		func() expr.Expr { return x().AddYears(g.draw(integers, depth)) },
		func() expr.Expr { return x().AddBusinessDays(g.draw(integers, depth), g.holidays()...) },
		func() expr.Expr { return x().Truncate(timeUnits[g.among("unit", len(timeUnits))]) },
		func() expr.Expr { return x().Truncate(timeUnits[g.among("unit", 4)]) },
		func() expr.Expr { return g.multiple(x()) },
		func() expr.Expr { return g.multiple(x()) },
		func() expr.Expr { return x().Cast(g.typeOf(instants)) },
		func() expr.Expr { return x().CastWrap(g.typeOf(instants)) },
		func() expr.Expr { return g.draw(integers, depth).Cast(g.typeOf(instants)) },
	)
}

// holidays draws days around 1970, some of them several times.
func (g *generator) holidays() []time.Time {
	days := make([]time.Time, g.among("holidays", 9))
	for i := range days {
		days[i] = time.Date(1970, 1, g.among("holiday", 30)-15, 0, 0, 0, 0, time.UTC)
	}
	return days
}

// multiple rounds an instant to a multiple of a unit that all types of instants have.
func (g *generator) multiple(x expr.Expr) expr.Expr {
	unit, numbers := timeUnits[g.among("unit", len(timeUnits))], []int{1, 2, 3, 5, 15}
	switch unit {
	case "year", "week", "day":
		numbers = []int{1, 2, 3, 7, 100, 10_000}
	case "quarter":
		numbers = []int{1, 2, 4, 12}
	case "month":
		numbers = []int{1, 2, 3, 4, 6, 12, 36}
	}
	number := numbers[g.among("number", len(numbers))]
	return g.pick(
		func() expr.Expr { return x.FloorTo(number, unit) },
		func() expr.Expr { return x.CeilTo(number, unit) },
		func() expr.Expr { return x.RoundTo(number, unit) },
	)
}

func (g *generator) clockOperation(depth int) expr.Expr {
	x := func() expr.Expr { return g.draw(clocks, depth) }
	return g.pick(
		func() expr.Expr { return x().Add(g.draw(lengths, depth)) },
		func() expr.Expr { return g.draw(lengths, depth).Add(x()) },
		func() expr.Expr { return x().Sub(g.draw(lengths, depth)) },
		func() expr.Expr { return x().Cast(g.typeOf(clocks)) },
		func() expr.Expr { return g.draw(instants, depth).Cast(g.typeOf(clocks)) },
		func() expr.Expr { return g.draw(lengths, depth).Cast(g.typeOf(clocks)) },
	)
}

func (g *generator) lengthOperation(depth int) expr.Expr {
	x := func() expr.Expr { return g.draw(lengths, depth) }
	return g.pick(
		func() expr.Expr { return x().Add(x()) },
		func() expr.Expr { return x().Sub(x()) },
		func() expr.Expr { return g.draw(instants, depth).Sub(g.draw(instants, depth)) },
		func() expr.Expr { return g.draw(clocks, depth).Sub(g.draw(clocks, depth)) },
		func() expr.Expr { return x().Mul(g.draw(integers, depth)) },
		func() expr.Expr { return g.draw(integers, depth).Mul(x()) },
		func() expr.Expr { return x().Div(g.draw(integers, depth)) },
		func() expr.Expr { return x().TrueDiv(g.number(depth)) },
		func() expr.Expr { return x().FloorDiv(g.number(depth)) },
		func() expr.Expr { return x().Mod(x()) },
		func() expr.Expr { return x().FloorMod(x()) },
		func() expr.Expr { return x().Neg() },
		func() expr.Expr { return x().Abs() },
		func() expr.Expr { return x().Cast(g.typeOf(lengths)) },
		func() expr.Expr { return g.draw(integers, depth).Cast(g.typeOf(lengths)) },
	)
}
