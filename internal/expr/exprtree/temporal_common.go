package exprtree

import "github.com/apache/arrow/go/v17/arrow"

// Finest returns the Finest unit that any of the types count in, at least seconds.
func Finest(types ...arrow.DataType) arrow.TimeUnit {
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

// CommonTime returns the type that temporal types of one kind are converted to, which has the finest
// of their units. It may not hold all values of a type of a coarser unit.
func CommonTime(types ...arrow.DataType) (arrow.DataType, bool) {
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
		return TimeOf(Finest(types...)), true
	case lengths == len(types):
		return &arrow.DurationType{Unit: Finest(types...)}, true
	case instants != len(types):
		return nil, false
	case timestamps > 0:
		zone, ok := CommonZone(types...)
		return &arrow.TimestampType{Unit: Finest(types...), TimeZone: zone}, ok
	case milliseconds > 0:
		return arrow.FixedWidthTypes.Date64, true
	}
	return arrow.FixedWidthTypes.Date32, true
}

// CommonZone returns the first time zone of the timestamps. All or none
// of them must have a zone: timestamps without a zone are local times.
func CommonZone(types ...arrow.DataType) (zone string, ok bool) {
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

// TimeOf returns the type of a time of the day in a unit.
func TimeOf(unit arrow.TimeUnit) arrow.DataType {
	if unit > arrow.Millisecond {
		return &arrow.Time64Type{Unit: unit}
	}
	return &arrow.Time32Type{Unit: unit}
}

// HoldsTimes reports whether a temporal type holds all values of another one that counts in the
// same or in a coarser unit.
func HoldsTimes(t, coarse arrow.DataType) bool {
	switch coarse.ID() {
	case arrow.TIME32, arrow.TIME64: // the values are within a day
		return true
	case arrow.DATE32:
		return UnitOf(t) <= 1e3 // 2³¹ days are 1.9·10¹⁷ milliseconds
	}
	return DayOf(t) == DayOf(coarse)
}
