package text

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// FormatDuration is a duration as text of a form:
//
//	"iso8601"   P1DT2H3M4.5S, PT0S, -PT1M: days have 24 hours
//	"go"        26h3m4.5s, 0s, -1m0s: as time.Duration's String
//	"clock"     26:03:04.5, 00:00:00, -00:01:00: hours have two digits or more
//
// Fractions of a second have no zeros at the end.
func FormatDuration(e expr.Expr, form string) expr.Expr {
	return expr.Apply(formatDuration{form}, e)
}

// ParseDuration is the duration that a string has in a form, or null:
//
//	"iso8601"   weeks, days, hours, minutes and seconds, each at most once and in this order;
//	            the last number may have a fraction; years and months have no fixed length and
//	            are null
//	"go"        what time.ParseDuration reads
//	"clock"     hours of any number of digits, and two digits of minutes and of seconds below
//	            60, perhaps with a fraction
//
// All may begin with a sign. Digits beyond the unit of the type, and those after the ninth of
// a fraction, are cut off. It is null for other strings, and for durations that the type does
// not hold.
func ParseDuration(e expr.Expr, form string, to arrow.DataType) expr.Expr {
	return expr.Apply(parseDuration{form, to}, e)
}

type formatDuration struct{ form string }

// Name implements expr.Operator.
func (f formatDuration) Name() string { return fmt.Sprintf("format_duration[%q]", f.form) }

// Result implements expr.Operator.
func (f formatDuration) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if layout.Storage(operands[0]).ID() != arrow.DURATION {
		return nil, fmt.Errorf("%v is no duration: %w", operands[0], expr.ErrType)
	}
	_, err := durationFormOf(f.form)
	return arrow.BinaryTypes.String, err
}

// Run implements expr.Operator.
func (f formatDuration) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	form, err := durationFormOf(f.form)
	if err != nil {
		return nil, err
	}
	unit := uint64(exprtree.UnitOf(layout.Storage(operands[0].Type())))
	formatting := formatting{
		file: "durations", kernel: "format_durations",
		arguments: func(in nulls, values column.Bytes, _ memory.Slice[uint8]) []any {
			l := durationsLayout{values: values, valid: in.valid, bit: uint64(in.bit), counted: in.counted, rows: int64(in.rows), capacity: uint64(in.column.Len()), unit: unit}
			return []any{l.asArgument(), uint32(form)}
		},
		host: func(to, values []byte, row int) ([]byte, bool) {
			return appendDuration(to, op.Elements[int64](values)[row], unit, form), true
		},
	}
	return formatting.run(ctx, operands[0], options)
}

type parseDuration struct {
	form string
	to   arrow.DataType
}

// Name implements expr.Operator.
func (p parseDuration) Name() string { return fmt.Sprintf("parse_duration[%q, %v]", p.form, p.to) }

// Result implements expr.Operator.
func (p parseDuration) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if _, err := plain(operands[0]); err != nil {
		return nil, err
	}
	if p.to == nil || p.to.ID() != arrow.DURATION {
		return nil, fmt.Errorf("the result is %v, expected a duration: %w", p.to, expr.ErrType)
	}
	_, err := durationFormOf(p.form)
	return p.to, err
}

// Run implements expr.Operator.
func (p parseDuration) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	form, err := durationFormOf(p.form)
	if err != nil {
		return nil, err
	}
	unit := uint64(exprtree.UnitOf(p.to))
	parsing := parsing{
		file: "durations", kernel: "parse_durations", result: p.to,
		arguments: func(memory.Slice[uint8]) []any { return []any{unit, uint32(form)} },
		host:      func(text string) (int64, bool) { return parsedDuration(text, unit, form) },
	}
	return perValue(ctx, operands[0], options, parsing.run)
}
