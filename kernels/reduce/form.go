package reduce

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op/aggregate"
)

// formOf returns the form of a type's values in registers. ok is false for types with
// values that can only be counted.
func formOf(t arrow.DataType) (form aggregate.Form, ok bool) {
	l, err := layout.Of(t)
	if err != nil {
		return 0, false
	}
	wide := l.Width == 8
	switch l.Stored() {
	case layout.Boolean:
		return aggregate.Boolean, true
	case layout.Signed:
		return either(wide, aggregate.Signed64, aggregate.Signed32), true
	case layout.Unsigned:
		return either(wide, aggregate.Unsigned64, aggregate.Unsigned32), true
	case layout.Float:
		return either(wide, aggregate.Float64, aggregate.Float32), true
	case layout.Decimal:
		return aggregate.Wide, l.Width == 16
	}
	return 0, false
}

func either(wide bool, ifWide, otherwise aggregate.Form) aggregate.Form {
	if wide {
		return ifWide
	}
	return otherwise
}

// isTemporal reports whether the values of a type are times or intervals of months.
func isTemporal(t arrow.DataType) bool {
	l, err := layout.Of(t)
	return err == nil && (l.Class == layout.Temporal || l.Class == layout.Interval && l.Stored() == layout.Signed)
}

func isFloat(form aggregate.Form) bool { return form == aggregate.Float32 || form == aggregate.Float64 }

func isSigned(form aggregate.Form) bool {
	return form == aggregate.Signed32 || form == aggregate.Signed64
}
