package prune

import (
	"cmp"
	"math"
	"math/big"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// Range describes the values of a column in one part of a source.
type Range struct {
	// Low and High are values between which all values of the part lie, nulls and NaN
	// aside. Nil means unknown. Integers, dates, times, timestamps and durations are
	// int64 or uint64 by the sign of the type, in its unit, floats float64, bools bool,
	// decimals *big.Int unscaled, strings and binary values []byte.
	Low, High any
	// Nulls and Valid are the numbers of values that are null and that are not, -1 if
	// unknown.
	Nulls, Valid int64
	// Has reports whether the part may have a value, an int64 of a column of integers or the []byte of a string or binary value,
	// within Low and High. Nil means that all are possible.
	Has func(value any) bool
}

// Unknown is the range of a part without statistics.
var Unknown = Range{Nulls: -1, Valid: -1}

// Comparable reports whether ranges of a type can be used: numbers, decimals of up to
// 128 bits, bools, dates, times, timestamps, durations, strings and binary values.
func Comparable(t arrow.DataType) bool { return isText(t) || isNumeric(t) }

// has reports whether a part may have a value.
func (r Range) has(value any) bool { return r.Has == nil || r.Has(value) }

func isText(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY:
		return true
	case arrow.DICTIONARY:
		return isText(t.(*arrow.DictionaryType).ValueType)
	}
	return false
}

func isNumeric(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.BOOL, arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64,
		arrow.FLOAT32, arrow.FLOAT64, arrow.DECIMAL128, arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION:
		return true
	}
	return false
}

func isFloat(t arrow.DataType) bool {
	return arrow.IsFloating(t.ID())
}

// appendBound appends a bound to a builder of its column's type: null if it is unknown,
// or not a value of the type.
func appendBound(builder array.Builder, bound any) {
	if !appended(builder, bound) {
		builder.AppendNull()
	}
}

func appended(builder array.Builder, bound any) bool {
	switch bound := bound.(type) {
	case bool:
		if b, ok := builder.(*array.BooleanBuilder); ok {
			b.Append(bound)
			return true
		}
	case int64:
		return appendSigned(builder, bound)
	case uint64:
		return appendUnsigned(builder, bound)
	case float64:
		return appendFloat(builder, bound)
	case *big.Int:
		if b, ok := builder.(*array.Decimal128Builder); ok && bound.BitLen() <= 127 {
			b.Append(decimal128.FromBigInt(bound))
			return true
		}
	}
	return false
}

func appendSigned(builder array.Builder, v int64) bool {
	within := func(bits uint) bool { return v>>(bits-1) == 0 || v>>(bits-1) == -1 }
	switch b := builder.(type) {
	case *array.Int8Builder:
		return within(8) && done(b.Append, int8(v))
	case *array.Int16Builder:
		return within(16) && done(b.Append, int16(v))
	case *array.Int32Builder:
		return within(32) && done(b.Append, int32(v))
	case *array.Int64Builder:
		return done(b.Append, v)
	case *array.Date32Builder:
		return within(32) && done(b.Append, arrow.Date32(v))
	case *array.Date64Builder:
		return done(b.Append, arrow.Date64(v))
	case *array.Time32Builder:
		return within(32) && done(b.Append, arrow.Time32(v))
	case *array.Time64Builder:
		return done(b.Append, arrow.Time64(v))
	case *array.TimestampBuilder:
		return done(b.Append, arrow.Timestamp(v))
	case *array.DurationBuilder:
		return done(b.Append, arrow.Duration(v))
	}
	return false
}

func appendUnsigned(builder array.Builder, v uint64) bool {
	switch b := builder.(type) {
	case *array.Uint8Builder:
		return v <= math.MaxUint8 && done(b.Append, uint8(v))
	case *array.Uint16Builder:
		return v <= math.MaxUint16 && done(b.Append, uint16(v))
	case *array.Uint32Builder:
		return v <= math.MaxUint32 && done(b.Append, uint32(v))
	case *array.Uint64Builder:
		return done(b.Append, v)
	}
	return false
}

func appendFloat(builder array.Builder, v float64) bool {
	if math.IsNaN(v) {
		return false
	}
	switch b := builder.(type) {
	case *array.Float32Builder:
		return float64(float32(v)) == v && done(b.Append, float32(v))
	case *array.Float64Builder:
		return done(b.Append, v)
	}
	return false
}

// done calls append and returns true.
func done[T any](append func(T), v T) bool {
	append(v)
	return true
}

// Union returns a range that contains both, or false if one of them is unknown or they
// are of different types. The zero Range contains nothing. Text has no union, because a
// greatest value may be cut short.
func (r Range) Union(other Range) (Range, bool) {
	if other.Low == nil || other.High == nil {
		return Range{}, false
	}
	if r.Low == nil {
		_, isText := other.Low.([]byte)
		return other, !isText
	}
	low, ok := compare(r.Low, other.Low)
	high, also := compare(r.High, other.High)
	if !ok || !also {
		return Range{}, false
	}
	if low > 0 {
		r.Low = other.Low
	}
	if high < 0 {
		r.High = other.High
	}
	r.Nulls, r.Valid = r.Nulls+other.Nulls, r.Valid+other.Valid
	return r, true
}

// compare compares bounds of one type.
func compare(a, b any) (order int, ok bool) {
	switch a := a.(type) {
	case int64:
		if b, ok := b.(int64); ok {
			return cmp.Compare(a, b), true
		}
	case uint64:
		if b, ok := b.(uint64); ok {
			return cmp.Compare(a, b), true
		}
	case float64:
		if b, ok := b.(float64); ok {
			return cmp.Compare(a, b), true
		}
	case *big.Int:
		if b, ok := b.(*big.Int); ok {
			return a.Cmp(b), true
		}
	case bool:
		if b, ok := b.(bool); ok {
			return cmp.Compare(bit(a), bit(b)), true
		}
	}
	return 0, false
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Append appends a value in the form of a bound to a builder of its column's type, null for
// nil, and reports whether the type has it.
func Append(builder array.Builder, bound any) bool {
	if bound == nil {
		builder.AppendNull()
		return true
	}
	return appended(builder, bound) || appendText(builder, bound)
}

func appendText(builder array.Builder, bound any) bool {
	text, ok := bound.([]byte)
	if !ok {
		return false
	}
	switch b := builder.(type) {
	case *array.StringBuilder:
		return done(b.Append, string(text))
	case *array.LargeStringBuilder:
		return done(b.Append, string(text))
	case *array.BinaryBuilder: // of both lengths of offsets
		return done(b.Append, text)
	}
	return false
}
