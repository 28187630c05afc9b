package parquetformat

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/internal/io/thrift"
)

// Kind is a kind of logical type. The numbers are those of the fields of the format's union, but
// for None, Interval, which only old annotations have, and Unknown.
type Kind int8

// The kinds of logical types.
const (
	None      Kind = 0
	String    Kind = 1
	Map       Kind = 2
	List      Kind = 3
	Enum      Kind = 4
	Decimal   Kind = 5
	Date      Kind = 6
	Time      Kind = 7
	Timestamp Kind = 8
	Integer   Kind = 10
	Null      Kind = 11
	JSON      Kind = 12
	BSON      Kind = 13
	UUID      Kind = 14
	Float16   Kind = 15
	Interval  Kind = 100
	// Unknown is an annotation of a later version of the format.
	Unknown Kind = 101
)

var kindNames = map[Kind]string{
	None: "None", String: "String", Map: "Map", List: "List", Enum: "Enum", Decimal: "Decimal", Date: "Date", Time: "Time", Timestamp: "Timestamp",
	Integer: "Int", Null: "Null", JSON: "JSON", BSON: "BSON", UUID: "UUID", Float16: "Float16", Interval: "Interval", Unknown: "Unknown",
}

// Unit is the unit of times, as the format numbers it.
type Unit int8

// The units of times.
const (
	Millis Unit = iota + 1
	Micros
	Nanos
)

// Logical is the meaning of values.
type Logical struct {
	Kind Kind
	// Precision and Scale are the digits of decimals, and those behind the point.
	Precision, Scale int32
	// Unit and UTC describe times.
	Unit Unit
	UTC  bool
	// Converted is set if the file has an annotation of the first version of the format only.
	Converted bool
	// Bits and Signed describe integers.
	Bits   int8
	Signed bool
}

// String describes the type.
func (l Logical) String() string {
	switch l.Kind {
	case Decimal:
		return fmt.Sprintf("Decimal(%d, %d)", l.Precision, l.Scale)
	case Integer:
		return fmt.Sprintf("Int(%d, signed %t)", l.Bits, l.Signed)
	case Time, Timestamp:
		return fmt.Sprintf("%s(%s, UTC %t)", kindNames[l.Kind], map[Unit]string{Millis: "ms", Micros: "us", Nanos: "ns"}[l.Unit], l.UTC)
	}
	return kindNames[l.Kind]
}

// fits reports whether values of a physical type, of some bytes, can stand for the logical type.
func (l Logical) fits(t Type, length int) bool {
	switch l.Kind {
	case None, Null:
		return true
	case String, Enum, JSON, BSON:
		return t == ByteArray
	case Date:
		return t == Int32
	case Time:
		return t == Int32 && l.Unit == Millis || t == Int64 && (l.Unit == Micros || l.Unit == Nanos)
	case Timestamp:
		return t == Int64 && l.Unit != 0
	case Integer:
		return t == Int32 && (l.Bits == 8 || l.Bits == 16 || l.Bits == 32) || t == Int64 && l.Bits == 64
	case UUID, Interval, Float16:
		return t == FixedLenByteArray && length == map[Kind]int{UUID: 16, Interval: 12, Float16: 2}[l.Kind]
	case Decimal:
		return l.decimalFits(t, length)
	}
	return false
}

func (l Logical) decimalFits(t Type, length int) bool {
	if l.Precision < 1 || l.Scale < 0 || l.Scale > l.Precision {
		return false
	}
	switch t {
	case Int32:
		return l.Precision <= 9
	case Int64:
		return l.Precision <= 18
	case FixedLenByteArray:
		return float64(l.Precision) <= math.Floor((8*float64(length)-1)*math.Log10(2))
	}
	return t == ByteArray
}

// Annotations of the first version of the format.
const (
	convertedUTF8 = iota
	convertedMap
	convertedMapKeyValue
	convertedList
	convertedEnum
	convertedDecimal
	convertedDate
	convertedTimeMillis
	convertedTimeMicros
	convertedTimestampMillis
	convertedTimestampMicros
	convertedUint8
	convertedInt8     = 15
	convertedJSON     = 19
	convertedBSON     = 20
	convertedInterval = 21
	convertedNull     = 24 // of arrow-go, without a logical type

	noConverted = -1
)

