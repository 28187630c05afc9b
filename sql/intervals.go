package sql

import (
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// interval is a length of time in parts: the months are added first, then the days, then the microseconds. Absent parts have no expression.
type interval struct{ months, days, microseconds value }

// unit is a unit of intervals: a number of months, days or microseconds.
type unit struct {
	number int64
	part   func(i *interval) *value
}

func monthsOf(i *interval) *value       { return &i.months }
func daysOf(i *interval) *value         { return &i.days }
func microsecondsOf(i *interval) *value { return &i.microseconds }

// units are the units of intervals in singular.
var units = map[string]unit{
	"millennium": {12000, monthsOf}, "century": {1200, monthsOf}, "decade": {120, monthsOf}, "year": {12, monthsOf}, "quarter": {3, monthsOf}, "month": {1, monthsOf},
	"week": {7, daysOf}, "day": {1, daysOf},
	"hour": {3600e6, microsecondsOf}, "minute": {60e6, microsecondsOf}, "second": {1e6, microsecondsOf}, "millisecond": {1e3, microsecondsOf}, "microsecond": {1, microsecondsOf},
}

// intervalValue returns the value of INTERVAL.
func (t *translation) intervalValue(s *scope, at *tree.Interval) value {
	result := value{interval: &interval{}, uses: columnSet{}}
	number := t.expr(s, at.Value)
	result.uses.add(number.uses)
	written, isWritten := number.constant.(string)
	switch {
	case at.Unit == "" && isWritten:
		t.addParts(at, result.interval, written)
		return result
	case isWritten:
		t.addPart(at, result.interval, strings.TrimSpace(written), at.Unit)
		return result
	case at.Unit == "":
		t.fail(at, "the interval has no unit: write interval '3 days' or interval (n) day")
	case isFloat(number.dataType) || isDecimal(number.dataType):
		number = t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].Trunc().Cast(int64Type) }, t.double(at, number))
	case !number.null && !isInteger(number.dataType):
		t.fail(at, "the number of an interval is %s, expected an integer", typeName(number.dataType))
	}
	u, ok := units[at.Unit]
	if !ok {
		t.fail(at, "%q is no unit of intervals", at.Unit)
	}
	if number.null {
		*u.part(result.interval) = t.nullOf(int64Type)
		return result
	}
	*u.part(result.interval) = t.times(at, number, u.number)
	return result
}

// times multiplies an integer.
func (t *translation) times(at tree.Node, v value, factor int64) value {
	if n, ok := v.constant.(int64); ok {
		return constant(n * factor)
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].Cast(int64Type).Mul(factor) }, v)
}

// addParts adds the parts of a text such as "1 year 2 days".
func (t *translation) addParts(at tree.Node, to *interval, written string) {
	words := strings.Fields(written)
	if len(words) == 0 || len(words)%2 != 0 {
		t.fail(at, "%q is no interval: write numbers with units, such as '1 year 2 days'", written)
	}
	for i := 0; i < len(words); i += 2 {
		t.addPart(at, to, words[i], strings.ToLower(words[i+1]))
	}
}

func (t *translation) addPart(at tree.Node, to *interval, number, name string) {
	u, ok := units[name]
	if !ok {
		u, ok = units[strings.TrimSuffix(name, "s")]
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil {
		t.fail(at, "%q is no part of an interval: write an integer and a unit, such as '3 days'", number+" "+name)
	}
	part := u.part(to)
	before, _ := part.constant.(int64)
	*part = constant(before + n*u.number)
}

// negative returns the interval backwards.
func (t *translation) negative(at tree.Node, i *interval) *interval {
	result := &interval{}
	for _, part := range []func(i *interval) *value{monthsOf, daysOf, microsecondsOf} {
		if v := *part(i); v.dataType != nil {
			*part(result) = t.times(at, v, -1)
		}
	}
	return result
}

// moved returns a date or timestamp that an interval was added to, which is a timestamp.
func (t *translation) moved(at tree.Node, v value, by *interval) value {
	if v.null {
		return t.nullOf(timestampType)
	}
	if written, ok := v.constant.(string); ok {
		v, _ = t.parsed(at, written, timestampType)
	}
	if folded, ok := foldedMove(v, by); ok {
		return folded
	}
	if isDate(v.dataType) {
		v = t.cast(at, v, timestampType)
	}
	if !isTimestamp(v.dataType) {
		t.fail(at, "an interval can be added to a date or timestamp, not to %s", typeName(v.dataType))
	}
	if by.months.dataType != nil {
		v = t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].AddMonths(list[1]) }, v, by.months)
	}
	if by.days.dataType != nil {
		v = t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].AddDays(list[1]) }, v, by.days)
	}
	if n, ok := by.microseconds.constant.(int64); ok {
		length := time.Duration(n) * time.Microsecond
		return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].Add(length) }, v)
	}
	if by.microseconds.dataType != nil {
		v = t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr {
			return list[0].Add(list[1].Cast(arrow.FixedWidthTypes.Duration_us))
		}, v, by.microseconds)
	}
	return v
}

// foldedMove moves a literal.
func foldedMove(v value, by *interval) (moved value, ok bool) {
	var instant time.Time
	switch x := v.constant.(type) {
	case arrow.Date32:
		instant = x.ToTime()
	case arrow.Timestamp:
		instant = x.ToTime(arrow.Microsecond)
	default:
		return v, false
	}
	var parts [3]int64
	for i, part := range []value{by.months, by.days, by.microseconds} {
		if parts[i], ok = part.constant.(int64); !ok && part.dataType != nil {
			return v, false
		}
	}
	first := time.Date(instant.Year(), instant.Month()+time.Month(parts[0]), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	day := first.AddDate(0, 0, min(instant.Day(), last)-1+int(parts[1]))
	timeOfDay := instant.Sub(instant.Truncate(24 * time.Hour))
	return constant(arrow.Timestamp(day.Add(timeOfDay).UnixMicro() + parts[2])), true
}
