package window

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/numbers"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

// Bounds of Rows that no partition reaches.
const (
	// FirstRow is the first row of the partition.
	FirstRow = math.MinInt64
	// LastRow is the last row of the partition.
	LastRow = math.MaxInt64
)

type frameKind uint8

const (
	wholePartition frameKind = iota
	rowsFrame
	rangeFrame
)

// Frame is the rows of a partition that a function is of.
type Frame struct {
	kind      frameKind
	low, high int64
	// lowOffset and highOffset are those of a range.
	lowOffset, highOffset any
}

// String formats the frame for messages: "rows -6 to 0".
func (f Frame) String() string {
	row := func(n int64) string {
		switch n {
		case FirstRow:
			return "first"
		case LastRow:
			return "last"
		}
		return fmt.Sprint(n)
	}
	offset := func(x any) string {
		if x == nil {
			return "unbounded"
		}
		return fmt.Sprint(x)
	}
	switch f.kind {
	case rowsFrame:
		return "rows " + row(f.low) + " to " + row(f.high)
	case rangeFrame:
		return "range " + offset(f.lowOffset) + " to " + offset(f.highOffset)
	}
	return "all rows"
}

// offsets are the bounds of a range in the units of a key.
type offsets struct {
	// low and high are integers, or the bits of floats.
	low, high     uint64
	noLow, noHigh bool
	// lowInterval and highInterval are the bounds in steps of a calendar, or nil.
	lowInterval, highInterval *Interval
	format                    numbers.Type
	descending, nullsUp       bool
}

// offsets returns the bounds of a range.
func (f Frame) offsets(schema *arrow.Schema, windows Windows) (offsets, error) {
	if len(windows.OrderBy) != 1 {
		return offsets{}, fmt.Errorf("a frame of a range has %d order keys, expected one: %w", len(windows.OrderBy), device.ErrInvalidValue)
	}
	key := windows.OrderBy[0]
	t, err := keyType(key, schema)
	if err != nil {
		return offsets{}, err
	}
	o := offsets{noLow: f.lowOffset == nil, noHigh: f.highOffset == nil, descending: key.Descending, nullsUp: key.NullsFirst}
	var ok bool
	if o.format, ok = numbers.TypeOf(t); !ok || t.ID() == arrow.INTERVAL_MONTHS {
		return o, fmt.Errorf("the order key of a range: %w", layout.Refuse(t, "numbers, dates, times, timestamps or durations", device.ErrNotSupported))
	}
	if o.low, o.lowInterval, err = boundIn(f.lowOffset, t, o.format); err != nil {
		return o, err
	}
	o.high, o.highInterval, err = boundIn(f.highOffset, t, o.format)
	return o, err
}

// boundIn returns an offset in the unit of a key's type, or an interval of a calendar.
func boundIn(x any, t arrow.DataType, format numbers.Type) (uint64, *Interval, error) {
	if calendar, ok := x.(interval); ok {
		parts, err := calendar.Interval()
		if err != nil {
			return 0, nil, fmt.Errorf("the offset of a range: %w", err)
		}
		if err := parts.check(t); err != nil {
			return 0, nil, err
		}
		if !parts.hasOneLength(t) {
			return 0, &parts, nil
		}
		x = parts.length()
	}
	offset, err := offsetIn(x, t, format)
	return offset, nil, err
}

// keyType returns the type of a key's values.
func keyType(key order.Key, schema *arrow.Schema) (arrow.DataType, error) {
	switch {
	case key.Values != nil:
		return key.Values.Type(), nil
	case key.Expr.IsZero():
		t, _, err := expr.Col(key.Column).Type(schema)
		return t, err
	}
	t, _, err := key.Expr.Type(schema)
	return t, err
}

