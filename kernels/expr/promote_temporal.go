package expr

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/exprtree"
)

// finest returns the finest unit that any of the types count in, at least seconds.
func finest(types ...arrow.DataType) arrow.TimeUnit {
	unit := arrow.Second
	for _, t := range types {
		switch t := t.(type) {
		case arrow.TemporalWithUnit:
			unit = max(unit, t.TimeUnit())
		case *arrow.Date64Type:
			unit = max(unit, arrow.Millisecond)
		}
	}
	return unit
}

// commonTemporal is the type that temporal types of one kind are converted to.
func commonTemporal(types []arrow.DataType) (arrow.DataType, bool) {
	var instants, clocks, lengths, timestamps, milliseconds int
	for _, t := range types {
		switch t.ID() {
		case arrow.DATE32:
			instants++
		case arrow.DATE64:
			instants++
			milliseconds++
		case arrow.TIMESTAMP:
			instants++
			timestamps++
		case arrow.TIME32, arrow.TIME64:
			clocks++
		default:
			lengths++
		}
	}
	switch {
	case clocks == len(types):
		return timeOf(finest(types...)), true
	case lengths == len(types):
		return &arrow.DurationType{Unit: finest(types...)}, true
	case instants != len(types):
		return nil, false
	case timestamps > 0:
		zone, ok := commonZone(types)
		return &arrow.TimestampType{Unit: finest(types...), TimeZone: zone}, ok
	case milliseconds > 0:
		return arrow.FixedWidthTypes.Date64, true
	}
	return arrow.FixedWidthTypes.Date32, true
}

// commonZone returns the first time zone of the timestamps. All or none
// of them must have a zone: timestamps without a zone are local times.
func commonZone(types []arrow.DataType) (zone string, ok bool) {
	var with, without int
	for _, t := range types {
		if t, ok := t.(*arrow.TimestampType); ok {
			if t.TimeZone == "" {
				without++
				continue
			}
			if with++; with == 1 {
				zone = t.TimeZone
			}
		}
	}
	return zone, with == 0 || without == 0
}

func timeOf(unit arrow.TimeUnit) arrow.DataType {
	if unit > arrow.Millisecond {
		return &arrow.Time64Type{Unit: unit}
	}
	return &arrow.Time32Type{Unit: unit}
}

// stamped returns a timestamp of the unit in the zone of t, which is one or a date.
func stamped(t arrow.DataType, unit arrow.TimeUnit) arrow.DataType {
	made := &arrow.TimestampType{Unit: unit}
	if t, ok := t.(*arrow.TimestampType); ok {
		made.TimeZone = t.TimeZone
	}
	return made
}

func isInstant(t arrow.DataType) bool {
	return t.ID() == arrow.TIMESTAMP || t.ID() == arrow.DATE32 || t.ID() == arrow.DATE64
}

func isClock(t arrow.DataType) bool { return t.ID() == arrow.TIME32 || t.ID() == arrow.TIME64 }

func isLength(t arrow.DataType) bool { return t.ID() == arrow.DURATION }

func isCount(t arrow.DataType) bool { return exprtree.KindOf(t).IsInteger() && !exprtree.IsTemporal(t) }
