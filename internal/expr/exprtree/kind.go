package exprtree

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// Kind groups types by the computations on their values. Temporal types have the kind
// of the integers that store them.
type Kind uint8

// The kinds. Columns of kind Other support no computation except null tests, and can be
// passed on.
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

// The kinds of integers and floats by their size.
var (
	signedKinds   = [...]Kind{1: Int8, 2: Int16, 4: Int32, 8: Int64}
	unsignedKinds = [...]Kind{1: Uint8, 2: Uint16, 4: Uint32, 8: Uint64}
	floatKinds    = [...]Kind{4: Float32, 8: Float64}
)

// KindOf returns the kind of a type. Expressions do not compute with float16, decimals of
// 256 bits, intervals, string views and extension types.
func KindOf(t arrow.DataType) Kind {
	l, err := layout.Of(t)
	if err != nil || t.ID() == arrow.EXTENSION {
		return Other
	}
	switch l.Class {
	case layout.Boolean:
		return Bool
	case layout.Signed, layout.Temporal:
		return signedKinds[l.Width]
	case layout.Unsigned:
		return unsignedKinds[l.Width]
	case layout.Float:
		return floatKinds[l.Width]
	case layout.Decimal:
		if l.Width == 16 {
			return Decimal
		}
	case layout.Bytes:
		if l.Kind != layout.View {
			return String
		}
	case layout.Encoded:
		if values := l.Dictionary(); values != nil && values.ID() != arrow.DICTIONARY && KindOf(values) == String {
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

// Holds reports whether the kind, an integer, has all values of another integer kind.
func (k Kind) Holds(other Kind) bool {
	lowest, highest := IntegerBounds(k.Bits(), k.IsSigned())
	otherLowest, otherHighest := IntegerBounds(other.Bits(), other.IsSigned())
	return lowest <= otherLowest && highest >= otherHighest
}

// IntegerBounds returns the lowest and the highest integer of a width.
func IntegerBounds(bits int, signed bool) (lowest int64, highest uint64) {
	if signed {
		return -1 << (bits - 1), 1<<(bits-1) - 1
	}
	return 0, ^uint64(0) >> (64 - bits)
}

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
	l, err := layout.Of(t)
	return err == nil && l.Class == layout.Temporal && t.ID() != arrow.EXTENSION
}

// Code returns a short text with the properties of a type that generated code depends
// on: types with equal codes share generated code. It does not contain time zones.
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
