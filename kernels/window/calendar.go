package window

import (
	"fmt"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/timezone"
)

// Interval is an offset of [Function.Range] in parts that do not all have one length. The bound of
// a frame is the time of the row, to which the parts are added one after the other: months, then
// days, then the duration. A day that a month lacks becomes its last day: one month before March 31
// is February 28 or 29.
type Interval struct {
	Months, Days int
	Duration     time.Duration
	// Zone is the time zone in which months and days pass, for timestamps. The default is the zone
	// of the key.
	Zone string
}

// interval is a value that is an interval: an [Interval] or a calendar of a higher package.
type interval interface{ Interval() (Interval, error) }

// Interval returns the interval itself.
func (i Interval) Interval() (Interval, error) { return i, nil }

// String formats the interval: "-1 months 2 days in Europe/Oslo".
func (i Interval) String() string {
	var parts []string
	if i.Months != 0 {
		parts = append(parts, fmt.Sprintf("%d months", i.Months))
	}
	if i.Days != 0 {
		parts = append(parts, fmt.Sprintf("%d days", i.Days))
	}
	if i.Duration != 0 || len(parts) == 0 {
		parts = append(parts, i.Duration.String())
	}
	if i.Zone != "" {
		parts = append(parts, "in "+i.Zone)
	}
	return strings.Join(parts, " ")
}

// backwards returns the interval in the other direction.
func (i Interval) backwards() Interval {
	i.Months, i.Days, i.Duration = -i.Months, -i.Days, -i.Duration
	return i
}

// length is the length of an interval without months.
func (i Interval) length() time.Duration { return time.Duration(i.Days)*24*time.Hour + i.Duration }

// isLater reports whether the interval leads to later times. A month counts as 30 days.
func (i Interval) isLater() bool {
	return float64(i.Months)*30+float64(i.Days)+i.Duration.Hours()/24 > 0
}

// zone returns the time zone of the interval for keys of a type, or "" for UTC and for clocks.
func (i Interval) zone(t arrow.DataType) string {
	stamp, ok := t.(*arrow.TimestampType)
	switch {
	case !ok:
		return ""
	case i.Zone != "":
		return i.Zone
	case stamp.TimeZone == "UTC":
		return ""
	}
	return stamp.TimeZone
}

// hasOneLength reports whether the interval has the same length at all times of a type.
func (i Interval) hasOneLength(t arrow.DataType) bool {
	return i.Months == 0 && (i.Days == 0 || i.zone(t) == "")
}

// mostParts is the most months or days of an interval. They are more than any type of times has.
const mostParts = 1 << 30

// mostDays is the most days of an interval that is a duration.
const mostDays = 50_000

// check refuses intervals that do not fit a type.
func (i Interval) check(t arrow.DataType) error {
	isDate := t.ID() == arrow.DATE32 || t.ID() == arrow.DATE64
	switch unit := unitOf(t); {
	case !isDate && t.ID() != arrow.TIMESTAMP:
		return fmt.Errorf("the offset %v of a range of %v, expected a number: months and days are of dates and timestamps: %w", i, t, device.ErrInvalidValue)
	case isDate && i.Zone != "":
		return fmt.Errorf("the offset %v of a range of %v: dates are the same in all time zones, leave out the zone: %w", i, t, device.ErrInvalidValue)
	case max(i.Months, -i.Months) > mostParts || max(i.Days, -i.Days) > mostParts:
		return fmt.Errorf("the offset %v of a range, expected at most %d months and days: %w", i, mostParts, device.ErrInvalidValue)
	case i.Duration%unit != 0 || max(i.Duration, -i.Duration) > mostDays*24*time.Hour:
		return fmt.Errorf("the offset %v of a range of %v, expected a multiple of %v of at most %d days: %w", i, t, unit, mostDays, device.ErrInvalidValue)
	case i.hasOneLength(t) && max(i.Days, -i.Days) > mostDays:
		return fmt.Errorf("the offset %v of a range, expected at most %d days: %w", i, mostDays, device.ErrInvalidValue)
	}
	_, _, err := i.added(expr.Col("key"), t).Type(arrow.NewSchema([]arrow.Field{{Name: "key", Type: t, Nullable: true}}, nil))
	if err != nil {
		return fmt.Errorf("the offset %v of a range of %v: %w", i, t, err)
	}
	return nil
}

// added is times of a type with the interval added. It is null beyond the type.
func (i Interval) added(at expr.Expr, t arrow.DataType) expr.Expr {
	zone := i.zone(t)
	if zone != "" {
		at = timezone.Local(at, zone)
	}
	if i.Months != 0 {
		at = at.AddMonths(expr.Lit(int64(i.Months)))
	}
	if i.Days != 0 {
		at = at.AddDays(expr.Lit(int64(i.Days)))
	}
	if zone != "" {
		at = timezone.Instant(at, zone)
	}
	at = at.Cast(t)
	if i.Duration != 0 {
		at = at.Cast(arrow.PrimitiveTypes.Int64).Add(expr.Lit(int64(i.Duration / unitOf(t)))).Cast(t)
	}
	return at
}

// withBounds appends the bounds of each row to the column of the key: of the low ends, and of the
// high ends. They are nil for ends that are no intervals. The caller releases all, also with an error.
func (a *arrangement) withBounds(columns []*column.Column, o offsets) ([]*column.Column, error) {
	key := columns[0]
	for _, i := range []*Interval{o.lowInterval, o.highInterval} {
		if i == nil {
			columns = append(columns, nil)
			continue
		}
		by := *i
		if o.descending {
			by = by.backwards()
		}
		bounds, err := a.computed([]string{"key"}, []*column.Column{key}, by.added(expr.Col("key"), key.Type()))
		if bounds, err = release.OnError(bounds, err, nil); err != nil {
			return columns, err
		}
		columns = append(columns, bounds)
	}
	return columns, nil
}

// behind has a bit for each end: whether a bound beyond the type of the key is behind all keys.
func (o offsets) behind() (bits uint64) {
	if o.lowInterval != nil && o.lowInterval.isLater() {
		bits |= 1
	}
	if o.highInterval != nil && o.highInterval.isLater() {
		bits |= 2
	}
	return bits
}
