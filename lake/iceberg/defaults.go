package iceberg

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/gpuframe/gpuframe/lake/internal/decimals"
)

// mostDefault is the length of the text of an initial default at most: each older row has it.
const mostDefault = 4 << 10

// defaultOf returns the initial default of a column, or nil for null.
func defaultOf(text json.RawMessage, t arrow.DataType) (scalar.Scalar, error) {
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	if len(text) > mostDefault {
		return nil, fmt.Errorf("the initial default has %d bytes, the limit is %d: %w", len(text), mostDefault, ErrLimit)
	}
	if arrow.IsNested(t.ID()) {
		return nil, fmt.Errorf("the initial default %.100s of %v: %w", text, t, ErrUnsupported)
	}
	value, err := parseDefault(text, t)
	if err != nil {
		return nil, fmt.Errorf("the initial default %.100s is no %v: %w: %w", text, t, err, ErrMetadata)
	}
	return value, nil
}

func parseDefault(text json.RawMessage, t arrow.DataType) (scalar.Scalar, error) {
	switch t.(type) {
	case *arrow.BooleanType:
		var v bool
		err := json.Unmarshal(text, &v)
		return scalar.NewBooleanScalar(v), err
	case *arrow.Int32Type:
		var v int32
		err := json.Unmarshal(text, &v)
		return scalar.NewInt32Scalar(v), err
	case *arrow.Int64Type:
		var v int64
		err := json.Unmarshal(text, &v)
		return scalar.NewInt64Scalar(v), err
	case *arrow.Float32Type:
		var v float32
		err := json.Unmarshal(text, &v)
		return scalar.NewFloat32Scalar(v), err
	case *arrow.Float64Type:
		var v float64
		err := json.Unmarshal(text, &v)
		return scalar.NewFloat64Scalar(v), err
	}
	var value string
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	return parseText(value, t)
}

// parseText parses the default of a type that JSON has as text.
func parseText(text string, t arrow.DataType) (scalar.Scalar, error) {
	switch t := t.(type) {
	case *arrow.StringType:
		return scalar.NewStringScalar(text), nil
	case *arrow.BinaryType:
		data, err := hex.DecodeString(text)
		return scalar.NewBinaryScalar(memory.NewBufferBytes(data), t), err
	case *arrow.FixedSizeBinaryType:
		if t.ByteWidth == 16 {
			text = strings.ReplaceAll(text, "-", "") // a UUID
		}
		data, err := hex.DecodeString(text)
		if err == nil && len(data) != t.ByteWidth {
			err = fmt.Errorf("it has %d bytes", len(data))
		}
		return scalar.NewFixedSizeBinaryScalar(memory.NewBufferBytes(data), t), err
	case *arrow.Decimal128Type:
		value, err := decimals.Parse(text, t)
		return scalar.NewDecimal128Scalar(value, t), err
	case *arrow.Date32Type:
		at, err := time.Parse(time.DateOnly, text)
		return scalar.NewDate32Scalar(arrow.Date32FromTime(at)), err
	case *arrow.Time64Type:
		at, err := time.Parse("15:04:05.999999999", text)
		return scalar.NewTime64Scalar(arrow.Time64(at.Sub(at.Truncate(24*time.Hour)).Microseconds()), t), err
	case *arrow.TimestampType:
		return parseTimestamp(text, t)
	}
	return nil, fmt.Errorf("the type has no defaults")
}

// parseTimestamp parses a timestamp: with a zone if the type has one.
func parseTimestamp(text string, t *arrow.TimestampType) (scalar.Scalar, error) {
	layout := "2006-01-02T15:04:05.999999999"
	if t.TimeZone != "" {
		layout += "Z07:00"
	}
	at, err := time.Parse(layout, text)
	if err != nil {
		return nil, err
	}
	value := at.UnixMicro()
	if t.Unit == arrow.Nanosecond {
		if value > math.MaxInt64/1000 || value < math.MinInt64/1000 {
			return nil, fmt.Errorf("it is outside the range of nanoseconds")
		}
		value = at.UnixNano()
	}
	return scalar.NewTimestampScalar(arrow.Timestamp(value), t), nil
}
