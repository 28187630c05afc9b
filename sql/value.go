package sql

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// value is a translated expression.
type value struct {
	expr gpuframe.Expr
	// dataType is nil for a null without a type.
	dataType arrow.DataType
	// constant is the value of a literal: a bool, int64, float64, string, decimalText, arrow.Date32 or
	// arrow.Timestamp, in microseconds.
	constant any
	// null is set for the literal null.
	null bool
	// interval is set for an interval. Then there is no expression.
	interval *interval
	// bits is the number of bits of the magnitude of an integer, if it is known to be less than its type has.
	bits int
	// uses are the columns of the value.
	uses columnSet
}

// decimalText is the digits of a literal with a point.
type decimalText string

// isConstant reports whether the value is a literal.
func (v value) isConstant() bool { return v.null || v.constant != nil }

// columnSet is a set of columns.
type columnSet map[*column]bool

func (s columnSet) add(other columnSet) {
	for c := range other {
		s[c] = true
	}
}

// within reports whether all columns of the set are in another one.
func (s columnSet) within(other columnSet) bool {
	for c := range s {
		if !other[c] {
			return false
		}
	}
	return true
}

// meets reports whether the sets have a common column.
func (s columnSet) meets(other columnSet) bool {
	for c := range s {
		if other[c] {
			return true
		}
	}
	return false
}

// setOf returns the set of columns.
func setOf(columns []*column) columnSet {
	set := make(columnSet, len(columns))
	for _, c := range columns {
		set[c] = true
	}
	return set
}
