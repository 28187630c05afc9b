package bind

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/timezone"
	"github.com/gpuframe/gpuframe/kernels/window"
)

// Calendar is a length of time windows in units that do not all have the same length: days, weeks,
// months, quarters or years.
type Calendar struct {
	Number     int
	Unit, Zone string
	// WeekStart is the days from Monday to the first day of weeks.
	WeekStart int
}

// String formats the calendar: "1 month in Europe/Oslo".
func (c Calendar) String() string {
	text := fmt.Sprint(c.Number, " ", c.Unit)
	if c.WeekStart != 0 {
		text += " from " + time.Weekday((c.WeekStart+1)%7).String()
	}
	if c.Zone != "" {
		text += " in " + c.Zone
	}
	return text
}

// Interval returns the calendar as an offset of a frame, in either direction.
func (c Calendar) Interval() (window.Interval, error) {
	days, months := c.length()
	switch {
	case days+months == 0 && c.Number != 0:
		return window.Interval{}, fmt.Errorf("%v, expected a number of day, week, month, quarter or year; steps of one length, such as an hour, take a time.Duration: %w", c, device.ErrInvalidValue)
	case c.WeekStart != 0:
		return window.Interval{}, fmt.Errorf("%v: the first day of weeks does not matter for a distance, leave out WeeksFrom: %w", c, device.ErrInvalidValue)
	}
	return window.Interval{Months: months, Days: days, Zone: c.Zone}, nil
}

// calendarUnits are the units, with the days or the months of each.
var calendarUnits = []struct {
	name         string
	days, months int
}{{"day", 1, 0}, {"week", 7, 0}, {"month", 0, 1}, {"quarter", 0, 3}, {"year", 0, 12}}

// windowing is the windows of Resample as expressions.
type windowing struct {
	// begin is the beginning of the window of a time. Windows have the same order as these values.
	begin func(at expr.Expr) expr.Expr
	// between is the number of windows from one beginning to another.
	between func(begin, next expr.Expr) expr.Expr
	// moved is the beginning of a later window.
	moved func(begin, windows expr.Expr) expr.Expr
	// result is a beginning as a value of the column.
	result func(begin expr.Expr) expr.Expr
	// exists reports whether time passes in the window from a beginning. Nil means in all windows.
	exists func(begin expr.Expr) expr.Expr
}

// fixedWindows are windows of a number of the units of a type, which have numbers: these
// and their differences have 64 bits.
func fixedWindows(t arrow.DataType, step int64) windowing {
	number, every := arrow.DataType(arrow.PrimitiveTypes.Int64), expr.Lit(step)
	if t.ID() == arrow.UINT64 {
		number, every = arrow.PrimitiveTypes.Uint64, expr.LitOf(arrow.PrimitiveTypes.Uint64, uint64(step))
	}
	return windowing{
		begin: func(at expr.Expr) expr.Expr {
			units := at.Cast(number)
			below := units.Mod(every).Cast(arrow.PrimitiveTypes.Int64).Lt(expr.Lit(int64(0)))
			return units.Div(every).Sub(expr.If(below, expr.LitOf(number, 1), expr.LitOf(number, 0)))
		},
		between: func(begin, next expr.Expr) expr.Expr {
			windows := next.Sub(begin).CastWrap(arrow.PrimitiveTypes.Int64)
			// A number beyond 64 bits stays too large instead of becoming negative.
			return expr.If(windows.Lt(expr.Lit(int64(0))), expr.Lit(int64(math.MaxInt64)), windows)
		},
		moved: func(begin, windows expr.Expr) expr.Expr { return begin.Add(windows.Cast(number)) },
		result: func(begin expr.Expr) expr.Expr {
			if t.ID() == arrow.UINT64 {
				return begin.Mul(every)
			}
			// The first window may begin before the least value, which takes its place. A product of a
			// duration is then null.
			span := expr.LitOf(arrow.FixedWidthTypes.Duration_ns, arrow.Duration(step))
			least := expr.Lit(int64(math.MinInt64) >> (64 - t.(arrow.FixedWidthDataType).BitWidth()))
			return expr.Coalesce(begin.Mul(span).Cast(arrow.PrimitiveTypes.Int64).Cast(t), least.Cast(t))
		},
	}
}

