package expr

import (
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// Lit is a value: any of Go's numbers, bool, string, []byte, time.Time,
// time.Duration, arrow.Date32 or arrow.Date64. An int, a float64, a time.Time and a
// time.Duration take their type from the other operands: see the package
// documentation. Nil is the null of the other choice's type in If and a null among the values
// of In. Elsewhere nil, like other Go types, gives an error when the expression is bound.
//
// A time.Time is an instant, of any location. A []byte must not be changed
// afterwards.
func Lit(value any) Expr { return Expr{&node{op: exprtree.Literal, value: value}} }

// LitOf is a value of the type. It accepts the values of Lit that the type can hold,
// and arrow.Time32, arrow.Time64, arrow.Timestamp and arrow.Duration, which count
// in the unit of the type. A decimal may also be a string of digits, such as "-12.50", or a
// decimal128.Num, which is unscaled. A nil value is null.
func LitOf(dataType arrow.DataType, value any) Expr {
	return Expr{&node{op: exprtree.Literal, value: value, to: dataType}}
}

// Null is the null of a type.
func Null(dataType arrow.DataType) Expr {
	return Expr{&node{op: exprtree.Literal, to: dataType}}
}

// isOpen reports whether a literal takes its type from the other operands.
func (n *node) isOpen() bool {
	if n.op != exprtree.Literal || n.to != nil {
		return false
	}
	switch n.value.(type) {
	case int, float64, time.Time, time.Duration:
		return true
	}
	return false
}

// isNil reports whether a literal is nil and has no type.
func (n *node) isNil() bool {
	return n != nil && n.op == exprtree.Literal && n.to == nil && n.value == nil
}

// ownType returns the type that a literal has by itself.
func (n *node) ownType() (arrow.DataType, bool) {
	if n.to != nil {
		return n.to, true
	}
	switch n.value.(type) {
	case bool:
		return arrow.FixedWidthTypes.Boolean, true
	case int8:
		return arrow.PrimitiveTypes.Int8, true
	case int16:
		return arrow.PrimitiveTypes.Int16, true
	case int32:
		return arrow.PrimitiveTypes.Int32, true
	case int, int64:
		return arrow.PrimitiveTypes.Int64, true
	case uint8:
		return arrow.PrimitiveTypes.Uint8, true
	case uint16:
		return arrow.PrimitiveTypes.Uint16, true
	case uint32:
		return arrow.PrimitiveTypes.Uint32, true
	case uint, uint64, uintptr:
		return arrow.PrimitiveTypes.Uint64, true
	case float32:
		return arrow.PrimitiveTypes.Float32, true
	case float64:
		return arrow.PrimitiveTypes.Float64, true
	case string:
		return arrow.BinaryTypes.String, true
	case []byte:
		return arrow.BinaryTypes.Binary, true
	case time.Time:
		return timestampNanoseconds, true
	case time.Duration:
		return arrow.FixedWidthTypes.Duration_ns, true
	case arrow.Date32:
		return arrow.FixedWidthTypes.Date32, true
	case arrow.Date64:
		return arrow.FixedWidthTypes.Date64, true
	}
	return nil, false
}

var timestampNanoseconds = &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
