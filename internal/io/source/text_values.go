package source

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/decimal256"
	"github.com/apache/arrow/go/v17/arrow/float16"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/text/textvalue"
)

// textValue appends the value of a text to a builder, and reports whether it has one.
type textValue func(text string) bool

// textValues returns the function that appends to a builder, or nil for builders of other types
// than numbers, bools, text, dates and times. cut takes timestamps without the digits of the
// fraction that are beyond their unit.
func textValues(builder array.Builder, cut bool) textValue {
	switch b := builder.(type) {
	case *array.StringBuilder:
		return func(text string) bool { b.Append(text); return true }
	case *array.LargeStringBuilder:
		return func(text string) bool { b.Append(text); return true }
	case *array.BooleanBuilder:
		return appended(b.Append, textvalue.Bool)
	case *array.Float16Builder:
		return appended(b.Append, func(text string) (float16.Num, bool) {
			value, ok := textvalue.Float(text, 32)
			half := float16.New(float32(value))
			return half, ok && half.IsInf() == (math.IsInf(value, 0) || math.IsNaN(value)) // IsInf holds for NaN, too
		})
	case *array.Float32Builder:
		return appended(b.Append, func(text string) (float32, bool) {
			value, ok := textvalue.Float(text, 32)
			return float32(value), ok
		})
	case *array.Float64Builder:
		return appended(b.Append, func(text string) (float64, bool) { return textvalue.Float(text, 64) })
	case *array.Decimal128Builder:
		t := b.Type().(*arrow.Decimal128Type)
		return appended(b.Append, func(text string) (decimal128.Num, bool) {
			value, ok := textvalue.Decimal(text, t.Precision, t.Scale)
			if !ok {
				return decimal128.Num{}, false
			}
			return decimal128.FromBigInt(value), true
		})
	case *array.Decimal256Builder:
		t := b.Type().(*arrow.Decimal256Type)
		return appended(b.Append, func(text string) (decimal256.Num, bool) {
			value, ok := textvalue.Decimal(text, t.Precision, t.Scale)
			if !ok {
				return decimal256.Num{}, false
			}
			return decimal256.FromBigInt(value), true
		})
	}
	if value := integerValues(builder); value != nil {
		return value
	}
	return timeValues(builder, cut)
}

// appended appends what a function reads.
func appended[T any](appendValue func(T), read func(text string) (T, bool)) textValue {
	return func(text string) bool {
		value, ok := read(text)
		if ok {
			appendValue(value)
		}
		return ok
	}
}

func integerValues(builder array.Builder) textValue {
	switch b := builder.(type) {
	case *array.Int8Builder:
		return signed(b.Append, 8)
	case *array.Int16Builder:
		return signed(b.Append, 16)
	case *array.Int32Builder:
		return signed(b.Append, 32)
	case *array.Int64Builder:
		return signed(b.Append, 64)
	case *array.Uint8Builder:
		return unsigned(b.Append, 8)
	case *array.Uint16Builder:
		return unsigned(b.Append, 16)
	case *array.Uint32Builder:
		return unsigned(b.Append, 32)
	case *array.Uint64Builder:
		return unsigned(b.Append, 64)
	}
	return nil
}

func signed[T ~int8 | ~int16 | ~int32 | ~int64](appendValue func(T), bits int) textValue {
	return appended(appendValue, func(text string) (T, bool) {
		value, ok := textvalue.Int(text, bits)
		return T(value), ok
	})
}

func unsigned[T uint8 | uint16 | uint32 | uint64](appendValue func(T), bits int) textValue {
	return appended(appendValue, func(text string) (T, bool) {
		value, ok := textvalue.Uint(text, bits)
		return T(value), ok
	})
}

func timeValues(builder array.Builder, cut bool) textValue {
	switch b := builder.(type) {
	case *array.Date32Builder:
		return appended(b.Append, func(text string) (arrow.Date32, bool) {
			days, ok := textvalue.Date(text)
			return arrow.Date32(days), ok
		})
	case *array.Date64Builder:
		return appended(b.Append, func(text string) (arrow.Date64, bool) {
			const milliseconds = 86_400_000
			days, ok := textvalue.Date(text)
			return arrow.Date64(int64(days) * milliseconds), ok
		})
	case *array.Time32Builder:
		return timed(b.Append, textvalue.Clock, b.Type(), false)
	case *array.Time64Builder:
		return timed(b.Append, textvalue.Clock, b.Type(), false)
	case *array.TimestampBuilder:
		return timed(b.Append, textvalue.Timestamp, b.Type(), cut)
	}
	return nil
}

// timed appends what a function reads in the unit of a type.
func timed[T ~int32 | ~int64](appendValue func(T), read func(text string, unit int64) (int64, bool, bool), t arrow.DataType, cut bool) textValue {
	unit := exprtree.UnitOf(t)
	return appended(appendValue, func(text string) (T, bool) {
		value, exact, ok := read(text, unit)
		return T(value), ok && (exact || cut)
	})
}

// counts returns the function that appends the number of units of a date or a time, or nil for
// other builders.
func counts(builder array.Builder) textValue {
	switch b := builder.(type) {
	case *array.Date32Builder:
		return signed(b.Append, 32)
	case *array.Date64Builder:
		return signed(b.Append, 64)
	case *array.Time32Builder:
		return signed(b.Append, 32)
	case *array.Time64Builder:
		return signed(b.Append, 64)
	case *array.TimestampBuilder:
		return signed(b.Append, 64)
	}
	return nil
}
