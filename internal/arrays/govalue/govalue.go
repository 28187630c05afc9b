// Package govalue reads the values of Arrow arrays as Go values.
//
//	bool                            bool
//	integers                        int64; uint64 for uint64
//	floats                          float64
//	decimals                        string with all digits
//	utf8, dictionaries of it        string
//	binary                          []byte, a copy
//	dates, timestamps               time.Time; in UTC if the type has no zone
//	times of day, durations         time.Duration
//	lists, structs, maps            string of JSON
package govalue

import (
	"bytes"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// Reader returns the value of a row that is not null.
type Reader func(row int) any

// number is a type of integers and floats.
type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// numbers reads values in a wider type.
func numbers[T, W number](values []T) Reader {
	return func(row int) any { return W(values[row]) }
}

// Of returns the reader of an array, which must not be released before.
func Of(a arrow.Array) Reader {
	switch a := a.(type) {
	case *array.Boolean:
		return func(row int) any { return a.Value(row) }
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
		return func(row int) any { return float64(a.Value(row).Float32()) }
	case *array.Float32:
		return numbers[float32, float64](a.Float32Values())
	case *array.Float64:
		return numbers[float64, float64](a.Float64Values())
	case *array.String:
		return func(row int) any { return a.Value(row) }
	case *array.LargeString:
		return func(row int) any { return a.Value(row) }
	case *array.Decimal128:
		scale := a.DataType().(arrow.DecimalType).GetScale()
		return func(row int) any { return a.Value(row).ToString(scale) }
	case *array.Decimal256:
		scale := a.DataType().(arrow.DecimalType).GetScale()
		return func(row int) any { return a.Value(row).ToString(scale) }
	case *array.Dictionary:
		values := Of(a.Dictionary())
		return func(row int) any { return values(a.GetValueIndex(row)) }
	}
	if read := binaryReader(a); read != nil {
		return read
	}
	if read := timeReader(a); read != nil {
		return read
	}
	return func(row int) any { return a.ValueStr(row) }
}

// binaryReader returns the reader of an array of bytes, or nil. The values are copies: a caller may keep them
// when the next rows come.
func binaryReader(a arrow.Array) Reader {
	switch a := a.(type) {
	case *array.Binary:
		return func(row int) any { return bytes.Clone(a.Value(row)) }
	case *array.LargeBinary:
		return func(row int) any { return bytes.Clone(a.Value(row)) }
	case *array.FixedSizeBinary:
		return func(row int) any { return bytes.Clone(a.Value(row)) }
	}
	return nil
}

// timeReader returns the reader of an array of instants or lengths of time, or nil.
func timeReader(a arrow.Array) Reader {
	switch a := a.(type) {
	case *array.Date32:
		return func(row int) any { return a.Value(row).ToTime() }
	case *array.Date64:
		return func(row int) any { return a.Value(row).ToTime() }
	case *array.Timestamp:
		t := a.DataType().(*arrow.TimestampType)
		zone, err := t.GetZone()
		if err != nil {
			zone = time.UTC
		}
		return func(row int) any { return a.Value(row).ToTime(t.Unit).In(zone) }
	case *array.Time32:
		unit := a.DataType().(*arrow.Time32Type).Unit.Multiplier()
		return func(row int) any { return time.Duration(a.Value(row)) * unit }
	case *array.Time64:
		unit := a.DataType().(*arrow.Time64Type).Unit.Multiplier()
		return func(row int) any { return time.Duration(a.Value(row)) * unit }
	case *array.Duration:
		unit := a.DataType().(*arrow.DurationType).Unit.Multiplier()
		return func(row int) any { return time.Duration(a.Value(row)) * unit }
	}
	return nil
}
