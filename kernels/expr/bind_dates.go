package expr

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
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
		return b.truncate(x, operands[1].node.Value.(string), operands[2].open.value.(int), operands[3].open.value.(int))
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

// timeUnits are the units of Truncate.
var timeUnits = []string{"year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond"}

// mostUnits limits the number of units, so that their nanoseconds fit 64 bits.
const mostUnits = 10_000

func (b *binder) truncate(x *exprtree.Node, unit string, number, direction int) (*exprtree.Node, error) {
	if number < 1 || number > mostUnits {
		return nil, fmt.Errorf("a multiple of %d %ss, it has to be 1 to %d: %w", number, unit, mostUnits, ErrLiteral)
	}
	var floor, next *exprtree.Node
	switch months := map[string]int{"year": 12, "quarter": 3, "month": 1}[unit] * number; {
	case months > 12 && months%12 != 0, months > 0 && months < 12 && 12%months != 0:
		return nil, fmt.Errorf("a multiple of %d months, they have to divide a year or make up years: %w", months, ErrLiteral)
	case months > 0:
		floor = b.constant(exprtree.FloorMonths, int64(months), x.Type, x)
		next = b.node(exprtree.AddMonths, x.Type, floor, position(months))
	default:
		span, err := spanOf(x.Type, unit, number)
		if err != nil || span <= 1 { // the type has no smaller units
			return x, err
		}
		switch {
		case unit == "week" && number == 1:
			floor = b.constant(exprtree.FloorWeek, exprtree.DayOf(x.Type), x.Type, x)
		case unit == "week":
			move := func(x *exprtree.Node, days int) *exprtree.Node {
				return b.constant(exprtree.AddSpan, exprtree.DayOf(x.Type), x.Type, x, position(days))
			}
			floor = move(b.constant(exprtree.FloorSpan, span, x.Type, move(x, -4)), 4)
		default:
			floor = b.constant(exprtree.FloorSpan, span, x.Type, x)
		}
		next = b.constant(exprtree.AddSpan, span, x.Type, floor, position(1))
	}
	switch direction {
	case roundDown:
		return floor, nil
	case roundUp:
		return b.node(exprtree.IfElse, x.Type, b.node(exprtree.Equal, boolean, x, floor), x, next), nil
	}
	distance := func(from, to *exprtree.Node) *exprtree.Node {
		return b.node(exprtree.Subtract, int64Type, b.stored(to), b.stored(from))
	}
	return b.node(exprtree.IfElse, x.Type, b.node(exprtree.Less, boolean, distance(floor, x), distance(x, next)), floor, next), nil
}

// stored is the integer that stores a time, as int64.
func (b *binder) stored(x *exprtree.Node) *exprtree.Node {
	if x.Kind() == exprtree.Int32 {
		x = b.cast(x, arrow.PrimitiveTypes.Int32)
	}
	return b.cast(x, int64Type)
}

// spanOf returns the length of a number of units in those of a type, or 1 if it is shorter.
func spanOf(t arrow.DataType, unit string, number int) (int64, error) {
	length, ok := map[string]time.Duration{"week": 7 * 24 * time.Hour, "day": 24 * time.Hour, "hour": time.Hour, "minute": time.Minute,
		"second": time.Second, "millisecond": time.Millisecond, "microsecond": time.Microsecond}[unit]
	if !ok {
		return 0, fmt.Errorf("no unit is called %q: there are %s: %w", unit, strings.Join(timeUnits, ", "), ErrLiteral)
	}
	span, tick := int64(number)*int64(length), int64(24*time.Hour)/exprtree.DayOf(t)
	switch {
	case span <= tick:
		return 1, nil
	case span%tick != 0:
		return 0, fmt.Errorf("%d %ss are no whole number of the units of %v: %w", number, unit, t, ErrLiteral)
	}
	return span / tick, nil
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
	for _, known := range b.constants {
		if known.Op == op && known.Constant == constant && slices.Equal(known.Arguments, arguments) {
			return known
		}
	}
	added := &exprtree.Node{Op: op, Type: t, Constant: constant, Arguments: arguments}
	b.constants = append(b.constants, added)
	return added
}