// offsetIn returns an offset in the unit of a key's type.
func offsetIn(x any, t arrow.DataType, format numbers.Type) (uint64, error) {
	refuse := func(expected string) (uint64, error) {
		return 0, fmt.Errorf("the offset %v (%T) of a range of %v, expected %s: %w", x, x, t, expected, device.ErrInvalidValue)
	}
	if x == nil {
		return 0, nil
	}
	v := reflect.ValueOf(x)
	if span, ok := x.(time.Duration); ok {
		unit := unitOf(t)
		if unit == 0 {
			return refuse("a number, because the key is not temporal")
		}
		if span%unit != 0 {
			return refuse(fmt.Sprintf("a multiple of %v", unit))
		}
		return uint64(int64(span / unit)), nil
	}
	if format.Class == numbers.Float {
		var number float64
		switch {
		case v.CanFloat():
			number = v.Float()
		case v.CanInt():
			number = float64(v.Int())
		default:
			return refuse("a number or nil")
		}
		if number != number {
			return refuse("a number or nil")
		}
		return math.Float64bits(number), nil
	}
	if !v.CanInt() {
		return refuse("a signed integer, a time.Duration for a temporal key, or nil")
	}
	return uint64(v.Int()), nil
}

// unitOf returns the unit of a temporal type, or zero.
func unitOf(t arrow.DataType) time.Duration {
	switch t := t.(type) {
	case *arrow.Date32Type:
		return 24 * time.Hour
	case *arrow.Date64Type:
		return time.Millisecond
	case interface{ TimeUnit() arrow.TimeUnit }:
		return t.TimeUnit().Multiplier()
	}
	return 0
}

// framing is a frame of each row in memory, or offsets of rows.
type framing struct {
	low, high int64
	// lows and highs are the first place of each frame and the one behind the last, or
	// empty.
	lows, highs memory.Slice[uint32]
	block       *memory.Block
	// before and after are the most rows that a frame has before and after its row, and
	// longest the most rows of one. They may be larger.
	before, after, longest int64
}

func (f *framing) release() error {
	if f == nil {
		return nil
	}
	return f.block.Release()
}

// clampedRows returns the frame of rows relative to the current one in a table of n rows.
func clampedRows(low, high int64, n int) *framing {
	f := &framing{low: min(max(low, -int64(n)), int64(n)), high: min(max(high, -int64(n)), int64(n))}
	f.before, f.after = max(-f.low, 0), max(f.high, 0)
	f.longest = min(f.high-f.low+1, int64(n))
	return f
}

// framed returns the frames of a function.
func (a *arrangement) framed(f Function) (*framing, error) {
	switch f.frame.kind {
	case rowsFrame:
		return clampedRows(f.frame.low, f.frame.high, a.capacity), nil
	case rangeFrame:
		o, err := f.frame.offsets(a.table.Schema(), a.windows)
		if err != nil {
			return nil, err
		}
		return a.ranges(o)
	}
	return clampedRows(FirstRow, LastRow, a.capacity), nil
}

// ranges finds the frames of a range.
func (a *arrangement) ranges(o offsets) (f *framing, err error) {
	if a.capacity == 0 {
		return &framing{}, nil
	}
	key, err := a.orderKey()
	if err != nil {
		return nil, err
	}
	columns := []*column.Column{key}
	defer func() {
		if err = errors.Join(err, release.All(columns)); err != nil {
			f, err = nil, errors.Join(err, f.release())
		}
	}()
	if columns, err = a.withBounds(columns, o); err != nil {
		return nil, err
	}
	call, in, err := a.begin(columns...)
	if err != nil {
		return nil, err
	}
	r := ranging{offsets: o, key: in}
	for i, bounds := range []*op.View{&r.lows, &r.highs} {
		if columns[1+i] == nil {
			continue
		}
		if *bounds, err = call.View(columns[1+i]); err != nil {
			return nil, err
		}
	}
	return a.rangesOf(&call, r)
}

// ranging is the ranges of a key.
type ranging struct {
	offsets
	key op.View
	// lows and highs are the bounds of each row in steps of a calendar, or have no column.
	lows, highs op.View
}

// Frame returns the function's frame, for messages.
func (f Function) Frame() Frame { return f.frame }
