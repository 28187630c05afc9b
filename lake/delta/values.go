package delta

import (
	"fmt"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/gpuframe/gpuframe/lake/internal/decimals"
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
		value, err := decimals.Parse(text, t)
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
