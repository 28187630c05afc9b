package text

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// ParseTime is the date32 or timestamp that a string has in a format: see [FormatTime]. The
// format has a year. Numbers have as many digits as FormatTime writes, except for fractions
// of a second, which have one to nine; digits beyond the unit are cut off. %y is 1969 to
// 2068. Names have letters of either case, and the weekday's has no effect. %z is Z, +HHMM or
// +HH:MM; without it the time is in UTC. It is null for other strings.
func ParseTime(e expr.Expr, format string, to arrow.DataType) expr.Expr {
	return expr.Apply(parseTime{format, to}, e)
}

type parseTime struct {
	format string
	to     arrow.DataType
}

// Name implements expr.Operator.
func (p parseTime) Name() string { return fmt.Sprintf("parse_time[%q]", p.format) }

// Result implements expr.Operator.
func (p parseTime) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if _, err := plain(operands[0]); err != nil {
		return nil, err
	}
	if p.to == nil || p.to.ID() != arrow.DATE32 && p.to.ID() != arrow.TIMESTAMP {
		return nil, fmt.Errorf("the result is %v, expected a date32 or a timestamp: %w", p.to, expr.ErrType)
	}
	format, err := timeFormat(p.format)
	if err != nil {
		return nil, err
	}
	for _, d := range []directive{weekdayNumber, isoWeek, isoYear} {
		if slices.Contains(format, d) {
			return nil, fmt.Errorf("the format %q has %%u, %%V or %%G, which are not read: %w", p.format, expr.ErrLiteral)
		}
	}
	if !slices.Contains(format, yearNumber) && !slices.Contains(format, yearOfCentury) {
		return nil, fmt.Errorf("the format %q has no year, expected %%Y or %%y: %w", p.format, expr.ErrLiteral)
	}
	return p.to, nil
}

// Run implements expr.Operator.
func (p parseTime) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	format, err := timeFormat(p.format)
	if err != nil {
		return nil, err
	}
	unit := exprtree.UnitOf(p.to)
	parsing := parsing{
		file: "times", kernel: "parse_times", result: p.to, table: formatBytes(format),
		arguments: func(table memory.Slice[uint8]) []any { return []any{formatArgument(format, table), unit} },
		host: func(text string) (int64, bool) {
			second, nanosecond, ok := parsed(text, format)
			if !ok {
				return 0, false
			}
			return unitsOf(second, nanosecond, unit)
		},
	}
	return perValue(ctx, operands[0], options, parsing.run)
}

// unitsOf returns the number of units of a time, or false if a type of 64 bits does not hold it. Days are the
// unit 0.
func unitsOf(second, nanosecond, unit int64) (int64, bool) {
	if unit == 0 {
		const day = 86_400
		days := second / day
		if second%day < 0 {
			days--
		}
		return days, true
	}
	value, fraction := second*unit, nanosecond/(int64(time.Second)/unit)
	return value + fraction, value/unit == second && value <= math.MaxInt64-fraction
}

// fields is what a text has.
type fields struct {
	text                                                         string
	failed                                                       bool
	year, month, day, ofYear, hour, minute, second, nano, offset int
	half                                                         int // 0 for AM, 1 for PM, -1 for neither
}

// digits reads a number of at least some and at most other digits, and returns how many.
func (f *fields) digits(least, most int, value *int) (count int) {
	*value = 0
	for count < most && count < len(f.text) && f.text[count]-'0' < 10 {
		*value = *value*10 + int(f.text[count]-'0')
		count++
	}
	f.text = f.text[count:]
	f.failed = f.failed || count < least
	return count
}

// name reads one of some names, of which the first letters may be enough.
func (f *fields) name(letters int, names func(int) string, count int) int {
	for i := range count {
		name := names(i)
		name = name[:min(len(name), letters)]
		if len(f.text) >= len(name) && strings.EqualFold(f.text[:len(name)], name) {
			f.text = f.text[len(name):]
			return i
		}
	}
	f.failed = true
	return 0
}

func (f *fields) byte(c byte) bool {
	if f.text == "" || f.text[0] != c {
		return false
	}
	f.text = f.text[1:]
	return true
}

func (f *fields) zone() {
	if f.byte('Z') {
		return
	}
	negative := f.byte('-')
	var hours, minutes int
	f.failed = f.failed || !negative && !f.byte('+')
	f.digits(2, 2, &hours)
	f.byte(':')
	f.digits(2, 2, &minutes)
	f.failed = f.failed || hours > 23 || minutes > 59
	f.offset = hours*3600 + minutes*60
	if negative {
		f.offset = -f.offset
	}
}

func (f *fields) read(d directive) {
	const whole = 100
	month := func(i int) string { return time.Month(i + 1).String() }
	weekday := func(i int) string { return time.Weekday(i).String() }
	switch d {
	case yearNumber:
		f.digits(4, 4, &f.year)
	case yearOfCentury:
		f.digits(2, 2, &f.year)
		if f.year += 2000; f.year >= 2069 {
			f.year -= 100
		}
	case monthNumber:
		f.digits(2, 2, &f.month)
	case dayOfMonth:
		f.digits(2, 2, &f.day)
	case dayOfYear:
		f.digits(3, 3, &f.ofYear)
		f.failed = f.failed || f.ofYear == 0
	case hourNumber:
		f.digits(2, 2, &f.hour)
		f.failed = f.failed || f.hour > 23
	case hourOfHalf:
		f.digits(2, 2, &f.hour)
		f.failed = f.failed || f.hour < 1 || f.hour > 12
	case minuteNumber:
		f.digits(2, 2, &f.minute)
		f.failed = f.failed || f.minute > 59
	case secondNumber:
		f.digits(2, 2, &f.second)
		f.failed = f.failed || f.second > 59
	case microseconds, milliseconds, nanoseconds:
		for n := f.digits(1, 9, &f.nano); n < 9; n++ {
			f.nano *= 10
		}
	case halfOfDay:
		f.half = f.name(2, func(i int) string { return []string{"AM", "PM"}[i] }, 2)
	case monthName:
		f.month = f.name(whole, month, 12) + 1
	case monthShort:
		f.month = f.name(3, month, 12) + 1
	case weekdayName:
		f.name(whole, weekday, 7)
	case weekdayShort:
		f.name(3, weekday, 7)
	case zoneOffset:
		f.zone()
	default:
		f.failed = f.failed || !f.byte(byte(d))
	}
}

// parsed reads a text on the host: the seconds since 1970, and the nanoseconds after them.
func parsed(text string, format []directive) (second, nanosecond int64, ok bool) {
	f := fields{text: text, month: 1, day: 1, half: -1}
	for _, d := range format {
		if f.read(d); f.failed {
			return 0, 0, false
		}
	}
	if f.text != "" || f.month < 1 || f.month > 12 {
		return 0, 0, false
	}
	if f.half >= 0 {
		f.hour = f.hour%12 + 12*f.half
	}
	at := time.Date(f.year, time.Month(f.month), f.day, 0, 0, 0, 0, time.UTC)
	if at.Day() != f.day || at.Month() != time.Month(f.month) {
		return 0, 0, false
	}
	if f.ofYear > 0 {
		if at = time.Date(f.year, 1, f.ofYear, 0, 0, 0, 0, time.UTC); at.Year() != f.year {
			return 0, 0, false
		}
	}
	return at.Unix() + int64(f.hour*3600+f.minute*60+f.second-f.offset), int64(f.nano), true
}
