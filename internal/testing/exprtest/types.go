package exprtest

import (
	"github.com/apache/arrow/go/v17/arrow"
)

// class groups types by the operations that take them.
type class int

const (
	integers class = iota
	floats
	bools
	decimals
	instants
	clocks
	lengths
	stringValues
	others
	classes
)

var units = []arrow.TimeUnit{arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond}

var integerTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
	arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
}

// typesOf returns the types of a class; timestamps have the zone.
func typesOf(c class, zone string) []arrow.DataType {
	var types []arrow.DataType
	switch c {
	case integers:
		return integerTypes
	case floats:
		return []arrow.DataType{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64}
	case bools:
		return []arrow.DataType{arrow.FixedWidthTypes.Boolean}
	case decimals:
		for _, d := range [][2]int32{{1, 0}, {5, 2}, {9, 9}, {18, 4}, {19, 0}, {38, 0}, {38, 6}, {38, 20}} {
			types = append(types, &arrow.Decimal128Type{Precision: d[0], Scale: d[1]})
		}
	case instants:
		types = []arrow.DataType{arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64}
		for _, unit := range units {
			types = append(types, &arrow.TimestampType{Unit: unit, TimeZone: zone})
		}
	case clocks:
		return []arrow.DataType{
			arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time32ms,
			arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time64ns,
		}
	case lengths:
		for _, unit := range units {
			types = append(types, &arrow.DurationType{Unit: unit})
		}
	case stringValues:
		plain := []arrow.DataType{
			arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary,
			&arrow.FixedSizeBinaryType{ByteWidth: 3},
		}
		types = append(types, plain...)
		for i, index := range integerTypes {
			types = append(types, &arrow.DictionaryType{IndexType: index, ValueType: plain[i%len(plain)]})
		}
	case others:
		return []arrow.DataType{
			arrow.FixedWidthTypes.Float16, arrow.ListOf(arrow.PrimitiveTypes.Int8), arrow.FixedWidthTypes.MonthInterval,
			arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int8, Nullable: true}),
		}
	}
	return types
}
