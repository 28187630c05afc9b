package exprtree

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// Kind is how values of a type are computed with. Temporal types are of the kind of
// the integers that store them.
type Kind uint8

// The kinds. Other is whatever nothing is computed with: such a column can be asked
// for nulls, and passed on.
const (
	Other Kind = iota
	Bool
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float32
	Float64
	Decimal
	String
)

// KindOf returns the kind of a type.
func KindOf(t arrow.DataType) Kind {
	if t == nil {
		return Other
	}
	switch t.ID() {
	case arrow.BOOL:
		return Bool
	case arrow.INT8:
		return Int8
	case arrow.INT16:
		return Int16
	case arrow.INT32, arrow.DATE32, arrow.TIME32:
		return Int32
	case arrow.INT64, arrow.DATE64, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION:
		return Int64
	case arrow.UINT8:
		return Uint8
	case arrow.UINT16:
		return Uint16
	case arrow.UINT32:
		return Uint32
	case arrow.UINT64:
		return Uint64
	case arrow.FLOAT32:
		return Float32
	case arrow.FLOAT64:
		return Float64
	case arrow.DECIMAL128:
		return Decimal
	case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY, arrow.FIXED_SIZE_BINARY:
		return String
	case arrow.DICTIONARY:
		if values := t.(*arrow.DictionaryType).ValueType; values.ID() != arrow.DICTIONARY && KindOf(values) == String {
			return String
		}
	}
	return Other
}

// IsSigned reports whether the kind is a signed integer.
func (k Kind) IsSigned() bool { return k >= Int8 && k <= Int64 }

// IsUnsigned reports whether the kind is an unsigned integer.
func (k Kind) IsUnsigned() bool { return k >= Uint8 && k <= Uint64 }

// IsInteger reports whether the kind is an integer.
func (k Kind) IsInteger() bool { return k >= Int8 && k <= Uint64 }

// IsFloat reports whether the kind is a float.
func (k Kind) IsFloat() bool { return k == Float32 || k == Float64 }

// IsNumber reports whether the kind is an integer or a float.
func (k Kind) IsNumber() bool { return k >= Int8 && k <= Float64 }

// Bits returns the width of a value, 0 for strings and other kinds.
func (k Kind) Bits() int {
	switch k {
	case Bool:
		return 1
	case Int8, Uint8:
		return 8
	case Int16, Uint16:
		return 16
	case Int32, Uint32, Float32:
		return 32
	case Int64, Uint64, Float64:
		return 64
	case Decimal:
		return 128
	}
	return 0
}

// IsTemporal reports whether a type is a date, time, timestamp or duration.
func IsTemporal(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION:
		return true
	}
	return false
}

// Code returns a short text of what matters of a type to generated code: types of
// one code are computed with by one code. Time zones are not in it.
func Code(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.TimestampType:
		return "timestamp." + t.Unit.String()
	case *arrow.DurationType:
		return "duration." + t.Unit.String()
	case *arrow.Time32Type:
		return "time32." + t.Unit.String()
	case *arrow.Time64Type:
		return "time64." + t.Unit.String()
	case *arrow.Decimal128Type:
		return fmt.Sprintf("decimal.%d.%d", t.Precision, t.Scale)
	case *arrow.FixedSizeBinaryType:
		return fmt.Sprintf("bytes.%d", t.ByteWidth)
	case *arrow.StringType, *arrow.BinaryType:
		return "string"
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return "string64"
	case *arrow.DictionaryType:
		if KindOf(t) == String {
			return "dictionary." + Code(t.IndexType) + "." + Code(t.ValueType)
		}
	}
	if KindOf(t) == Other {
		return "other"
	}
	return t.Name()
}
