package rowgroups

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/format"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
)

// leafType is how a file has the values of an Arrow type.
type leafType struct {
	physical parquetformat.Type
	logical  parquetformat.Logical
	// length is that of FIXED_LEN_BYTE_ARRAY, or -1.
	length int
}

// leafNode returns the node of a field with values.
func leafNode(field arrow.Field, id FieldID) (*parquetformat.Node, error) {
	t, err := leafTypeOf(field.Type)
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", field.Name, err)
	}
	if logical := extensions[extensionOf(field)]; logical.physical == t.physical && logical.length == t.length {
		t.logical = logical.logical
	}
	if id.UUID {
		t.logical = parquetformat.Logical{Kind: parquetformat.UUID}
	}
	number := id.number()
	if number == noFieldID {
		number = metadataID(field.Metadata)
	}
	return &parquetformat.Node{Name: field.Name, Repetition: repetitionOf(field.Nullable), Logical: t.logical, Physical: t.physical, Length: t.length, ID: number}, nil
}

func leafTypeOf(t arrow.DataType) (leafType, error) {
	leaf := leafType{length: -1}
	switch t := t.(type) {
	case *arrow.FixedSizeBinaryType:
		if t.ByteWidth <= 0 {
			break
		}
		leaf.physical, leaf.length = parquetformat.FixedLenByteArray, t.ByteWidth
		return leaf, nil
	case *arrow.TimestampType:
		leaf.physical, leaf.logical = parquetformat.Int64, parquetformat.Logical{Kind: parquetformat.Timestamp, UTC: t.TimeZone != "", Unit: timeUnitOf(t.Unit)}
		return leaf, nil
	case *arrow.Time64Type:
		leaf.physical, leaf.logical = parquetformat.Int64, parquetformat.Logical{Kind: parquetformat.Time, Unit: timeUnitOf(t.Unit)} // Arrow's times have no zone
		return leaf, nil
	case *arrow.Time32Type:
		leaf.physical, leaf.logical = parquetformat.Int32, parquetformat.Logical{Kind: parquetformat.Time, Unit: timeUnitOf(t.Unit)} // Arrow's times have no zone
		return leaf, nil
	case *arrow.Decimal128Type, *arrow.Decimal256Type:
		return decimalLeaf(t.(arrow.DecimalType))
	}
	simple, ok := simpleLeaves[t.ID()]
	if !ok {
		return leaf, fmt.Errorf("%v has no type in Parquet files: cast or drop the column: %w", t, arrow.ErrNotImplemented)
	}
	leaf.physical, leaf.logical = simple.physical, simple.logical
	return leaf, nil
}

func integer(bits int8, signed bool) parquetformat.Logical {
	return parquetformat.Logical{Kind: parquetformat.Integer, Bits: bits, Signed: signed}
}

// simpleLeaves are the types without parameters.
var simpleLeaves = map[arrow.Type]leafType{
	arrow.BOOL:         {physical: parquetformat.Boolean},
	arrow.INT8:         {physical: parquetformat.Int32, logical: integer(8, true)},
	arrow.INT16:        {physical: parquetformat.Int32, logical: integer(16, true)},
	arrow.INT32:        {physical: parquetformat.Int32, logical: integer(32, true)},
	arrow.INT64:        {physical: parquetformat.Int64, logical: integer(64, true)},
	arrow.UINT8:        {physical: parquetformat.Int32, logical: integer(8, false)},
	arrow.UINT16:       {physical: parquetformat.Int32, logical: integer(16, false)},
	arrow.UINT32:       {physical: parquetformat.Int32, logical: integer(32, false)},
	arrow.UINT64:       {physical: parquetformat.Int64, logical: integer(64, false)},
	arrow.FLOAT32:      {physical: parquetformat.Float},
	arrow.FLOAT64:      {physical: parquetformat.Double},
	arrow.STRING:       {physical: parquetformat.ByteArray, logical: parquetformat.Logical{Kind: parquetformat.String}},
	arrow.LARGE_STRING: {physical: parquetformat.ByteArray, logical: parquetformat.Logical{Kind: parquetformat.String}},
	arrow.BINARY:       {physical: parquetformat.ByteArray},
	arrow.LARGE_BINARY: {physical: parquetformat.ByteArray},
	arrow.DATE32:       {physical: parquetformat.Int32, logical: parquetformat.Logical{Kind: parquetformat.Date}},
	arrow.DATE64:       {physical: parquetformat.Int32, logical: parquetformat.Logical{Kind: parquetformat.Date}},
}

// extensions are the types of files for Arrow's extension types, which fields name in their metadata.
var extensions = map[string]leafType{
	"arrow.uuid": {physical: parquetformat.FixedLenByteArray, logical: parquetformat.Logical{Kind: parquetformat.UUID}, length: 16},
	"arrow.json": {physical: parquetformat.ByteArray, logical: parquetformat.Logical{Kind: parquetformat.JSON}, length: -1},
}

// extensionOf returns the name of the extension type of a field, or nothing.
func extensionOf(field arrow.Field) string {
	name, _ := field.Metadata.GetValue(format.ExtensionName)
	return name
}

// timeUnitOf returns the unit of a file. Parquet lacks seconds, which become milliseconds.
func timeUnitOf(unit arrow.TimeUnit) parquetformat.Unit {
	switch unit {
	case arrow.Nanosecond:
		return parquetformat.Nanos
	case arrow.Microsecond:
		return parquetformat.Micros
	}
	return parquetformat.Millis
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
	leaf := leafType{logical: parquetformat.Logical{Kind: parquetformat.Decimal, Precision: precision, Scale: scale}, length: -1}
	switch {
	case precision <= mostDigits32:
		leaf.physical = parquetformat.Int32
	case precision <= mostDigits64:
		leaf.physical = parquetformat.Int64
	default:
		leaf.physical, leaf.length = parquetformat.FixedLenByteArray, bytesOfDigits(int(precision))
	}
	return leaf, nil
}

// bytesOfDigits returns the number of bytes that hold each signed number of some decimal digits.
func bytesOfDigits(digits int) int {
	return int(math.Ceil((float64(digits)*math.Log2(10) + 1) / 8))
}
