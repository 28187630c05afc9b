package iceberg

import (
	"bytes"
	"math"
	"math/big"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
)

// bounds returns the least and the greatest value of the column that the transform makes the value, or nil.
func (s sourced) bounds(value any) (low, high any) {
	switch s.name {
	case "truncate":
		return s.truncated(value)
	case "year", "month", "day", "hour":
		ordinal, ok := integerOf(value)
		if !ok {
			return nil, nil
		}
		return s.times(ordinal)
	}
	return nil, nil
}

func (s sourced) truncated(value any) (low, high any) {
	switch s.column.t.(type) {
	case *arrow.Int32Type, *arrow.Int64Type:
		if v, ok := integerOf(value); ok && !s.wraps(v) {
			return v, v + s.width - 1
		}
	case *arrow.Decimal128Type:
		if v := unscaledOf(value); v != nil {
			return v, new(big.Int).Add(v, big.NewInt(s.width-1))
		}
	case *arrow.StringType:
		if v, ok := value.(string); ok {
			if int64(utf8.RuneCountInString(v)) < s.width {
				return []byte(v), []byte(v)
			}
			return []byte(v), successor([]byte(v))
		}
	case *arrow.BinaryType:
		if v, ok := value.([]byte); ok {
			if int64(len(v)) < s.width {
				return v, v
			}
			return v, successor(v)
		}
	}
	return nil, nil
}

// wraps reports whether the value may be that of the least integers, for which writers overflow. The column may have had 32 bits.
func (s sourced) wraps(v int64) bool {
	return v > math.MaxInt64-s.width || v > math.MaxInt32-s.width && v <= math.MaxInt32
}

// successor returns a text above all with the prefix, or nil.
func successor(prefix []byte) any {
	trimmed := bytes.TrimRight(prefix, "\xff")
	if len(trimmed) == 0 {
		return nil
	}
	next := bytes.Clone(trimmed)
	next[len(next)-1]++
	return next
}

// times returns the bounds of the times of a year, month, day or hour since 1970. Old writers rounded those before 1970 up.
func (s sourced) times(ordinal int64) (low, high any) {
	if ordinal < -1<<32 || ordinal > 1<<32 {
		return nil, nil
	}
	first := ordinal
	if ordinal <= 0 {
		first--
	}
	from, ok := s.start(first)
	to, also := s.start(ordinal + 1)
	if !ok || !also || to <= from {
		return nil, nil
	}
	return from, to - 1
}

// start returns the first value of the column in a year, month, day or hour, if it fits.
func (s sourced) start(ordinal int64) (int64, bool) {
	seconds, ok := s.begin(ordinal)
	if !ok {
		return 0, false
	}
	unit := int64(1)
	switch t := s.column.t.(type) {
	case *arrow.Date32Type:
		return floorDivide(seconds, 86400), true
	case *arrow.TimestampType:
		unit = int64(time.Second) / int64(t.Unit.Multiplier())
	default:
		return 0, false
	}
	if seconds > math.MaxInt64/unit || seconds < math.MinInt64/unit {
		return 0, false
	}
	return seconds * unit, true
}

// begin returns the second since 1970 with which a year, month, day or hour begins.
func (t transform) begin(ordinal int64) (seconds int64, ok bool) {
	switch t.name {
	case "year", "month":
		if ordinal < -1<<24 || ordinal > 1<<24 {
			return 0, false
		}
		if t.name == "year" {
			ordinal *= 12
		}
		return time.Date(1970, time.Month(1+ordinal), 1, 0, 0, 0, 0, time.UTC).Unix(), true
	case "day":
		return ordinal * 86400, true
	case "hour":
		return ordinal * 3600, true
	}
	return 0, false
}

// ordinalOf returns the year, month, day or hour of a second since 1970.
func (t transform) ordinalOf(seconds int64) int64 {
	at := time.Unix(seconds, 0).UTC()
	switch t.name {
	case "year":
		return int64(at.Year() - 1970)
	case "month":
		return int64(at.Year()-1970)*12 + int64(at.Month()) - 1
	case "day":
		return floorDivide(seconds, 86400)
	}
	return floorDivide(seconds, 3600)
}

func floorDivide(a, b int64) int64 {
	quotient := a / b
	if a%b < 0 {
		quotient--
	}
	return quotient
}
