package expr

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/exprtree"
)

// calendarOp reports whether calendar binds an operation.
func calendarOp(op exprtree.Op) bool { return op >= addDays && op <= daysSince }

// calendar binds the operations that move dates and timestamps.
func (b *binder) calendar(op exprtree.Op, operands []operand) (*exprtree.Node, error) {
	x, err := b.instant(operands[0])
	if err != nil {
		return nil, err
	}
	switch op {
	case truncate:
		return b.truncate(x, operands[1].node.Value.(string))
	case daysSince:
		since, err := b.instant(operands[1])
		if err != nil {
			return nil, err
		}
		return b.node(exprtree.Subtract, int64Type, b.dayNumber(x), b.dayNumber(since)), nil
	}
	if t := operands[1].typeOf(); !isCount(t) {
		return nil, fmt.Errorf("the number is %v, it has to be an integer: %w", t, ErrType)
	}
	count, err := b.alone(operands[1])
	if err != nil {
		return nil, err
	}
	if op == addYears { // twelve times an int32 is no overflow
		years := b.cast(b.cast(count, arrow.PrimitiveTypes.Int32), int64Type)
		return b.node(exprtree.AddMonths, x.Type, x, b.node(exprtree.Multiply, int64Type, years, position(12))), nil
	}
	count = b.cast(count, int64Type)
	if op == addMonths {
		return b.node(exprtree.AddMonths, x.Type, x, count), nil
	}
	return b.constant(exprtree.AddSpan, exprtree.DayOf(x.Type), x.Type, x, count), nil
}

// instant returns an operand that is a date, or a timestamp in UTC.
func (b *binder) instant(o operand) (*exprtree.Node, error) {
	t := o.typeOf()
	if !isInstant(t) {
		return nil, fmt.Errorf("%v, it is of dates and timestamps: %w", t, ErrType)
	}
	if stamp, ok := t.(*arrow.TimestampType); ok && !isUTC(stamp.TimeZone) {
		return nil, fmt.Errorf("%v: days are those of UTC, cast it to a timestamp without a time zone for those: %w", t, ErrType)
	}
	return b.alone(o)
}

func (b *binder) cast(x *exprtree.Node, t arrow.DataType) *exprtree.Node {
	if arrow.TypeEqual(x.Type, t) {
		return x
	}
	return b.node(exprtree.Cast, t, x)
}

// dayNumber is the day of an instant since 1970, as int64.
func (b *binder) dayNumber(x *exprtree.Node) *exprtree.Node {
	return b.cast(b.cast(b.cast(x, arrow.FixedWidthTypes.Date32), arrow.PrimitiveTypes.Int32), int64Type)
}

// timeUnits are the units of Truncate, and of which number of a second they are parts.
var timeUnits = []string{"year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond"}

func (b *binder) truncate(x *exprtree.Node, unit string) (*exprtree.Node, error) {
	day := exprtree.DayOf(x.Type)
	var span int64
	switch unit {
	case "year", "quarter", "month":
		months := map[string]int64{"year": 12, "quarter": 3, "month": 1}[unit]
		return b.constant(exprtree.FloorMonths, months, x.Type, x), nil
	case "week":
		return b.constant(exprtree.FloorWeek, day, x.Type, x), nil
	case "day", "hour", "minute", "second":
		parts := map[string]int64{"day": 1, "hour": 24, "minute": 24 * 60, "second": 86_400}[unit]
		span = day / parts
	case "millisecond", "microsecond":
		parts := map[string]int64{"millisecond": 1e3, "microsecond": 1e6}[unit]
		span = day / 86_400 / parts
	default:
		return nil, fmt.Errorf("no unit is called %q: there are %s: %w", unit, strings.Join(timeUnits, ", "), ErrLiteral)
	}
	if span <= 1 { // the type has no smaller units
		return x, nil
	}
	return b.constant(exprtree.FloorSpan, span, x.Type, x), nil
}

// comparedTime compares an instant with a time.Time that its type does not hold: one
// between two of its values, or beyond all of them. The comparison is with the latest
// value that is not later than the time, so nothing is converted and can overflow. It
// reports false for other operands.
func (b *binder) comparedTime(op exprtree.Op, operands []operand) (*exprtree.Node, bool) {
	x, literal := operands[0], operands[1]
	if x.open != nil {
		x, literal, op = literal, x, mirrored[op]
	}
	if x.open != nil || literal.open == nil || !isInstant(x.node.Type) {
		return nil, false
	}
	instant, ok := literal.open.value.(time.Time)
	if _, fits := convertTime(instant, x.node.Type); !ok || fits {
		return nil, false
	}
	floor, below := floorTime(instant, x.node.Type)
	bound := &exprtree.Node{Op: exprtree.Literal, Type: x.node.Type, Value: floor}
	switch op {
	case exprtree.Equal:
		return b.node(exprtree.Less, boolean, x.node, x.node), true
	case exprtree.NotEqual:
		return b.node(exprtree.Equal, boolean, x.node, x.node), true
	case exprtree.Less, exprtree.LessEqual:
		if below {
			return b.node(exprtree.Less, boolean, x.node, bound), true
		}
		return b.node(exprtree.LessEqual, boolean, x.node, bound), true
	}
	if below {
		return b.node(exprtree.GreaterEqual, boolean, x.node, bound), true
	}
	return b.node(exprtree.Greater, boolean, x.node, bound), true
}

// floorTime returns the latest value of a type that is not later than a time. If all are
// later it returns the least one, and true.
func floorTime(instant time.Time, t arrow.DataType) (floor int64, below bool) {
	least, most := int64(math.MinInt64), int64(math.MaxInt64)
	seconds := instant.Unix()
	if t.ID() == arrow.DATE32 {
		least, most = math.MinInt32, math.MaxInt32
		floor = floorQuotient(seconds, 86_400)
		return min(max(floor, least), most), floor < least
	}
	unit := exprtree.UnitOf(t)
	switch {
	case seconds > most/unit-1:
		return most, false
	case seconds < least/unit+1:
		return least, true
	}
	return seconds*unit + int64(instant.Nanosecond())/(1e9/unit), false
}

func floorQuotient(v, d int64) int64 {
	q := v / d
	if v%d < 0 {
		q--
	}
	return q
}

// constant makes a node of an operation with a number that is part of it.
func (b *binder) constant(op exprtree.Op, constant int64, t arrow.DataType, arguments ...*exprtree.Node) *exprtree.Node {
	for _, made := range b.constants {
		if made.Op == op && made.Constant == constant && slices.Equal(made.Arguments, arguments) {
			return made
		}
	}
	made := &exprtree.Node{Op: op, Type: t, Constant: constant, Arguments: arguments}
	b.constants = append(b.constants, made)
	return made
}
