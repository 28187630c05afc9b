package gpuframe

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/chart"
)

// mostRanges is the greatest number of ranges of a histogram.
const mostRanges = 1000

// Histogram is the number of rows in ranges of one width of a column of numbers.
type Histogram struct {
	Column string
	// Begin is the beginning of the first range, and Step the width of each.
	Begin, Step float64
	// Rows are the rows of each range. It is empty if the column has no finite number.
	Rows []int64
}

// String draws the ranges as blocks of a height in proportion to their rows: "▁▂█▃".
func (h Histogram) String() string {
	const blocks = "▁▂▃▄▅▆▇█"
	most := int64(1)
	for _, n := range h.Rows {
		most = max(most, n)
	}
	var text strings.Builder
	for _, n := range h.Rows {
		if n == 0 {
			text.WriteByte(' ')
			continue
		}
		text.WriteRune([]rune(blocks)[int(float64(n)/float64(most)*7+0.5)])
	}
	return text.String()
}

// Histograms counts the rows in about n ranges of each column of numbers, in the order of the columns. The ranges have
// round ends. Null, NaN and infinite values are left out. It runs the query once for the ends of the ranges, and once
// to count, in which it may read the sources for each column. A profile is that of the second run.
//
// # Errors
//
// Those of [Query.Collect]; device.ErrInvalidValue if n is not from 1 to 1,000.
func (q Query) Histograms(ctx context.Context, n int, options ...RunOption) ([]Histogram, error) {
	schema, err := q.Schema(ctx)
	if err != nil {
		return nil, err
	}
	var columns []string
	for _, f := range schema.Fields() {
		if isNumber(f.Type) {
			columns = append(columns, f.Name)
		}
	}
	return q.histograms(ctx, columns, n, options)
}

// histogram is the histogram of one column.
func (q Query) histogram(ctx context.Context, column string, n int) (Histogram, error) {
	field, err := q.Select(column).Schema(ctx)
	if err != nil {
		return Histogram{}, err
	}
	if t := field.Field(0).Type; !isNumber(t) {
		return Histogram{}, fmt.Errorf("gpuframe: histogram: column %q is %v, expected numbers: %w", column, t, device.ErrInvalidValue)
	}
	list, err := q.histograms(ctx, []string{column}, n, nil)
	if err != nil {
		return Histogram{}, err
	}
	return list[0], nil
}

func (q Query) histograms(ctx context.Context, columns []string, n int, options []RunOption) ([]Histogram, error) {
	if n < 1 || n > mostRanges {
		return nil, fmt.Errorf("gpuframe: histogram: %d ranges, expected 1 to %d: %w", n, mostRanges, device.ErrInvalidValue)
	}
	if len(columns) == 0 {
		return nil, nil
	}
	ends, err := q.endsOf(ctx, columns, options)
	if err != nil {
		return nil, err
	}
	list, bins, names := make([]Histogram, len(columns)), make([]Key, len(columns)), make([]string, len(columns))
	for i, column := range columns {
		list[i], names[i] = rangesOf(column, ends[i][0], ends[i][1], n), fmt.Sprint(i)
		bins[i] = list[i].bin().As(names[i])
	}
	counts := q.Select(bins...).Unpivot(names).DropNulls("value").GroupBy("variable", "value").Agg(Count().As("rows"))
	record, err := recordOf(ctx, counts.Select(Col("variable").Cast(arrow.PrimitiveTypes.Int64), "value", "rows"), options...)
	if err != nil {
		return nil, err
	}
	defer record.Release()
	column, bin, rows := record.Column(0).(*array.Int64), record.Column(1).(*array.Int64), record.Column(2).(*array.Int64)
	for i := range rows.Len() {
		list[column.Value(i)].Rows[bin.Value(i)] = rows.Value(i)
	}
	return list, nil
}

// endsOf returns the least and the greatest finite value of columns. They are NaN for a column without one.
func (q Query) endsOf(ctx context.Context, columns []string, options []RunOption) ([][2]float64, error) {
	var list []Key
	for i, column := range columns {
		x := finite(column)
		list = append(list, x.Min().As(fmt.Sprint(i, " least")), x.Max().As(fmt.Sprint(i, " greatest")))
	}
	unprofiled := slices.DeleteFunc(slices.Clone(options), func(o RunOption) bool { return o.name == "Profiled" })
	record, err := recordOf(ctx, q.Select(list...), unprofiled...)
	if err != nil {
		return nil, err
	}
	defer record.Release()
	ends := make([][2]float64, len(columns))
	for i := range record.NumCols() {
		values := record.Column(int(i)).(*array.Float64)
		ends[i/2][i%2] = numberOr(values.IsNull(0), values.Value(0))
	}
	return ends, nil
}

// finite is a column of numbers as float64, with null for NaN and infinite values.
func finite(column string) Expr {
	x := Col(column).Cast(arrow.PrimitiveTypes.Float64)
	return If(x.Between(-math.MaxFloat64, math.MaxFloat64), x, LitOf(arrow.PrimitiveTypes.Float64, nil))
}

// rangesOf returns ranges with round ends that contain both values.
func rangesOf(column string, least, greatest float64, n int) Histogram {
	h := Histogram{Column: column}
	if math.IsNaN(least) {
		return h
	}
	h.Step = chart.NiceStep(greatest-least, n)
	h.Begin = math.Floor(least/h.Step) * h.Step
	number := math.Floor((greatest-h.Begin)/h.Step) + 1
	if !(number >= 1 && number <= float64(2*n+2)) { // the values are too close or too far apart for round ends
		span := math.Min(math.Max(greatest-least, math.SmallestNonzeroFloat64), math.MaxFloat64)
		h.Begin, h.Step, number = least, span, 1
	}
	h.Rows = make([]int64, int(number))
	return h
}

// bin is the number of the range of each row, and null for one that is in none.
func (h *Histogram) bin() Expr {
	if len(h.Rows) == 0 { // also if the source has numbers when it is read again
		return LitOf(arrow.PrimitiveTypes.Int64, nil)
	}
	last := len(h.Rows) - 1
	number := finite(h.Column).Sub(h.Begin).Div(h.Step).Floor()
	return number.Clamp(0.0, float64(last)).Cast(arrow.PrimitiveTypes.Int64) // rounding may move a value behind the end
}
