package parquetschema

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
)

// leafType returns the type of a column's values.
func leafType(n *parquetformat.Node) (t arrow.DataType, err error) {
	logical := n.Logical
	if logical.Kind == parquetformat.Null {
		return arrow.Null, nil
	}
	switch physical := n.Physical; physical {
	case parquetformat.Boolean:
		return arrow.FixedWidthTypes.Boolean, nil
	case parquetformat.Float:
		return arrow.PrimitiveTypes.Float32, nil
	case parquetformat.Double:
		return arrow.PrimitiveTypes.Float64, nil
	case parquetformat.Int96:
		return arrow.FixedWidthTypes.Timestamp_ns, nil
	case parquetformat.Int32, parquetformat.Int64:
		t = integerType(physical == parquetformat.Int64, logical)
	case parquetformat.ByteArray:
		t = textType(logical)
	case parquetformat.FixedLenByteArray:
		t = bytesType(n.Length, logical)
	}
	if t == nil {
		return nil, fmt.Errorf("%v of %v: %w", logical, n.Physical, ErrType)
	}
	return t, nil
}

// integerType returns the type of integers of 32 or 64 bits, or nil.
func integerType(wide bool, l parquetformat.Logical) arrow.DataType {
	switch l.Kind {
	case parquetformat.None:
		if wide {
			return arrow.PrimitiveTypes.Int64
		}
		return arrow.PrimitiveTypes.Int32
	case parquetformat.Integer:
		return widthType(l)
	case parquetformat.Decimal:
		return decimalType(l)
	case parquetformat.Time:
		return timeType(wide, l)
	case parquetformat.Date:
		if !wide {
			return arrow.FixedWidthTypes.Date32
		}
	case parquetformat.Timestamp:
		if wide {
			return timestampType(l)
		}
	}
	return nil
}

func widthType(l parquetformat.Logical) arrow.DataType {
	types := map[int8][2]arrow.DataType{
		8: {arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int8}, 16: {arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int16},
		32: {arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int32}, 64: {arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int64},
	}[l.Bits]
	if l.Signed {
		return types[1]
	}
	return types[0]
}

func decimalType(l parquetformat.Logical) arrow.DataType {
	if l.Precision <= decimal128.MaxPrecision {
		return &arrow.Decimal128Type{Precision: l.Precision, Scale: l.Scale}
	}
	return &arrow.Decimal256Type{Precision: l.Precision, Scale: l.Scale}
}

func timeType(wide bool, l parquetformat.Logical) arrow.DataType {
	switch unit := l.Unit; {
	case !wide && unit == parquetformat.Millis:
		return arrow.FixedWidthTypes.Time32ms
	case wide && unit == parquetformat.Micros:
		return arrow.FixedWidthTypes.Time64us
	case wide && unit == parquetformat.Nanos:
		return arrow.FixedWidthTypes.Time64ns
	}
	return nil
}

// timestampType returns the type of timestamps. Those of older files, which have no logical type, are in UTC.
func timestampType(l parquetformat.Logical) arrow.DataType {
	t := &arrow.TimestampType{}
	if l.UTC {
		t.TimeZone = "UTC"
	}
	switch l.Unit {
	case parquetformat.Millis:
		t.Unit = arrow.Millisecond
	case parquetformat.Micros:
		t.Unit = arrow.Microsecond
	case parquetformat.Nanos:
		t.Unit = arrow.Nanosecond
	default:
		return nil
	}
	return t
}

func textType(l parquetformat.Logical) arrow.DataType {
	switch l.Kind {
	case parquetformat.String, parquetformat.Enum, parquetformat.JSON:
		return arrow.BinaryTypes.String
	case parquetformat.Decimal:
		return decimalType(l)
	case parquetformat.None, parquetformat.BSON:
		return arrow.BinaryTypes.Binary
	}
	return nil
}

// bytesType returns the type of values of some bytes, or nil.
func bytesType(width int, l parquetformat.Logical) arrow.DataType {
	switch l.Kind {
	case parquetformat.Decimal:
		return decimalType(l)
	case parquetformat.None, parquetformat.Interval, parquetformat.UUID:
		return &arrow.FixedSizeBinaryType{ByteWidth: width}
	case parquetformat.Float16:
		return arrow.FixedWidthTypes.Float16
	}
	return nil
}
