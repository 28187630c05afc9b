package parquetschema

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// leafType returns the type of a column's values.
func leafType(n *schema.PrimitiveNode) (t arrow.DataType, err error) {
	logical := n.LogicalType()
	if !logical.IsValid() || logical.Equals(schema.NullLogicalType{}) {
		return arrow.Null, nil
	}
	switch physical := n.PhysicalType(); physical {
	case parquet.Types.Boolean:
		return arrow.FixedWidthTypes.Boolean, nil
	case parquet.Types.Float:
		return arrow.PrimitiveTypes.Float32, nil
	case parquet.Types.Double:
		return arrow.PrimitiveTypes.Float64, nil
	case parquet.Types.Int96:
		return arrow.FixedWidthTypes.Timestamp_ns, nil
	case parquet.Types.Int32, parquet.Types.Int64:
		t = integerType(physical == parquet.Types.Int64, logical)
	case parquet.Types.ByteArray:
		t = textType(logical)
	case parquet.Types.FixedLenByteArray:
		t = bytesType(n.TypeLength(), logical)
	}
	if t == nil {
		return nil, fmt.Errorf("%v of %v: %w", logical, n.PhysicalType(), ErrType)
	}
	return t, nil
}

// integerType returns the type of integers of 32 or 64 bits, or nil.
func integerType(wide bool, logical schema.LogicalType) arrow.DataType {
	switch l := logical.(type) {
	case schema.NoLogicalType:
		if wide {
			return arrow.PrimitiveTypes.Int64
		}
		return arrow.PrimitiveTypes.Int32
	case *schema.IntLogicalType:
		return widthType(l)
	case *schema.DecimalLogicalType:
		return decimalType(l)
	case *schema.TimeLogicalType:
		return timeType(wide, l)
	case schema.DateLogicalType:
		if !wide {
			return arrow.FixedWidthTypes.Date32
		}
	case *schema.TimestampLogicalType:
		if wide {
			return timestampType(l)
		}
	}
	return nil
}

func widthType(l *schema.IntLogicalType) arrow.DataType {
	types := map[int8][2]arrow.DataType{
		8: {arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int8}, 16: {arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int16},
		32: {arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int32}, 64: {arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int64},
	}[l.BitWidth()]
	if l.IsSigned() {
		return types[1]
	}
	return types[0]
}

func decimalType(l *schema.DecimalLogicalType) arrow.DataType {
	if l.Precision() <= decimal128.MaxPrecision {
		return &arrow.Decimal128Type{Precision: l.Precision(), Scale: l.Scale()}
	}
	return &arrow.Decimal256Type{Precision: l.Precision(), Scale: l.Scale()}
}

func timeType(wide bool, l *schema.TimeLogicalType) arrow.DataType {
	switch unit := l.TimeUnit(); {
	case !wide && unit == schema.TimeUnitMillis:
		return arrow.FixedWidthTypes.Time32ms
	case wide && unit == schema.TimeUnitMicros:
		return arrow.FixedWidthTypes.Time64us
	case wide && unit == schema.TimeUnitNanos:
		return arrow.FixedWidthTypes.Time64ns
	}
	return nil
}

// timestampType returns the type of timestamps. Those of older files, which have no logical type, are in UTC.
func timestampType(l *schema.TimestampLogicalType) arrow.DataType {
	t := &arrow.TimestampType{}
	if l.IsAdjustedToUTC() || l.IsFromConvertedType() {
		t.TimeZone = "UTC"
	}
	switch l.TimeUnit() {
	case schema.TimeUnitMillis:
		t.Unit = arrow.Millisecond
	case schema.TimeUnitMicros:
		t.Unit = arrow.Microsecond
	case schema.TimeUnitNanos:
		t.Unit = arrow.Nanosecond
	default:
		return nil
	}
	return t
}

func textType(logical schema.LogicalType) arrow.DataType {
	switch l := logical.(type) {
	case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
		return arrow.BinaryTypes.String
	case *schema.DecimalLogicalType:
		return decimalType(l)
	case schema.NoLogicalType, schema.BSONLogicalType:
		return arrow.BinaryTypes.Binary
	}
	return nil
}

// bytesType returns the type of values of some bytes, or nil.
func bytesType(width int, logical schema.LogicalType) arrow.DataType {
	switch l := logical.(type) {
	case *schema.DecimalLogicalType:
		return decimalType(l)
	case schema.NoLogicalType, schema.IntervalLogicalType, schema.UUIDLogicalType:
		return &arrow.FixedSizeBinaryType{ByteWidth: width}
	case schema.Float16LogicalType:
		return arrow.FixedWidthTypes.Float16
	}
	return nil
}
