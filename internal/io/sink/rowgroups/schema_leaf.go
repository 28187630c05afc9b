package rowgroups

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/gpuframe/gpuframe/internal/arrays/format"
)

// leafType is how a file has the values of an Arrow type.
type leafType struct {
	physical parquet.Type
	logical  schema.LogicalType
	// length is that of FIXED_LEN_BYTE_ARRAY, or -1.
	length int
}

// leafNode returns the node of a field with values.
func leafNode(field arrow.Field, id FieldID) (schema.Node, error) {
	t, err := leafTypeOf(field.Type)
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", field.Name, err)
	}
	if logical := extensions[extensionOf(field)]; logical.physical == t.physical && logical.length == t.length {
		t.logical = logical.logical
	}
	if id.UUID {
		t.logical = schema.UUIDLogicalType{}
	}
	number := id.number()
	if number == noFieldID {
		number = metadataID(field.Metadata)
	}
	return schema.NewPrimitiveNodeLogical(field.Name, repetitionOf(field.Nullable), t.logical, t.physical, t.length, number)
}

func leafTypeOf(t arrow.DataType) (leafType, error) {
	leaf := leafType{logical: schema.NoLogicalType{}, length: -1}
	switch t := t.(type) {
	case *arrow.FixedSizeBinaryType:
		if t.ByteWidth <= 0 {
			break
		}
		leaf.physical, leaf.length = parquet.Types.FixedLenByteArray, t.ByteWidth
		return leaf, nil
	case *arrow.TimestampType:
		leaf.physical, leaf.logical = parquet.Types.Int64, schema.NewTimestampLogicalTypeForce(t.TimeZone != "", timeUnitOf(t.Unit))
		return leaf, nil
	case *arrow.Time64Type:
		leaf.physical, leaf.logical = parquet.Types.Int64, schema.NewTimeLogicalType(false, timeUnitOf(t.Unit)) // Arrow's times have no zone
		return leaf, nil
	case *arrow.Time32Type:
		leaf.physical, leaf.logical = parquet.Types.Int32, schema.NewTimeLogicalType(false, timeUnitOf(t.Unit)) // Arrow's times have no zone
		return leaf, nil
	case *arrow.Decimal128Type, *arrow.Decimal256Type:
		return decimalLeaf(t.(arrow.DecimalType))
	}
	simple, ok := simpleLeaves[t.ID()]
	if !ok {
		return leaf, fmt.Errorf("%v has no type in Parquet files: cast or drop the column: %w", t, arrow.ErrNotImplemented)
	}
	leaf.physical = simple.physical
	if simple.logical != nil {
		leaf.logical = simple.logical
	}
	return leaf, nil
}

// simpleLeaves are the types without parameters.
var simpleLeaves = map[arrow.Type]leafType{
	arrow.BOOL:         {physical: parquet.Types.Boolean},
	arrow.INT8:         {physical: parquet.Types.Int32, logical: schema.NewIntLogicalType(8, true)},
	arrow.INT16:        {physical: parquet.Types.Int32, logical: schema.NewIntLogicalType(16, true)},
	arrow.INT32:        {physical: parquet.Types.Int32, logical: schema.NewIntLogicalType(32, true)},
	arrow.INT64:        {physical: parquet.Types.Int64, logical: schema.NewIntLogicalType(64, true)},
	arrow.UINT8:        {physical: parquet.Types.Int32, logical: schema.NewIntLogicalType(8, false)},
	arrow.UINT16:       {physical: parquet.Types.Int32, logical: schema.NewIntLogicalType(16, false)},
	arrow.UINT32:       {physical: parquet.Types.Int32, logical: schema.NewIntLogicalType(32, false)},
	arrow.UINT64:       {physical: parquet.Types.Int64, logical: schema.NewIntLogicalType(64, false)},
	arrow.FLOAT32:      {physical: parquet.Types.Float},
	arrow.FLOAT64:      {physical: parquet.Types.Double},
	arrow.STRING:       {physical: parquet.Types.ByteArray, logical: schema.StringLogicalType{}},
	arrow.LARGE_STRING: {physical: parquet.Types.ByteArray, logical: schema.StringLogicalType{}},
	arrow.BINARY:       {physical: parquet.Types.ByteArray},
	arrow.LARGE_BINARY: {physical: parquet.Types.ByteArray},
	arrow.DATE32:       {physical: parquet.Types.Int32, logical: schema.DateLogicalType{}},
	arrow.DATE64:       {physical: parquet.Types.Int32, logical: schema.DateLogicalType{}},
}

// extensions are the types of files for Arrow's extension types, which fields name in their metadata.
var extensions = map[string]leafType{
	"arrow.uuid": {physical: parquet.Types.FixedLenByteArray, logical: schema.UUIDLogicalType{}, length: 16},
	"arrow.json": {physical: parquet.Types.ByteArray, logical: schema.JSONLogicalType{}, length: -1},
}

// extensionOf returns the name of the extension type of a field, or nothing.
func extensionOf(field arrow.Field) string {
	name, _ := field.Metadata.GetValue(format.ExtensionName)
	return name
}

// timeUnitOf returns the unit of a file. Parquet lacks seconds, which become milliseconds.
func timeUnitOf(unit arrow.TimeUnit) schema.TimeUnitType {
	switch unit {
	case arrow.Nanosecond:
		return schema.TimeUnitNanos
	case arrow.Microsecond:
		return schema.TimeUnitMicros
	}
	return schema.TimeUnitMillis
}

// Most digits of decimals in INT32 and INT64.
const (
	mostDigits32 = 9
	mostDigits64 = 18
)

func decimalLeaf(t arrow.DecimalType) (leafType, error) {
	precision, scale := t.GetPrecision(), t.GetScale()
	if precision < 1 || scale < 0 || scale > precision {
		return leafType{}, fmt.Errorf("%v has %d digits and the scale %d, expected a scale from 0 to the number of digits: cast or drop the column: %w",
			t, precision, scale, arrow.ErrNotImplemented)
	}
	leaf := leafType{logical: schema.NewDecimalLogicalType(precision, scale), length: -1}
	switch {
	case precision <= mostDigits32:
		leaf.physical = parquet.Types.Int32
	case precision <= mostDigits64:
		leaf.physical = parquet.Types.Int64
	default:
		leaf.physical, leaf.length = parquet.Types.FixedLenByteArray, bytesOfDigits(int(precision))
	}
	return leaf, nil
}

// bytesOfDigits returns the number of bytes that hold each signed number of some decimal digits.
func bytesOfDigits(digits int) int {
	return int(math.Ceil((float64(digits)*math.Log2(10) + 1) / 8))
}
