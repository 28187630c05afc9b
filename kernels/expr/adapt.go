package expr

import (
	"math/big"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// adapted returns the type of an open literal that is used with operands of the known
// types.
func adapted(op exprtree.Op, literal *node, known []arrow.DataType) arrow.DataType {
	switch value := literal.value.(type) {
	case int:
		return adaptedInteger(op, value, known)
	case float64:
		return adaptedFloat(op, value, known)
	case time.Time:
		return adaptedTime(value, known)
	case time.Duration:
		return adaptedDuration(op, value, known)
	}
	own, _ := literal.ownType()
	return own
}

// adaptedFloat returns the float type of the other operands. A float that is compared with
// decimals is the decimal that is written the same: 0.05 is 5 hundredths exactly.
func adaptedFloat(op exprtree.Op, value float64, known []arrow.DataType) arrow.DataType {
	t, ok := commonType(known)
	switch {
	case ok && exprtree.KindOf(t).IsFloat():
		return t
	case ok && exprtree.KindOf(t) == exprtree.Decimal && op >= exprtree.Equal && op <= exprtree.GreaterEqual:
		if d, ok := decimalOfFloat(value); ok {
			return d
		}
	}
	return arrow.PrimitiveTypes.Float64
}

// adaptedInteger returns the type of the other operands if it holds the value, or else the
// smallest integer type that does.
func adaptedInteger(op exprtree.Op, value int, known []arrow.DataType) arrow.DataType {
	t, ok := commonType(known)
	if !ok {
		return arrow.PrimitiveTypes.Int64
	}
	kind := exprtree.KindOf(t)
	if d, decimal := t.(*arrow.Decimal128Type); decimal {
		if op == exprtree.Multiply { // the scales add up
			d = decimalOf(d.Precision, 0)
		}
		if _, fits := convertDecimal(value, d); fits && !badDecimal(d) {
			return d
		}
		return arrow.PrimitiveTypes.Int64
	}
	if kind.IsFloat() || kind.IsInteger() && !exprtree.IsTemporal(t) && fitsInteger(big.NewInt(int64(value)), kind) {
		return t
	}
	for _, bits := range []int{8, 16, 32} {
		if smaller := signedOf(bits); kind.IsInteger() && !exprtree.IsTemporal(t) && fitsInteger(big.NewInt(int64(value)), exprtree.KindOf(smaller)) {
			return smaller
		}
	}
	return arrow.PrimitiveTypes.Int64
}

// adaptedTime returns the type of the other operands if it holds the instant, or else a
// timestamp of a unit that does.
func adaptedTime(value time.Time, known []arrow.DataType) arrow.DataType {
	zone := "UTC"
	unit := arrow.Second
	for _, t := range known {
		if _, fits := convertTime(value, t); fits && isInstant(t) {
			return t
		}
		if t, ok := t.(*arrow.TimestampType); ok {
			zone = t.TimeZone
		}
		if exprtree.IsTemporal(t) {
			unit = exprtree.Finest(t)
		}
	}
	if len(known) == 0 {
		unit = arrow.Nanosecond
	}
	for ; unit < arrow.Nanosecond; unit++ {
		if value.Nanosecond()%int(1e9/exprtree.UnitOf(&arrow.TimestampType{Unit: unit})) == 0 {
			break
		}
	}
	return &arrow.TimestampType{Unit: unit, TimeZone: zone}
}

// adaptedDuration returns a duration in the unit of the other operands if it holds the
// value, or else in a finer unit that does.
func adaptedDuration(op exprtree.Op, value time.Duration, known []arrow.DataType) arrow.DataType {
	for _, t := range known {
		// Next to a time the literal is a time, except in additions and subtractions.
		if _, fits := convertTemporal(value, t); fits && isClock(t) && op != exprtree.Add && op != exprtree.Subtract {
			return t
		}
		if !exprtree.IsTemporal(t) {
			continue
		}
		for unit := exprtree.Finest(t); unit < arrow.Nanosecond; unit++ {
			d := &arrow.DurationType{Unit: unit}
			if _, fits := convertTemporal(value, d); fits {
				return d
			}
		}
	}
	return arrow.FixedWidthTypes.Duration_ns
}
