package bind

import (
	"fmt"
	"reflect"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/nested"
	"github.com/gpuframe/gpuframe/kernels/timezone"
)

// Hop is windows of Resample that may overlap: they begin every step, and have a span.
type Hop struct {
	// Span is the length of a window, and Offset moves all windows. Nil is the step, and no offset.
	Span, Offset any
	// Closed is the ends that belong to a window: "left", which "" is, "right", "both" or "none".
	Closed string
	// Label is the end that the result has: "left", which "" is, or "right".
	Label string
}

func (h Hop) isZero() bool { return h == Hop{} }

// hopping is windows that may overlap as expressions.
type hopping struct {
	windowing
	// most is the number of windows that a row can be in, and contains reports whether it is in one.
	most     int64
	contains func(at, begin expr.Expr) expr.Expr
}

// mostHops is the most windows that a row can be in.
const mostHops = 1 << 16

// windows returns the windows of a step with the ends of the hop.
func (h Hop) windows(t arrow.DataType, every any, w windowing) (hopping, error) {
	low, high := expr.Expr.Ge, expr.Expr.Lt
	switch h.Closed {
	case "", "left":
	case "right":
		low, high = expr.Expr.Gt, expr.Expr.Le
	case "both":
		high = expr.Expr.Le
	case "none":
		low = expr.Expr.Gt
	default:
		return hopping{}, fmt.Errorf("closed %q, expected left, right, both or none: %w", h.Closed, device.ErrInvalidValue)
	}
	if h.Label != "" && h.Label != "left" && h.Label != "right" {
		return hopping{}, fmt.Errorf("label %q, expected left or right: %w", h.Label, device.ErrInvalidValue)
	}
	if h.Span == nil {
		h.Span = every
	}
	if c, ok := every.(Calendar); ok {
		return h.ofCalendar(t, c, w, low, high)
	}
	if t.ID() == arrow.UINT64 {
		return hopping{}, fmt.Errorf("windows that overlap of %v: cast it to int64: %w", t, device.ErrNotSupported)
	}
	step, err := stepOf(t, every)
	if err != nil {
		return hopping{}, err
	}
	span, err := stepOf(t, h.Span)
	if err != nil {
		return hopping{}, err
	}
	offset, err := offsetOf(t, h.Offset)
	if err != nil {
		return hopping{}, err
	}
	begin, literal := w.begin, func(n int64) expr.Expr { return expr.Lit(n) }
	units := func(at expr.Expr) expr.Expr { return at.Cast(arrow.PrimitiveTypes.Int64).Sub(literal(offset)) }
	w.begin = func(at expr.Expr) expr.Expr { return begin(units(at)) }
	w.result = func(begin expr.Expr) expr.Expr {
		shift := offset
		if h.Label == "right" {
			shift += span
		}
		return begin.Mul(literal(step)).Add(literal(shift)).Cast(t)
	}
	contains := func(at, begin expr.Expr) expr.Expr {
		from := begin.Mul(literal(step))
		return low(units(at), from).And(high(units(at), from.Add(literal(span))))
	}
	return hopping{w, (span-1)/step + 1, contains}, nil
}

// ofCalendar returns windows of days or of months.
func (h Hop) ofCalendar(t arrow.DataType, every Calendar, w windowing, low, high func(x, y expr.Expr) expr.Expr) (hopping, error) {
	span, ok := h.Span.(Calendar)
	days, months := every.length()
	spanDays, spanMonths := span.length()
	if !ok || span.Number < 1 || (days > 0) != (spanDays > 0) || h.Offset != nil {
		return hopping{}, fmt.Errorf("a span of %v of windows of %v, expected days and weeks of days and weeks, or months, quarters and years of these, without an offset: %w", h.Span, every, device.ErrInvalidValue)
	}
	zone := every.Zone
	if stamp, isStamp := t.(*arrow.TimestampType); isStamp && zone == "" && stamp.TimeZone != "UTC" {
		zone = stamp.TimeZone
	}
	end := func(begin expr.Expr) expr.Expr {
		if months > 0 {
			return begin.AddMonths(expr.Lit(spanMonths))
		}
		return begin.AddDays(expr.Lit(spanDays))
	}
	result := w.result
	if h.Label == "right" {
		w.result = func(begin expr.Expr) expr.Expr { return result(end(begin)) }
	}
	contains := func(at, begin expr.Expr) expr.Expr {
		if zone != "" {
			at = timezone.Local(at, zone)
		}
		return low(at, begin).And(high(at, end(begin)))
	}
	return hopping{w, int64((max(spanDays, spanMonths)-1)/max(days, months) + 1), contains}, nil
}

// length returns the days or the months of a calendar.
func (c Calendar) length() (days, months int) {
	for _, u := range calendarUnits {
		if u.name == c.Unit {
			return u.days * c.Number, u.months * c.Number
		}
	}
	return 0, 0
}

// offsetOf returns an offset in the units of a type.
func offsetOf(t arrow.DataType, offset any) (int64, error) {
	switch number := reflect.ValueOf(offset); {
	case offset == nil:
		return 0, nil
	case number.CanInt() && number.Int() == 0:
		return 0, nil
	case number.CanInt() && number.Int() < 0:
		var opposite any = -number.Int()
		if span, ok := offset.(time.Duration); ok {
			opposite = -span
		}
		units, err := stepOf(t, opposite)
		return -units, err
	}
	return stepOf(t, offset)
}

// hops repeats rows for the windows that they are in, and returns the beginnings of these.
func (b *binder) hops(input plan.Node, at expr.Expr, h hopping) (plan.Node, expr.Expr, error) {
	if h.most > mostHops {
		return nil, at, fmt.Errorf("each row is in %d windows, the most are %d: %w", h.most, mostHops, device.ErrInvalidValue)
	}
	hop := plan.Computed("hop")
	steps := nested.Sequence(expr.If(at.IsValid(), expr.Lit(h.most+1), expr.Lit(int64(0)))) // one more for closed ends
	n, err := node(plan.NewProject(input, append(columnsNamed(names(input.Schema())), steps.As(hop))...))
	if err != nil {
		return nil, at, err
	}
	if n, err = node(plan.NewExplode(n, []string{hop}, nested.ExplodeOptions{DropEmpty: true})); err != nil {
		return nil, at, err
	}
	begin := h.moved(h.begin(at), expr.Col(hop).Neg())
	n, err = node(plan.NewFilter(n, h.contains(at, begin)))
	return n, begin, err
}
