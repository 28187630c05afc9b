package timezone

import (
	"fmt"
	"math"
	"sort"
	"sync"
	"time"

	"github.com/gpuframe/gpuframe/device"
)

// table is the offsets of a zone. Offset i holds from second starts[i] since 1970 on, until
// the next one. The first start is the least number. walls[i] is the first second that the clock
// has not shown before starts[i].
type table struct {
	starts, offsets, walls []int64
	slots                  []uint64
}

// Years are in Gregorian cycles of 400 years, which all have the same days and days of the
// week. No zone has rules of single years from cycleYear on, so the offsets of the cycle that
// begins there repeat.
const (
	cycleYear    = 2100
	cycleSeconds = 146_097 * 24 * 60 * 60
)

// cycleEnd is the second at which the table ends.
var cycleEnd = time.Date(cycleYear+400, 1, 1, 0, 0, 0, 0, time.UTC).Unix()

var tables sync.Map // of *table by name

// tableOf returns the offsets of a zone.
func tableOf(name string) (*table, error) {
	if known, ok := tables.Load(name); ok {
		return known.(*table), nil
	}
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("the name of the time zone is %q, expected one like \"Europe/Oslo\" or \"UTC\": %w", name, device.ErrInvalidValue)
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("time zone %q: %w: %w", name, err, device.ErrInvalidValue)
	}
	zone := &table{}
	at := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).In(location)
	start := int64(math.MinInt64)
	for start < cycleEnd {
		if _, offset := at.Zone(); len(zone.offsets) == 0 || zone.offsets[len(zone.offsets)-1] != int64(offset) {
			zone.add(start, int64(offset))
		}
		if at = next(at); at.IsZero() {
			break
		}
		start = at.Unix()
	}
	zone.slots = slotsOf(zone)
	known, _ := tables.LoadOrStore(name, zone)
	return known.(*table), nil
}

// next returns the time until which the offset of a time holds at least, or the zero time if
// there is no later offset.
func next(at time.Time) time.Time {
	_, end := at.ZoneBounds()
	if end.IsZero() || end.After(at) {
		return end
	}
	// On the last day of a leap year ZoneBounds returns its beginning (Go 1.26).
	return at.AddDate(0, 0, 1)
}

// add appends an offset.
func (t *table) add(start, offset int64) {
	wall := start
	if n := len(t.starts); n > 0 {
		wall = max(t.walls[n-1], start+t.offsets[n-1])
	}
	t.starts, t.offsets, t.walls = append(t.starts, start), append(t.offsets, offset), append(t.walls, wall)
}

// find returns the last place of a list of seconds, starts or walls, that is not later than a second,
// and the second in the part of the cycle that the table has.
func find(list []int64, second int64) (place int, within int64) {
	if second >= cycleEnd {
		second -= ((second-cycleEnd)/cycleSeconds + 1) * cycleSeconds
	}
	return sort.Search(len(list), func(i int) bool { return list[i] > second }) - 1, second
}

// toLocal returns the offset of a second since 1970, which gives the time of the clock.
func (t *table) toLocal(second int64) int64 {
	place, _ := find(t.starts, second)
	return t.offsets[place]
}

// toInstant returns what is added to a time that the clock shows, second and rest in a number of
// units in a second, for the first instant at which it shows that time or a later one. So a time
// that occurs twice is the first of both, and the times of a gap are the end of the gap.
func (t *table) toInstant(second, rest, unit int64) int64 {
	place, within := find(t.walls, second)
	shift := -t.offsets[place]
	if place > 0 && t.starts[place]-within > shift {
		return (t.starts[place]-within)*unit - rest
	}
	return shift * unit
}
