package delta

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/arrow/scalar"
)

// partitionValue parses a value of a partition. Empty text and nil are null.
func partitionValue(text *string, t arrow.DataType, zone *time.Location) (scalar.Scalar, error) {
	if text == nil || *text == "" {
		return scalar.MakeNullScalar(t), nil
	}
	value, err := parseValue(*text, t, zone)
	if err != nil {
		return nil, fmt.Errorf("the partition value %q is no %v: %w: %w", *text, t, err, ErrLog)
	}
	return value, nil
}

func parseValue(text string, t arrow.DataType, zone *time.Location) (scalar.Scalar, error) {
	switch t := t.(type) {
	case *arrow.StringType:
		return scalar.NewStringScalar(text), nil
	case *arrow.BinaryType:
		return scalar.NewBinaryScalar(memory.NewBufferBytes([]byte(text)), t), nil
	case *arrow.BooleanType:
		value, err := strconv.ParseBool(text)
		return scalar.NewBooleanScalar(value), err
	case *arrow.Int8Type:
		value, err := strconv.ParseInt(text, 10, 8)
		return scalar.NewInt8Scalar(int8(value)), err
	case *arrow.Int16Type:
		value, err := strconv.ParseInt(text, 10, 16)
		return scalar.NewInt16Scalar(int16(value)), err
	case *arrow.Int32Type:
		value, err := strconv.ParseInt(text, 10, 32)
		return scalar.NewInt32Scalar(int32(value)), err
	case *arrow.Int64Type:
		value, err := strconv.ParseInt(text, 10, 64)
		return scalar.NewInt64Scalar(value), err
	case *arrow.Float32Type:
		value, err := strconv.ParseFloat(text, 32)
		return scalar.NewFloat32Scalar(float32(value)), err
	case *arrow.Float64Type:
		value, err := strconv.ParseFloat(text, 64)
		return scalar.NewFloat64Scalar(value), err
	case *arrow.Date32Type:
		value, err := time.Parse(time.DateOnly, text)
		return scalar.NewDate32Scalar(arrow.Date32FromTime(value)), err
	case *arrow.TimestampType:
		if t.TimeZone == "" {
			zone = time.UTC
		}
		value, err := parseTime(text, zone)
		return scalar.NewTimestampScalar(arrow.Timestamp(value.UnixMicro()), t), err
	case *arrow.Decimal128Type:
		value, err := parseDecimal(text, t)
		if err != nil {
			return nil, err
		}
		return scalar.NewDecimal128Scalar(value, t), nil
	}
	return nil, fmt.Errorf("the type is not one of partitions")
}

// parseTime parses a time with a zone, or without one in the given zone.
func parseTime(text string, zone *time.Location) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", time.DateOnly} {
		if value, err := time.ParseInLocation(layout, text, zone); err == nil {
			return value, nil
		}
	}
	return time.Time{}, fmt.Errorf("expected a time such as 2026-11-29 12:30:00 or 2026-11-29T12:30:00Z")
}

// parseDecimal parses a decimal exactly.
func parseDecimal(text string, t *arrow.Decimal128Type) (decimal128.Num, error) {
	unscaled, exact := unscaledDecimal(text, t.Scale)
	if unscaled == nil || !exact || unscaled.BitLen() > 127 {
		return decimal128.Num{}, fmt.Errorf("expected a decimal of %d digits, %d of them behind the point", t.Precision, t.Scale)
	}
	value := decimal128.FromBigInt(unscaled)
	if !value.FitsInPrecision(t.Precision) {
		return decimal128.Num{}, fmt.Errorf("it has more than %d digits", t.Precision)
	}
	return value, nil
}

// unscaledDecimal returns the value in units of its last digit, rounded down, and whether it is exact; or nil.
func unscaledDecimal(text string, scale int32) (unscaled *big.Int, exact bool) {
	if _, exponent, ok := strings.Cut(strings.ToLower(text), "e"); ok {
		if n, err := strconv.Atoi(exponent); err != nil || n > 100 || n < -100 {
			return nil, false
		}
	}
	if len(text) > 100 {
		return nil, false
	}
	value, ok := new(big.Rat).SetString(text)
	if !ok || strings.ContainsAny(text, "/_xXbBoOpP") {
		return nil, false
	}
	value.Mul(value, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
	quotient, rest := new(big.Int).DivMod(value.Num(), value.Denom(), new(big.Int))
	return quotient, rest.Sign() == 0
}
