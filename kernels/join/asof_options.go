package join

import (
	"fmt"
	"math"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels"
)

// AsOfOptions configure [AsOf].
type AsOfOptions struct {
	kernels.Options
	// By are pairs of keys that have to be equal, such as a symbol.
	By        []On
	Direction Direction
	// NotEqual excludes right rows with a key that equals the left key.
	NotEqual bool
	// Tolerance is the largest distance of two keys: a Go integer, a float, or for temporal
	// keys a time.Duration, which is rounded down to the keys' unit. Nil means any.
	Tolerance any
	// MatchedOnly removes left rows without a match. Otherwise their right columns are null.
	MatchedOnly bool
	// Sorted is a promise that the right table is in ascending order of its key, without
	// nulls and NaN before other values. It saves a sort. If it is not, the rows that
	// are found are undefined.
	Sorted bool
	// Suffix, LeftColumns and RightColumns are those of [Options].
	Suffix                    string
	LeftColumns, RightColumns []string
}

// options returns the options of a join, or an error for options that are out of range.
func (o *AsOfOptions) options() (Options, error) {
	join := Options{
		Options: o.Options, Kind: Left, Order: LeftOrder,
		Suffix: o.Suffix, LeftColumns: o.LeftColumns, RightColumns: o.RightColumns,
	}
	if o.MatchedOnly {
		join.Kind = Inner
	}
	if o.Direction > Nearest {
		return join, fmt.Errorf("Direction is %d, expected Backward, Forward or Nearest: %w", o.Direction, device.ErrInvalidValue)
	}
	return join, nil
}

// distanceError is a key without a distance.
type distanceError struct{ error }

func (e *distanceError) Unwrap() error { return e.error }

// distances is how the distance of two keys is computed: as unsigned numbers of some
// bits, which wrap around, or as float64.
type distances struct {
	// wanted is set if distances are computed at all.
	wanted, real bool
	// width is the number of bytes of a key.
	width int
	// limit is the tolerance: a number, or the bits of a float64.
	limit uint64
}

// distancesOf returns the distances of keys of a type.
func (o *AsOfOptions) distancesOf(t arrow.DataType) (distances, error) {
	d := distances{wanted: o.Direction == Nearest || o.Tolerance != nil, limit: math.MaxUint64}
	if !d.wanted {
		return d, nil
	}
	l, err := layout.Of(t)
	if err != nil {
		return d, err
	}
	class := l.Stored()
	if l.Kind != layout.Fixed || l.Width > 8 || t.ID() == arrow.FLOAT16 || class != layout.Signed && class != layout.Unsigned && class != layout.Float {
		return d, &distanceError{fmt.Errorf("values of type %v have no distance, which Nearest and Tolerance need: cast them to integers or floats: %w", t, device.ErrNotSupported)}
	}
	d.width, d.real = l.Width, class == layout.Float
	if d.real {
		d.limit = math.Float64bits(math.Inf(1))
	}
	if o.Tolerance == nil {
		return d, nil
	}
	number, ok := d.number(o.Tolerance, t)
	if !ok {
		return d, fmt.Errorf("the option Tolerance is %v of type %T, expected a number of at least zero or, for temporal keys, a time.Duration; the key has type %v: %w",
			o.Tolerance, o.Tolerance, t, device.ErrInvalidValue)
	}
	d.limit = number
	return d, nil
}

// number returns a tolerance in the unit of the keys.
func (d *distances) number(tolerance any, t arrow.DataType) (uint64, bool) {
	if length, ok := tolerance.(time.Duration); ok {
		unit := unitOf(t)
		return uint64(length) / uint64(max(unit, 1)), unit > 0 && length >= 0
	}
	whole, real := int64(0), 0.0
	switch x := tolerance.(type) {
	case int:
		whole = int64(x)
	case int32:
		whole = int64(x)
	case int64:
		whole = x
	case uint64:
		if d.real {
			return math.Float64bits(float64(x)), true
		}
		return x, true
	case float32:
		return math.Float64bits(float64(x)), d.real && x >= 0
	case float64:
		real = x
		return math.Float64bits(real), d.real && x >= 0
	default:
		return 0, false
	}
	if d.real {
		return math.Float64bits(float64(whole)), whole >= 0
	}
	return uint64(whole), whole >= 0
}

// unitOf returns the unit of a temporal type, or zero for others.
func unitOf(t arrow.DataType) time.Duration {
	switch t := t.(type) {
	case *arrow.Date32Type:
		return 24 * time.Hour
	case *arrow.Date64Type:
		return time.Millisecond
	case arrow.TemporalWithUnit:
		return t.TimeUnit().Multiplier()
	}
	return 0
}

// asOfMatcher finds the matches of an as-of join.
type asOfMatcher struct {
	*call
	// left and right are the keys: those of By, then the one with distances.
	left, right []*column.Column
	options     *AsOfOptions
	distances   distances
	// plan makes words of the keys, or is nil.
	plan *mergePlan
	held release.Stack
}
