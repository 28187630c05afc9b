package driver

import (
	"reflect"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
)

// scanType returns the Go type of the values of a column.
func scanType(t arrow.DataType) reflect.Type {
	switch t.ID() {
	case arrow.BOOL:
		return reflect.TypeFor[bool]()
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32:
		return reflect.TypeFor[int64]()
	case arrow.UINT64:
		return reflect.TypeFor[uint64]()
	case arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64:
		return reflect.TypeFor[float64]()
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.FIXED_SIZE_BINARY:
		return reflect.TypeFor[[]byte]()
	case arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP:
		return reflect.TypeFor[time.Time]()
	case arrow.TIME32, arrow.TIME64, arrow.DURATION:
		return reflect.TypeFor[time.Duration]()
	case arrow.DICTIONARY:
		return scanType(t.(*arrow.DictionaryType).ValueType)
	}
	return reflect.TypeFor[string]()
}

// typeName returns SQL's name of a type.
func typeName(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return typeName(t.ValueType)
	case *arrow.TimestampType:
		if t.TimeZone != "" {
			return "TIMESTAMP WITH TIME ZONE"
		}
		return "TIMESTAMP"
	}
	if name, ok := typeNames[t.ID()]; ok {
		return name
	}
	return t.Name()
}

var typeNames = map[arrow.Type]string{
	arrow.NULL: "NULL", arrow.BOOL: "BOOLEAN",
	arrow.INT8: "TINYINT", arrow.INT16: "SMALLINT", arrow.INT32: "INTEGER", arrow.INT64: "BIGINT",
	arrow.UINT8: "UTINYINT", arrow.UINT16: "USMALLINT", arrow.UINT32: "UINTEGER", arrow.UINT64: "UBIGINT",
	arrow.FLOAT32: "FLOAT", arrow.FLOAT64: "DOUBLE", arrow.DECIMAL128: "DECIMAL", arrow.DECIMAL256: "DECIMAL",
	arrow.STRING: "VARCHAR", arrow.LARGE_STRING: "VARCHAR",
	arrow.BINARY: "BLOB", arrow.LARGE_BINARY: "BLOB", arrow.FIXED_SIZE_BINARY: "BLOB",
	arrow.DATE32: "DATE", arrow.DATE64: "DATE", arrow.TIME32: "TIME", arrow.TIME64: "TIME", arrow.DURATION: "INTERVAL",
	arrow.LIST: "LIST", arrow.LARGE_LIST: "LIST", arrow.FIXED_SIZE_LIST: "ARRAY", arrow.STRUCT: "STRUCT", arrow.MAP: "MAP",
}
