package exprtree

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"
)

// TemporalCast describes how Cast converts one temporal type to another, on the 64-bit
// integers of both. The steps are taken in this order; a zero skips a step:
//
//	v = v mod Modulo     rounded down, so that the result is not negative
//	v = v / Divide       rounded down
//	v = v * Multiply     null on overflow
//	null unless Least <= v <= Most
//
// CastWrap wraps in the multiplication, skips the last step, and keeps the low bits.
type TemporalCast struct {
	Modulo, Divide, Multiply int64
	Least, Most              int64
}

// dayMilliseconds is the length of a day in the unit of date64.
const dayMilliseconds = 86_400_000

// perSecond returns the number of a unit's ticks per second.
func perSecond(unit arrow.TimeUnit) int64 {
	switch unit {
	case arrow.Second:
		return 1
	case arrow.Millisecond:
		return 1e3
	case arrow.Microsecond:
		return 1e6
	}
	return 1e9
}

// UnitOf returns the number of a temporal type's units per second, or 0 for a date32,
// which counts days.
func UnitOf(t arrow.DataType) int64 {
	switch t := t.(type) {
	case arrow.TemporalWithUnit:
		return perSecond(t.TimeUnit())
	case *arrow.Date64Type:
		return 1e3
	}
	return 0
}

// DayOf returns the number of a date's or timestamp's units per day.
func DayOf(t arrow.DataType) int64 {
	if unit := UnitOf(t); unit != 0 {
		return 86_400 * unit
	}
	return 1
}

// TemporalCastOf returns the conversion of one temporal type to another, and whether it
// is supported. Dates and timestamps convert to one another, times to times and
// durations to durations of other units, timestamps to the time of the day, times to
// durations, and durations within a day to times.
func TemporalCastOf(from, to arrow.DataType) (TemporalCast, bool) {
	cast := TemporalCast{Least: math.MinInt64, Most: math.MaxInt64}
	if KindOf(to) == Int32 {
		cast.Least, cast.Most = math.MinInt32, math.MaxInt32
	}
	source, target := groupOf(from), groupOf(to)
	switch {
	case source == instants && target == instants:
		cast.instant(from, to)
		return cast, true
	case from.ID() == arrow.TIMESTAMP && target == clocks:
		cast.Modulo = 86_400 * UnitOf(from)
	case source == lengths && target == clocks:
		cast.Least, cast.Most = 0, 86_400*UnitOf(to)-1
	case source == target && source != noGroup, source == clocks && target == lengths:
	default:
		return TemporalCast{}, false
	}
	cast.rescale(UnitOf(from), UnitOf(to))
	return cast, true
}

type group uint8

const (
	noGroup group = iota
	instants
	clocks
	lengths
)

func groupOf(t arrow.DataType) group {
	switch t.ID() {
	case arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP:
		return instants
	case arrow.TIME32, arrow.TIME64:
		return clocks
	case arrow.DURATION:
		return lengths
	}
	return noGroup
}

// instant converts between dates and timestamps.
func (c *TemporalCast) instant(from, to arrow.DataType) {
	switch {
	case from.ID() == arrow.DATE32 && to.ID() == arrow.DATE32:
	case from.ID() == arrow.DATE32:
		c.Multiply = 86_400 * UnitOf(to)
	case to.ID() == arrow.DATE32:
		c.Divide = 86_400 * UnitOf(from)
	case to.ID() == arrow.DATE64 && from.ID() == arrow.TIMESTAMP:
		c.Divide, c.Multiply = 86_400*UnitOf(from), dayMilliseconds
	default:
		c.rescale(UnitOf(from), UnitOf(to))
	}
}

func (c *TemporalCast) rescale(from, to int64) {
	switch {
	case to > from:
		c.Multiply = to / from
	case to < from:
		c.Divide = from / to
	}
}
