package sql

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/sql/tree"
)

var (
	boolType      = arrow.FixedWidthTypes.Boolean
	int64Type     = arrow.PrimitiveTypes.Int64
	floatType     = arrow.PrimitiveTypes.Float64
	textType      = arrow.BinaryTypes.String
	dateType      = arrow.FixedWidthTypes.Date32
	timestampType = &arrow.TimestampType{Unit: arrow.Microsecond}
	// wideType holds each sum of 64-bit integers.
	wideType = &arrow.Decimal128Type{Precision: 38}
)

// typeNames are the names of types, as they are written in lower case.
var typeNames = map[string]arrow.DataType{
	"boolean": boolType, "bool": boolType, "logical": boolType,
	"tinyint": arrow.PrimitiveTypes.Int8, "int1": arrow.PrimitiveTypes.Int8,
	"smallint": arrow.PrimitiveTypes.Int16, "int2": arrow.PrimitiveTypes.Int16, "short": arrow.PrimitiveTypes.Int16,
	"integer": arrow.PrimitiveTypes.Int32, "int": arrow.PrimitiveTypes.Int32, "int4": arrow.PrimitiveTypes.Int32, "signed": arrow.PrimitiveTypes.Int32,
	"bigint": int64Type, "int8": int64Type, "long": int64Type,
	"hugeint": wideType, "int128": wideType,
	"utinyint": arrow.PrimitiveTypes.Uint8, "usmallint": arrow.PrimitiveTypes.Uint16,
	"uinteger": arrow.PrimitiveTypes.Uint32, "ubigint": arrow.PrimitiveTypes.Uint64,
	"real": arrow.PrimitiveTypes.Float32, "float4": arrow.PrimitiveTypes.Float32, "float": arrow.PrimitiveTypes.Float32,
	"double": floatType, "double precision": floatType, "float8": floatType,
	"varchar": textType, "text": textType, "string": textType, "char": textType, "bpchar": textType, "character varying": textType, "character": textType,
	"blob": arrow.BinaryTypes.Binary, "bytea": arrow.BinaryTypes.Binary, "binary": arrow.BinaryTypes.Binary, "varbinary": arrow.BinaryTypes.Binary,
	"date": dateType, "timestamp": timestampType, "datetime": timestampType, "timestamp without time zone": timestampType,
	"timestamp_s": &arrow.TimestampType{Unit: arrow.Second}, "timestamp_ms": &arrow.TimestampType{Unit: arrow.Millisecond},
	"timestamp_ns": &arrow.TimestampType{Unit: arrow.Nanosecond},
	"time":         arrow.FixedWidthTypes.Time64us,
}

// dataType returns the type that is written.
func (t *translation) dataType(written *tree.Type) arrow.DataType {
	switch written.Name {
	case "decimal", "numeric", "dec":
		return t.decimalType(written)
	case "list":
		return arrow.ListOf(t.dataType(written.Element))
	case "array":
		t.fail(written, "arrays of a fixed length are not supported: use a list, such as integer[]")
	}
	if known, ok := typeNames[written.Name]; ok {
		return known
	}
	t.fail(written, "%s", names.Unknown("supported type", written.Name, slices.Sorted(maps.Keys(typeNames))))
	return nil
}

// decimalType returns the type of DECIMAL(precision, scale).
func (t *translation) decimalType(written *tree.Type) arrow.DataType {
	precision, scale := int64(18), int64(3)
	if len(written.Params) > 0 {
		precision, scale = written.Params[0], 0
	}
	if len(written.Params) > 1 {
		scale = written.Params[1]
	}
	if precision < 1 || precision > 38 || scale < 0 || scale > precision {
		t.fail(written, "decimal(%d, %d) is not a type: the precision is 1 to 38, the scale 0 to the precision", precision, scale)
	}
	return &arrow.Decimal128Type{Precision: int32(precision), Scale: int32(scale)}
}

// isText reports whether a type has text, also of a dictionary.
func isText(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.StringType, *arrow.LargeStringType:
		return true
	case *arrow.DictionaryType:
		return isText(t.ValueType)
	}
	return false
}

func isInteger(t arrow.DataType) bool { return t != nil && arrow.IsInteger(t.ID()) }
func isFloat(t arrow.DataType) bool   { return t != nil && arrow.IsFloating(t.ID()) }
func isDecimal(t arrow.DataType) bool { return t != nil && t.ID() == arrow.DECIMAL128 }
func isNumber(t arrow.DataType) bool  { return isInteger(t) || isFloat(t) || isDecimal(t) }
func isBool(t arrow.DataType) bool    { return t != nil && t.ID() == arrow.BOOL }
func isDate(t arrow.DataType) bool {
	return t != nil && (t.ID() == arrow.DATE32 || t.ID() == arrow.DATE64)
}
func isTimestamp(t arrow.DataType) bool { return t != nil && t.ID() == arrow.TIMESTAMP }

// typeName returns the name of a type in SQL.
func typeName(t arrow.DataType) string {
	switch t := t.(type) {
	case nil:
		return "NULL"
	case *arrow.Decimal128Type:
		return strings.ToUpper("decimal(" + decimalParams(t) + ")")
	case *arrow.TimestampType:
		return timestampName(t)
	case arrow.ListLikeType:
		return typeName(t.Elem()) + "[]"
	case *arrow.StructType:
		fields := make([]string, t.NumFields())
		for i, f := range t.Fields() {
			fields[i] = f.Name + " " + typeName(f.Type)
		}
		return "STRUCT(" + strings.Join(fields, ", ") + ")"
	}
	if isText(t) {
		return "VARCHAR"
	}
	for _, name := range []string{"boolean", "tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint", "float", "double", "blob", "date", "time"} {
		if arrow.TypeEqual(typeNames[name], t) {
			return strings.ToUpper(name)
		}
	}
	return strings.ToUpper(t.String())
}

func decimalParams(t *arrow.Decimal128Type) string { return fmt.Sprintf("%d,%d", t.Precision, t.Scale) }

// timestampName returns the name of a type of timestamps.
func timestampName(t *arrow.TimestampType) string {
	if t.TimeZone != "" {
		return "TIMESTAMP WITH TIME ZONE"
	}
	return map[arrow.TimeUnit]string{
		arrow.Second: "TIMESTAMP_S", arrow.Millisecond: "TIMESTAMP_MS", arrow.Microsecond: "TIMESTAMP", arrow.Nanosecond: "TIMESTAMP_NS",
	}[t.Unit]
}
