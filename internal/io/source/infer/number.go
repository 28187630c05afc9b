package infer

import (
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/text/textvalue"
)

// types is a set of types of columns, the narrowest in the lowest bit.
type types uint16

const (
	integer types = 1 << iota
	unsigned
	decimal
	float
	boolean
	date
	second
	millisecond
	microsecond
	nanosecond

	everyType = nanosecond<<1 - 1
	instants  = second | millisecond | microsecond | nanosecond
)

// dataTypes are those of the bits of types.
var dataTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64, &arrow.Decimal128Type{Precision: mostDigits}, arrow.PrimitiveTypes.Float64,
	arrow.FixedWidthTypes.Boolean, arrow.FixedWidthTypes.Date32,
	Timestamp(arrow.Second), Timestamp(arrow.Millisecond), Timestamp(arrow.Microsecond), Timestamp(arrow.Nanosecond),
}

// Timestamp is the type of instants in CSV files.
func Timestamp(unit arrow.TimeUnit) arrow.DataType {
	return &arrow.TimestampType{Unit: unit, TimeZone: "UTC"}
}

// mostDigits are the digits of an integer that is not text.
const mostDigits = 38

// numberTypes returns the types that hold a number with all digits of an integer, or none if the
// text is no number. A plus sign makes it a text, such as a telephone number.
func numberTypes(text string) types {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || digits[0] != '.' && digits[0]-'0' > 9 {
		return 0
	}
	if !textvalue.AllDigits(digits) {
		if _, ok := textvalue.Float(text, 64); ok {
			return float
		}
		return 0
	}
	var fit types
	if _, ok := textvalue.Int(text, 64); ok {
		fit |= integer
	}
	if _, ok := textvalue.Uint(text, 64); ok {
		fit |= unsigned
	}
	if len(strings.TrimLeft(digits, "0")) <= mostDigits {
		fit |= decimal
	}
	if keepsDigits(text, digits) {
		fit |= float
	}
	return fit
}

// keepsDigits reports whether a float64 holds an integer: its value, or its digits as the shortest
// text of the float, as programs write that have floats only.
func keepsDigits(text, digits string) bool {
	const exactDigits = 15
	if len(digits) <= exactDigits {
		return true
	}
	value, ok := textvalue.Float(text, 64)
	plain := strings.TrimLeft(digits, "0")
	if !ok || plain == "" {
		return ok
	}
	shortest := strings.TrimPrefix(strconv.FormatFloat(value, 'f', -1, 64), "-")
	return shortest == plain || strings.TrimPrefix(strconv.FormatFloat(value, 'f', 0, 64), "-") == plain
}

// isFloatWord reports whether a text stands for a float that is not finite.
func isFloatWord(text string) bool {
	if text == "" || strings.IndexByte("+-iInN", text[0]) < 0 {
		return false
	}
	_, ok := textvalue.Float(text, 64)
	return ok && !strings.ContainsAny(text, "0123456789")
}
