package driver

import (
	"bytes"
	"database/sql/driver"
	"reflect"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// reader returns the value of a row that is not null.
type reader func(row int) driver.Value

// number is a type of integers and floats.
type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// numbers reads values in a wider type.
func numbers[T, W number](values []T) reader {
	return func(row int) driver.Value { return W(values[row]) }
}

// readerOf returns the reader of an array.
func readerOf(a arrow.Array) reader {
	switch a := a.(type) {
	case *array.Boolean:
		return func(row int) driver.Value { return a.Value(row) }
	case *array.Int8:
		return numbers[int8, int64](a.Int8Values())
	case *array.Int16:
		return numbers[int16, int64](a.Int16Values())
	case *array.Int32:
		return numbers[int32, int64](a.Int32Values())
	case *array.Int64:
		return numbers[int64, int64](a.Int64Values())
	case *array.Uint8:
		return numbers[uint8, int64](a.Uint8Values())
	case *array.Uint16:
		return numbers[uint16, int64](a.Uint16Values())
	case *array.Uint32:
		return numbers[uint32, int64](a.Uint32Values())
	case *array.Uint64:
		return numbers[uint64, uint64](a.Uint64Values())
	case *array.Float16:
		return func(row int) driver.Value { return float64(a.Value(row).Float32()) }
	case *array.Float32:
		return numbers[float32, float64](a.Float32Values())
	case *array.Float64:
		return numbers[float64, float64](a.Float64Values())
	case *array.String:
		return func(row int) driver.Value { return a.Value(row) }
	case *array.LargeString:
		return func(row int) driver.Value { return a.Value(row) }
	case *array.Decimal128:
		scale := a.DataType().(arrow.DecimalType).GetScale()
		return func(row int) driver.Value { return a.Value(row).ToString(scale) }
	case *array.Decimal256:
		scale := a.DataType().(arrow.DecimalType).GetScale()
		return func(row int) driver.Value { return a.Value(row).ToString(scale) }
	case *array.Dictionary:
		values := readerOf(a.Dictionary())
		return func(row int) driver.Value { return values(a.GetValueIndex(row)) }
	}
	if read := binaryReader(a); read != nil {
		return read
	}
	if read := timeReader(a); read != nil {
		return read
	}
	return func(row int) driver.Value { return a.ValueStr(row) }
}

// binaryReader returns the reader of an array of bytes, or nil. The values are copies: a caller may keep them
// when the next rows come.
func binaryReader(a arrow.Array) reader {
	switch a := a.(type) {
	case *array.Binary:
		return func(row int) driver.Value { return bytes.Clone(a.Value(row)) }
	case *array.LargeBinary:
		return func(row int) driver.Value { return bytes.Clone(a.Value(row)) }
	case *array.FixedSizeBinary:
		return func(row int) driver.Value { return bytes.Clone(a.Value(row)) }
	}
	return nil
}

// timeReader returns the reader of an array of instants or lengths of time, or nil.
func timeReader(a arrow.Array) reader {
	switch a := a.(type) {
	case *array.Date32:
		return func(row int) driver.Value { return a.Value(row).ToTime() }
	case *array.Date64:
		return func(row int) driver.Value { return a.Value(row).ToTime() }
	case *array.Timestamp:
		t := a.DataType().(*arrow.TimestampType)
		zone, err := t.GetZone()
		if err != nil {
			zone = time.UTC
		}
		return func(row int) driver.Value { return a.Value(row).ToTime(t.Unit).In(zone) }
	case *array.Time32:
		unit := a.DataType().(*arrow.Time32Type).Unit.Multiplier()
		return func(row int) driver.Value { return time.Duration(a.Value(row)) * unit }
	case *array.Time64:
		unit := a.DataType().(*arrow.Time64Type).Unit.Multiplier()
		return func(row int) driver.Value { return time.Duration(a.Value(row)) * unit }
	case *array.Duration:
		unit := a.DataType().(*arrow.DurationType).Unit.Multiplier()
		return func(row int) driver.Value { return time.Duration(a.Value(row)) * unit }
	}
	return nil
}

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