// windows are the windows of the calendar for values of a type.
func (c Calendar) windows(t arrow.DataType) (windowing, error) {
	stamp, isTimestamp := t.(*arrow.TimestampType)
	if !isTimestamp && t.ID() != arrow.DATE32 && t.ID() != arrow.DATE64 {
		return windowing{}, fmt.Errorf("windows of %v of %v, expected dates or timestamps: %w", c, t, device.ErrNotSupported)
	}
	if isTimestamp && c.Zone == "" && stamp.TimeZone != "UTC" {
		c.Zone = stamp.TimeZone
	}
	if c.Zone != "" && !isTimestamp {
		return windowing{}, fmt.Errorf("windows of %v of %v: dates are the same in all time zones, leave out In: %w", c, t, device.ErrInvalidValue)
	}
	days, months := c.length()
	if c.Number < 1 || days+months == 0 {
		return windowing{}, fmt.Errorf("windows of %v, expected a positive number of day, week, month, quarter or year; windows of one length, such as an hour, take a time.Duration: %w", c, device.ErrInvalidValue)
	}
	if c.WeekStart != 0 && c.Unit != "week" {
		return windowing{}, fmt.Errorf("windows of %v: only weeks have a first day, leave out WeeksFrom: %w", c, device.ErrInvalidValue)
	}
	shift := expr.Lit(c.WeekStart)
	w := windowing{
		begin: func(at expr.Expr) expr.Expr {
			if c.Zone != "" {
				at = timezone.Local(at, c.Zone)
			}
			if c.WeekStart == 0 {
				return at.FloorTo(c.Number, c.Unit)
			}
			return at.AddDays(shift.Neg()).FloorTo(c.Number, c.Unit).AddDays(shift)
		},
		between: func(begin, next expr.Expr) expr.Expr { return next.DaysSince(begin).Div(expr.Lit(days)) },
		moved:   func(begin, windows expr.Expr) expr.Expr { return begin.AddDays(windows.Mul(expr.Lit(days))) },
		result: func(begin expr.Expr) expr.Expr {
			if c.Zone != "" {
				begin = timezone.Instant(begin, c.Zone)
			}
			return begin.Cast(t)
		},
	}
	if c.Zone != "" && days == 1 {
		w.exists = func(begin expr.Expr) expr.Expr {
			return w.begin(timezone.Instant(begin, c.Zone)).Eq(begin).FillNull(expr.Lit(true))
		}
	}
	if months > 0 {
		w.between = func(begin, next expr.Expr) expr.Expr { return next.MonthsSince(begin).Div(expr.Lit(months)) }
		w.moved = func(begin, windows expr.Expr) expr.Expr { return begin.AddMonths(windows.Mul(expr.Lit(months))) }
	}
	return w, nil
}

// windowsOf returns the windows of a length or a calendar for values of a type.
func windowsOf(t arrow.DataType, every any) (windowing, error) {
	switch every := every.(type) {
	case Calendar:
		return every.windows(t)
	case string:
		return windowing{}, fmt.Errorf("windows of %q, expected a time.Duration, an integer, or a Calendar such as Every(1, %q): %w", every, strings.TrimLeft(every, "0123456789 "), device.ErrInvalidValue)
	}
	step, err := stepOf(t, every)
	return fixedWindows(t, step), err
}

// stepOf returns a length in the units of a type.
func stepOf(t arrow.DataType, every any) (int64, error) {
	refuse := func(expected string) (int64, error) {
		return 0, fmt.Errorf("windows of %v (%T) of %v, expected %s: %w", every, every, t, expected, device.ErrInvalidValue)
	}
	unit := time.Duration(0)
	switch t := t.(type) {
	case *arrow.Date32Type:
		unit = 24 * time.Hour
	case *arrow.Date64Type:
		unit = time.Millisecond
	case interface{ TimeUnit() arrow.TimeUnit }:
		unit = t.TimeUnit().Multiplier()
	default:
		if !arrow.IsInteger(t.ID()) {
			return 0, fmt.Errorf("windows of %v, expected integers, dates, times, timestamps or durations: %w", t, device.ErrNotSupported)
		}
	}
	span, isSpan := every.(time.Duration)
	switch number := reflect.ValueOf(every); {
	case unit == 0 && (isSpan || !number.CanInt() || number.Int() <= 0):
		return refuse("a positive integer")
	case unit == 0:
		return number.Int(), nil
	case !isSpan || span <= 0 || span%unit != 0:
		return refuse(fmt.Sprintf("a positive multiple of %v", unit))
	}
	return int64(span / unit), nil
}
