package text

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// FormatTime is a date or timestamp as text. The format has directives as strftime of C:
//
//	%Y  year, 0000 to 9999        %y  its last two digits       %G  ISO year
//	%m  month, 01 to 12           %B  its English name          %b  three letters of it
//	%d  day of the month, 01      %j  day of the year, 001      %V  ISO week, 01 to 53
//	%A  English weekday           %a  three letters of it       %u  its number, Monday is 1
//	%H  hour, 00 to 23            %I  hour, 01 to 12            %p  AM or PM
//	%M  minute                    %S  second                    %z  +0000
//	%L  milliseconds              %f  microseconds              %N  nanoseconds
//	%F  %Y-%m-%d                  %T  %H:%M:%S                  %%  a percent sign
//
// It is null for years beyond 0 to 9999. Timestamps have the parts in UTC; one of another
// time zone is refused, as by expr.Expr.Year.
func FormatTime(e expr.Expr, format string) expr.Expr { return expr.Apply(formatTime{format}, e) }

type formatTime struct{ format string }

// Name implements expr.Operator.
func (f formatTime) Name() string { return fmt.Sprintf("format_time[%q]", f.format) }

// Result implements expr.Operator.
func (f formatTime) Result(operands []arrow.DataType) (arrow.DataType, error) {
	_, err := timeFormat(f.format)
	if err != nil {
		return nil, err
	}
	switch t := operands[0].(type) {
	case *arrow.Date32Type, *arrow.Date64Type:
		return arrow.BinaryTypes.String, nil
	case *arrow.TimestampType:
		if t.TimeZone != "" && t.TimeZone != "UTC" {
			return nil, fmt.Errorf("%v: its parts are those of UTC, take the local time of a zone for others: %w", t, expr.ErrType)
		}
		return arrow.BinaryTypes.String, nil
	}
	return nil, fmt.Errorf("%v is no date or timestamp: %w", operands[0], expr.ErrType)
}

// Run implements expr.Operator.
func (f formatTime) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	operand := operands[0]
	format, err := timeFormat(f.format)
	if err != nil {
		return nil, err
	}
	call, err := op.Begin(ctx, options, operand)
	if err != nil {
		return nil, err
	}
	if operand.Len() == 0 {
		return empty(&call, operand, arrow.BinaryTypes.String)
	}
	n, err := nullsOf(&call, operand)
	if err != nil {
		return nil, err
	}
	m, err := newMaker(n, arrow.BinaryTypes.String)
	if err != nil {
		return nil, err
	}
	m.nulled = true
	values, err := valuesOf(operand)
	if err != nil {
		return nil, err
	}
	unit := exprtree.UnitOf(operand.Type())
	if call.OnHost() {
		bytes, err := values.Host()
		if err != nil {
			return nil, err
		}
		return m.onHost(&call, func(to []byte, _, row int) ([]byte, bool) {
			at := timeOf(bytes, row, unit)
			if at.Year() < 0 || at.Year() > 9999 {
				return to, false
			}
			for _, d := range format {
				to = d.append(to, at)
			}
			return to, true
		})
	}
	block, directives, err := uploadFormat(&call, format)
	if err != nil {
		return nil, err
	}
	l := timesLayout{values: values, valid: n.valid, bit: uint64(n.bit), counted: n.counted, rows: int64(n.rows), capacity: uint64(operand.Len()), unit: unit}
	times := l.asArgument()
	none, noEnds := memory.Slice[uint8]{}, memory.Slice[int64]{}
	formatted, err := m.measuredWithNulls(&call, func(lengths, valid memory.Slice[uint8]) error {
		return launchRows(&call, "times", "format_times", operand.Len(), none, noEnds, lengths, valid, times, directives)
	}, func(to memory.Slice[uint8], ends memory.Slice[int64]) error {
		return launchRows(&call, "times", "format_times", operand.Len(), to, ends, none, none, times, directives)
	})
	return release.OnError(formatted, err, block.Release())
}

// valuesOf is the memory of the values of a column of a fixed width.
func valuesOf(c *column.Column) (column.Bytes, error) {
	format, err := layout.Of(c.Type())
	if err != nil {
		return column.Bytes{}, err
	}
	return c.Buffer(1).Slice(c.Offset()*format.Width, (c.Offset()+c.Len())*format.Width)
}

// uploadFormat copies a format to the device and returns the argument Format of times.cu. The
// caller releases the block.
func uploadFormat(call *op.Call, format []directive) (*memory.Block, any, error) {
	bytes := formatBytes(format)
	block, scratch, err := call.Scratch(uint64(len(bytes)))
	if err != nil {
		return nil, nil, err
	}
	if len(bytes) > 0 {
		if err := scratch[0].Upload(call.Context(), call.Stream, bytes); err != nil {
			return nil, nil, errors.Join(err, block.Release())
		}
	}
	l := formatLayout{directives: scratch[0], count: uint32(len(format))}
	return block, l.asArgument(), nil
}

// timeOf is a value on the host as a time. Days are the unit 0.
func timeOf(values []byte, row int, unit int64) time.Time {
	const day = 86_400
	if unit == 0 {
		return time.Unix(int64(op.Elements[int32](values)[row])*day, 0).UTC()
	}
	value := op.Elements[int64](values)[row]
	second := value / unit
	if value%unit < 0 {
		second--
	}
	if limit := int64(1) << 40; second < -limit || second > limit { // package time has no such years
		second = limit
	}
	return time.Unix(second, (value-value/unit*unit+unit)%unit*(int64(time.Second)/unit)).UTC()
}

// append writes a part of a time on the host.
func (d directive) append(to []byte, at time.Time) []byte {
	switch d {
	case yearNumber:
		return at.AppendFormat(to, "2006")
	case yearOfCentury:
		return at.AppendFormat(to, "06")
	case monthNumber:
		return at.AppendFormat(to, "01")
	case dayOfMonth:
		return at.AppendFormat(to, "02")
	case dayOfYear:
		return at.AppendFormat(to, "002")
	case hourNumber:
		return at.AppendFormat(to, "15")
	case hourOfHalf:
		return at.AppendFormat(to, "03")
	case minuteNumber:
		return at.AppendFormat(to, "04")
	case secondNumber:
		return at.AppendFormat(to, "05")
	case microseconds:
		return fmt.Appendf(to, "%06d", at.Nanosecond()/1000)
	case milliseconds:
		return fmt.Appendf(to, "%03d", at.Nanosecond()/1_000_000)
	case nanoseconds:
		return fmt.Appendf(to, "%09d", at.Nanosecond())
	case halfOfDay:
		return at.AppendFormat(to, "PM")
	case monthName:
		return at.AppendFormat(to, "January")
	case monthShort:
		return at.AppendFormat(to, "Jan")
	case weekdayName:
		return at.AppendFormat(to, "Monday")
	case weekdayShort:
		return at.AppendFormat(to, "Mon")
	case weekdayNumber:
		return fmt.Appendf(to, "%d", (at.Weekday()+6)%7+1)
	case isoWeek:
		_, week := at.ISOWeek()
		return fmt.Appendf(to, "%02d", week)
	case isoYear:
		year, _ := at.ISOWeek()
		return fmt.Appendf(to, "%04d", year)
	case zoneOffset:
		return append(to, "+0000"...)
	}
	return append(to, byte(d))
}
