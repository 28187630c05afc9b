package timezone

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gpuframe/gpuframe/device"
)

// table is the offsets of a zone. Offset i holds from second starts[i] since 1970 on, until
// the next one. The first start is the least number.
type table struct {
	starts, offsets []int64
	slots           []uint64
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
	made := &table{}
	at := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).In(location)
	start := int64(math.MinInt64)
	for start < cycleEnd {
		_, offset := at.Zone()
		if n := len(made.offsets); n == 0 || made.offsets[n-1] != int64(offset) {
			made.starts, made.offsets = append(made.starts, start), append(made.offsets, int64(offset))
		}
		if at = next(at); at.IsZero() {
			break
		}
		start = at.Unix()
	}
	made.slots = slotsOf(made)
	known, _ := tables.LoadOrStore(name, made)
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

// offset returns the offset at a second since 1970, and the seconds from which and until which
// it holds.
func (t *table) offset(second int64) (offset, start, end int64) {
	cycles := int64(0)
	if second >= cycleEnd {
		cycles = (second-cycleEnd)/cycleSeconds + 1
	}
	i, found := slices.BinarySearch(t.starts, second-cycles*cycleSeconds)
	if !found {
		i--
	}
	start, end = t.starts[i], math.MaxInt64
	if i > 0 {
		start += cycles * cycleSeconds
	}
	if i+1 < len(t.starts) {
		end = t.starts[i+1] + cycles*cycleSeconds
	}
	return t.offsets[i], start, end
}

// shift returns what has to be added to a second of one clock for the other.
func (t *table) shift(second int64, toInstant bool) int64 {
	offset, start, end := t.offset(second)
	if !toInstant {
		return offset
	}
	if instant := second - offset; instant < start || instant >= end {
		offset, _, _ = t.offset(instant)
	}
	return -offset
}
