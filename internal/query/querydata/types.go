package querydata

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
)

// plainTypes are the types without parameters by their names, those that Arrow's other
// libraries use included.
var plainTypes = map[string]arrow.DataType{
	"null": arrow.Null, "bool": arrow.FixedWidthTypes.Boolean,
	"int8": arrow.PrimitiveTypes.Int8, "int16": arrow.PrimitiveTypes.Int16,
	"int32": arrow.PrimitiveTypes.Int32, "int64": arrow.PrimitiveTypes.Int64,
	"uint8": arrow.PrimitiveTypes.Uint8, "uint16": arrow.PrimitiveTypes.Uint16,
	"uint32": arrow.PrimitiveTypes.Uint32, "uint64": arrow.PrimitiveTypes.Uint64,
	"float16": arrow.FixedWidthTypes.Float16, "halffloat": arrow.FixedWidthTypes.Float16,
	"float32": arrow.PrimitiveTypes.Float32, "float64": arrow.PrimitiveTypes.Float64, "double": arrow.PrimitiveTypes.Float64,
	"utf8": arrow.BinaryTypes.String, "string": arrow.BinaryTypes.String,
	"large_utf8": arrow.BinaryTypes.LargeString, "large_string": arrow.BinaryTypes.LargeString,
	"binary": arrow.BinaryTypes.Binary, "large_binary": arrow.BinaryTypes.LargeBinary,
	"date32": arrow.FixedWidthTypes.Date32, "date32[day]": arrow.FixedWidthTypes.Date32,
	"date64": arrow.FixedWidthTypes.Date64, "date64[ms]": arrow.FixedWidthTypes.Date64,
	"time32[s]": arrow.FixedWidthTypes.Time32s, "time32[ms]": arrow.FixedWidthTypes.Time32ms,
	"time64[us]": arrow.FixedWidthTypes.Time64us, "time64[ns]": arrow.FixedWidthTypes.Time64ns,
	"duration[s]": arrow.FixedWidthTypes.Duration_s, "duration[ms]": arrow.FixedWidthTypes.Duration_ms,
	"duration[us]": arrow.FixedWidthTypes.Duration_us, "duration[ns]": arrow.FixedWidthTypes.Duration_ns,
}

// units are the units of timestamps.
var units = map[string]arrow.TimeUnit{"s": arrow.Second, "ms": arrow.Millisecond, "us": arrow.Microsecond, "ns": arrow.Nanosecond}

var (
	timestampType = regexp.MustCompile(`^timestamp\[(s|ms|us|ns)(?:, *(?:tz=)?([^\[\], ]+))?\]$`)
	decimalType   = regexp.MustCompile(`^decimal(?:128)?[(\[](\d{1,2}), *(\d{1,2})[)\]]$`)
	fixedType     = regexp.MustCompile(`^fixed_size_binary\[(\d{1,9})\]$`)
)

// TypeNames returns the names of the types without parameters that expressions compute with, sorted.
func TypeNames() (list []string) {
	for name, t := range plainTypes {
		if t.ID() != arrow.NULL && t.ID() != arrow.FLOAT16 {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// Type returns the Arrow type with a name: "int64", "utf8", "timestamp[us]",
// "timestamp[us, UTC]", "decimal128(15, 2)", "fixed_size_binary[16]" and so on, as Arrow's
// libraries print types. Nested types have no names here. ok is false for an unknown name.
func Type(name string) (t arrow.DataType, ok bool) {
	if plain, ok := plainTypes[name]; ok {
		return plain, true
	}
	if m := timestampType.FindStringSubmatch(name); m != nil {
		return &arrow.TimestampType{Unit: units[m[1]], TimeZone: m[2]}, true
	}
	if m := decimalType.FindStringSubmatch(name); m != nil {
		const mostDigits = 38
		precision, _ := strconv.Atoi(m[1])
		scale, _ := strconv.Atoi(m[2])
		if precision < 1 || precision > mostDigits || scale > precision {
			return nil, false
		}
		return &arrow.Decimal128Type{Precision: int32(precision), Scale: int32(scale)}, true
	}
	if m := fixedType.FindStringSubmatch(name); m != nil {
		width, _ := strconv.Atoi(m[1])
		return &arrow.FixedSizeBinaryType{ByteWidth: width}, true
	}
	return nil, false
}

// dataType returns the type that a string names.
func (v value) dataType() arrow.DataType {
	name := v.text()
	t, ok := Type(name)
	if !ok {
		v.expected(`a type such as "int64", "utf8", "timestamp[us]" or "decimal128(15, 2)"`)
		return arrow.Null
	}
	return t
}
