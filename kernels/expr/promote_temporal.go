package expr

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// stamped returns a timestamp of the unit in the zone of t, which is one or a date.
func stamped(t arrow.DataType, unit arrow.TimeUnit) arrow.DataType {
	stamp := &arrow.TimestampType{Unit: unit}
	if t, ok := t.(*arrow.TimestampType); ok {
		stamp.TimeZone = t.TimeZone
	}
	return stamp
}

func isInstant(t arrow.DataType) bool {
	return t.ID() == arrow.TIMESTAMP || t.ID() == arrow.DATE32 || t.ID() == arrow.DATE64
}

func isClock(t arrow.DataType) bool { return t.ID() == arrow.TIME32 || t.ID() == arrow.TIME64 }

func isLength(t arrow.DataType) bool { return t.ID() == arrow.DURATION }

func isCount(t arrow.DataType) bool { return exprtree.KindOf(t).IsInteger() && !exprtree.IsTemporal(t) }
