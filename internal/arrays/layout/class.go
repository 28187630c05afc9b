package layout

// Class is the meaning of a type's values to an operator.
type Class uint8

// The classes.
const (
	// Empty values are all null.
	Empty Class = iota
	// Boolean values are single bits.
	Boolean
	// Signed values are integers in two's complement.
	Signed
	// Unsigned values are integers without a sign.
	Unsigned
	// Float values are IEEE 754 numbers of 2, 4 or 8 bytes. Float16 is one of them:
	// arithmetic on it is done in float32 or wider.
	Float
	// Decimal values are scaled signed integers of 16 or 32 bytes.
	Decimal
	// Temporal values are dates, times, timestamps and durations: signed integers that
	// count a unit of time.
	Temporal
	// Interval values are months, or months, days and parts of a day side by side.
	Interval
	// Bytes values are strings and binaries of any kind, those of fixed size included.
	Bytes
	// Nested values are lists, structs, maps and unions.
	Nested
	// Encoded values are references to other values: dictionaries and run ends.
	Encoded
)

var classNames = [...]string{
	Empty: "null", Boolean: "boolean", Signed: "signed integer", Unsigned: "unsigned integer", Float: "float",
	Decimal: "decimal", Temporal: "temporal", Interval: "interval", Bytes: "bytes", Nested: "nested", Encoded: "encoded",
}

// String names the class for messages.
func (c Class) String() string { return classNames[c] }

// Arithmetic reports whether values can be added to one another.
func (l Layout) Arithmetic() bool {
	switch l.Class {
	case Signed, Unsigned, Float, Decimal:
		return true
	}
	return false
}

// Ordered reports whether one value is less than another: intervals of days have no
// order, and nested values none that is defined here.
func (l Layout) Ordered() bool {
	switch l.Class {
	case Boolean, Temporal, Bytes:
		return true
	case Interval:
		return l.Width == monthBytes
	}
	return l.Arithmetic()
}

// Comparable reports whether two values can be equal, and so be hashed. Floats are
// compared as numbers, all others by their bytes: see [Layout.EqualByBytes].
func (l Layout) Comparable() bool { return l.Class == Interval || l.Ordered() }

// EqualByBytes reports whether two values are equal exactly if their bytes are. It is
// false for floats, which have two zeros and many NaNs, and for nested and encoded
// values.
func (l Layout) EqualByBytes() bool { return l.Comparable() && l.Class != Float }

// Stored returns the class of the words that values lie in: Signed for temporal values
// and for months, which are integers that count.
func (l Layout) Stored() Class {
	if l.Class == Temporal || l.Class == Interval && l.Width == monthBytes {
		return Signed
	}
	return l.Class
}
