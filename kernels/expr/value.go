package expr

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// literalNode makes the literal of a type from a value that the user gave. The
// value must be one that the type can hold; but floats are rounded.
func literalNode(value any, t arrow.DataType) (*exprtree.Node, error) {
	if t == nil || exprtree.KindOf(t) == exprtree.Other || t.ID() == arrow.DICTIONARY {
		return nil, fmt.Errorf("a literal of type %v: %w", t, ErrLiteral)
	}
	if d, ok := t.(*arrow.Decimal128Type); ok && badDecimal(d) {
		return nil, fmt.Errorf("a literal of type %v: precision and scale must be in 0 to 38: %w", t, ErrLiteral)
	}
	if value == nil {
		return &exprtree.Node{Op: exprtree.Literal, Type: t, Slot: -1}, nil
	}
	converted, ok := convert(value, t)
	if !ok {
		return nil, fmt.Errorf("%v of Go's %T does not fit %v: %w", value, value, t, ErrLiteral)
	}
	return &exprtree.Node{Op: exprtree.Literal, Type: t, Value: converted}, nil
}

// convert returns the value as exprtree.Node keeps it.
func convert(value any, t arrow.DataType) (any, bool) {
	kind := exprtree.KindOf(t)
	switch {
	case kind == exprtree.Bool:
		truth, ok := value.(bool)
		return truth, ok
	case kind == exprtree.String:
		return convertString(value, t)
	case exprtree.IsTemporal(t):
		return convertTemporal(value, t)
	case kind == exprtree.Decimal:
		return convertDecimal(value, t.(*arrow.Decimal128Type))
	case kind.IsFloat():
		return convertFloat(value, kind)
	}
	whole := integer(value)
	if whole == nil || !fitsInteger(whole, kind) {
		return nil, false
	}
	if kind.IsSigned() {
		return whole.Int64(), true
	}
	return whole.Uint64(), true
}

// integer returns an integer of Go's as a big one, nil for anything else.
func integer(value any) *big.Int {
	switch v := value.(type) {
	case int:
		return big.NewInt(int64(v))
	case int8:
		return big.NewInt(int64(v))
	case int16:
		return big.NewInt(int64(v))
	case int32:
		return big.NewInt(int64(v))
	case int64:
		return big.NewInt(v)
	case uint:
		return new(big.Int).SetUint64(uint64(v))
	case uint8:
		return big.NewInt(int64(v))
	case uint16:
		return big.NewInt(int64(v))
	case uint32:
		return big.NewInt(int64(v))
	case uint64:
		return new(big.Int).SetUint64(v)
	case uintptr:
		return new(big.Int).SetUint64(uint64(v))
	}
	return nil
}

// fitsInteger reports whether an integer kind holds the value.
func fitsInteger(value *big.Int, kind exprtree.Kind) bool {
	bits := kind.Bits()
	if kind.IsUnsigned() {
		return value.Sign() >= 0 && value.BitLen() <= bits
	}
	if value.Sign() < 0 {
		value = new(big.Int).Not(value)
	}
	return value.BitLen() < bits
}

func convertString(value any, t arrow.DataType) (any, bool) {
	var text string
	switch v := value.(type) {
	case string:
		text = v
	case []byte:
		text = string(v)
	default:
		return nil, false
	}
	if fixed, ok := t.(*arrow.FixedSizeBinaryType); ok && len(text) != fixed.ByteWidth {
		return nil, false
	}
	return text, true
}

func convertFloat(value any, kind exprtree.Kind) (any, bool) {
	var number float64
	switch v := value.(type) {
	case float64:
		number = v
	case float32:
		number = float64(v)
	default:
		whole := integer(value)
		if whole == nil {
			return nil, false
		}
		if kind == exprtree.Float32 {
			single, _ := new(big.Float).SetInt(whole).Float32()
			return float64(single), true
		}
		number, _ = new(big.Float).SetInt(whole).Float64()
	}
	if kind == exprtree.Float32 {
		number = float64(float32(number))
	}
	return number, true
}

func convertDecimal(value any, t *arrow.Decimal128Type) (any, bool) {
	if v, ok := value.(decimal128.Num); ok {
		return v, v.FitsInPrecision(t.Precision)
	}
	whole := unscaled(value, t.Scale)
	if whole == nil || new(big.Int).Abs(whole).Cmp(powerOfTen(t.Precision)) >= 0 {
		return nil, false
	}
	return decimal128.FromBigInt(whole), true
}

// unscaled returns an integer, a float with its shortest text, or the digits of a string, times
// a power of ten, or nil if that is not a whole number.
func unscaled(value any, scale int32) *big.Int {
	text, ok := value.(string)
	if float, isFloat := value.(float64); isFloat {
		text, ok = strconv.FormatFloat(float, 'f', -1, 64), true
	}
	whole := integer(value)
	if ok {
		ahead, fraction, _ := strings.Cut(text, ".")
		fraction = strings.TrimRight(fraction, "0")
		missing := int(scale) - len(fraction)
		if whole, ok = new(big.Int).SetString(ahead+fraction, 10); !ok || missing < 0 || strings.ContainsAny(fraction, "+-") {
			return nil // not a number, infinite, or with more digits
		}
		scale = int32(missing)
	}
	if whole != nil {
		whole.Mul(whole, powerOfTen(scale))
	}
	return whole
}

func powerOfTen(exponent int32) *big.Int {
	power := big.NewInt(1)
	for range exponent {
		power.Mul(power, big.NewInt(10))
	}
	return power
}

// convertTemporal takes instants, spans of time, and the counts of arrow-go's types.
func convertTemporal(value any, t arrow.DataType) (any, bool) {
	var count int64
	switch v := value.(type) {
	case time.Time:
		return convertTime(v, t)
	case time.Duration:
		// A time.Duration is a duration, or a time of the day since midnight.
		if id := t.ID(); id != arrow.DURATION && id != arrow.TIME32 && id != arrow.TIME64 {
			return nil, false
		}
		nanoseconds := 1e9 / exprtree.UnitOf(t)
		count = int64(v) / nanoseconds
		return count, int64(v)%nanoseconds == 0 && (t.ID() != arrow.TIME32 || count == int64(int32(count)))
	case arrow.Date32:
		return int64(v), t.ID() == arrow.DATE32
	case arrow.Date64:
		return int64(v), t.ID() == arrow.DATE64
	case arrow.Time32:
		return int64(v), t.ID() == arrow.TIME32
	case arrow.Time64:
		return int64(v), t.ID() == arrow.TIME64
	case arrow.Timestamp:
		return int64(v), t.ID() == arrow.TIMESTAMP
	case arrow.Duration:
		return int64(v), t.ID() == arrow.DURATION
	}
	return nil, false
}

func convertTime(instant time.Time, t arrow.DataType) (any, bool) {
	seconds, rest := instant.Unix(), int64(instant.Nanosecond())
	switch t.ID() {
	case arrow.DATE32:
		return seconds / 86_400, seconds%86_400 == 0 && rest == 0 && seconds/86_400 == int64(int32(seconds/86_400))
	case arrow.DATE64, arrow.TIMESTAMP:
		unit := exprtree.UnitOf(t)
		if rest%(1e9/unit) != 0 || t.ID() == arrow.DATE64 && seconds%86_400 != 0 {
			return nil, false
		}
		count := new(big.Int).Mul(big.NewInt(seconds), big.NewInt(unit))
		count.Add(count, big.NewInt(rest/(1e9/unit)))
		return count.Int64(), count.IsInt64() && (t.ID() != arrow.DATE64 || rest == 0)
	}
	return nil, false
}
