package text

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
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
	format, err := timeFormat(f.format)
	if err != nil {
		return nil, err
	}
	unit := exprtree.UnitOf(operands[0].Type())
	formatting := formatting{
		file: "times", kernel: "format_times", nulled: true, table: formatBytes(format),
		arguments: func(in nulls, values column.Bytes, table memory.Slice[uint8]) []any {
			l := timesLayout{values: values, valid: in.valid, bit: uint64(in.bit), counted: in.counted, rows: int64(in.rows), capacity: uint64(in.column.Len()), unit: unit}
			return []any{l.asArgument(), formatArgument(format, table)}
		},
		host: func(to, values []byte, row int) ([]byte, bool) {
			at := timeOf(values, row, unit)
			if at.Year() < 0 || at.Year() > 9999 {
				return to, false
			}
			for _, d := range format {
				to = d.append(to, at)
			}
			return to, true
		},
	}
	return formatting.run(ctx, operands[0], options)
}

// formatArgument is the argument Format of times.cu.
func formatArgument(format []directive, table memory.Slice[uint8]) any {
	l := formatLayout{directives: table, count: uint32(len(format))}
	return l.asArgument()
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