// convertedKinds are the kinds of annotations without parameters.
var convertedKinds = map[int64]Kind{
	convertedUTF8: String, convertedMap: Map, convertedMapKeyValue: Map, convertedList: List, convertedEnum: Enum, convertedDate: Date,
	convertedJSON: JSON, convertedBSON: BSON, convertedInterval: Interval, convertedNull: Null,
}

// fromConverted returns the logical type of an annotation of the first version of the format.
func fromConverted(converted int64, precision, scale int32) Logical {
	l := Logical{Converted: true}
	switch {
	case converted == convertedDecimal:
		l.Kind, l.Precision, l.Scale = Decimal, precision, scale
	case converted == convertedTimeMillis || converted == convertedTimeMicros:
		l.Kind, l.UTC, l.Unit = Time, true, Millis+Unit(converted-convertedTimeMillis)
	case converted == convertedTimestampMillis || converted == convertedTimestampMicros:
		l.Kind, l.UTC, l.Unit = Timestamp, true, Millis+Unit(converted-convertedTimestampMillis)
	case converted >= convertedUint8 && converted < convertedJSON:
		l.Kind, l.Signed, l.Bits = Integer, converted >= convertedInt8, 8<<((converted-convertedUint8)%4)
	default:
		kind, ok := convertedKinds[converted]
		if l.Kind = kind; !ok {
			l.Kind = Unknown
		}
	}
	return l
}

// converted returns the annotation of the first version of the format for readers of it, or -1.
// Local timestamps have one too, as other writers do.
func (l Logical) converted() int64 {
	switch l.Kind {
	case Decimal:
		return convertedDecimal
	case Time:
		if l.UTC && l.Unit != Nanos {
			return convertedTimeMillis + int64(l.Unit-Millis)
		}
	case Timestamp:
		if l.Unit != Nanos {
			return convertedTimestampMillis + int64(l.Unit-Millis)
		}
	case Integer:
		width := map[int8]int64{8: 0, 16: 1, 32: 2, 64: 3}[l.Bits]
		if l.Signed {
			return convertedInt8 + width
		}
		return convertedUint8 + width
	default:
		for converted, kind := range convertedKinds {
			if kind == l.Kind && converted != convertedMapKeyValue && kind != Null {
				return converted
			}
		}
	}
	return noConverted
}

// readLogical decodes the union of logical types.
func readLogical(members thrift.Object) Logical {
	for field, value := range members {
		l := Logical{Kind: Kind(min(max(field, 0), int(Unknown)))}
		about := value.Fields
		switch l.Kind {
		case Decimal:
			l.Scale, l.Precision = int32(about[1].Number), int32(about[2].Number)
		case Time, Timestamp:
			l.UTC = about[1].Number != 0
			for unit := range about[2].Fields {
				l.Unit = Unit(min(max(unit, 0), int(Nanos)+1))
			}
			if l.Unit < Millis || l.Unit > Nanos {
				return Logical{Kind: Unknown}
			}
		case Integer:
			l.Bits, l.Signed = int8(about[1].Number), about[2].Number != 0
		case String, Map, List, Enum, Date, Null, JSON, BSON, UUID, Float16:
		default:
			l.Kind = Unknown
		}
		return l
	}
	return Logical{Kind: Unknown}
}

// appendTo appends the union.
func (l Logical) appendTo(t *thrift.Encoder) {
	t.Object(int(l.Kind), func() {
		switch l.Kind {
		case Decimal:
			t.Int32(1, int64(l.Scale))
			t.Int32(2, int64(l.Precision))
		case Time, Timestamp:
			t.Flag(1, l.UTC)
			t.Object(2, func() { t.Object(int(l.Unit), func() {}) })
		case Integer:
			t.Byte(1, byte(l.Bits))
			t.Flag(2, l.Signed)
		}
	})
}
