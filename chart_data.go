package gpuframe

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/chart"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

const (
	// mostDrawn is the number of rows that a chart has at most.
	mostDrawn = 10_000
	// about is the number of ranges of a histogram.
	about = 20
)

// read reads the columns of the chart, once.
func (c *Chart) read(ctx context.Context) error {
	if c.isRead {
		return nil
	}
	x, y, colour := c.chart.X.Name, c.chart.Y.Name, c.chart.Colour.Name
	c.chart.X, c.chart.Y, c.chart.Colour = chart.Values{Name: x}, chart.Values{Name: y}, chart.Values{Name: colour}
	err := c.readColumns(ctx)
	c.isRead = err == nil
	return err
}

func (c *Chart) readColumns(ctx context.Context) error {
	switch {
	case c.frame == nil:
		return fmt.Errorf("gpuframe: chart: the zero chart has no frame: %w", device.ErrInvalidValue)
	case c.chart.Mark == "":
		return fmt.Errorf("gpuframe: chart: it has no columns: choose a line, bars, points or a histogram: %w", device.ErrInvalidValue)
	}
	names := []string{c.chart.X.Name}
	if c.chart.Mark != chart.Histogram {
		names = append(names, c.chart.Y.Name)
	}
	if c.chart.Colour.Name != "" {
		names = append(names, c.chart.Colour.Name)
	}
	schema := c.frame.Schema()
	for _, name := range names {
		if _, _, err := expr.Col(name).Type(schema); err != nil {
			return &QueryError{[]Problem{{Verb: "Chart", Err: plan.ReadableError(err)}}}
		}
	}
	switch {
	case c.chart.Mark == chart.Histogram:
		return c.count(ctx)
	case c.frame.NumRows() > mostDrawn:
		return fmt.Errorf("gpuframe: chart: the frame has %d rows, at most %d are drawn: group them, or take a sample: %w", c.frame.NumRows(), mostDrawn, device.ErrInvalidValue)
	}
	var columns []Key
	for i, name := range names {
		field := schema.Field(schema.FieldIndices(name)[0])
		column, kind := drawable(field, i == 2)
		switch {
		case kind == "":
			return fmt.Errorf("gpuframe: chart: column %q is %v, expected numbers, times or texts: %w", name, field.Type, device.ErrInvalidValue)
		case i == 1 && kind != chart.Number:
			return fmt.Errorf("gpuframe: chart: column %q of the vertical axis is %v, expected numbers: %w", name, field.Type, device.ErrInvalidValue)
		}
		columns = append(columns, column.As(fmt.Sprint("column ", i)))
		[]*chart.Values{&c.chart.X, &c.chart.Y, &c.chart.Colour}[i].Kind = kind
	}
	record, err := recordOf(ctx, c.frame.Query().Select(columns...))
	if err != nil {
		return err
	}
	defer record.Release()
	c.chart.X.Numbers, c.chart.X.Texts = drawn(record.Column(0), c.chart.X.Kind)
	c.chart.Y.Numbers, c.chart.Y.Texts = drawn(record.Column(1), c.chart.Y.Kind)
	if c.chart.Colour.Name != "" {
		_, c.chart.Colour.Texts = drawn(record.Column(2), chart.Text)
	}
	return nil
}

// recordOf runs a query and returns its rows. The caller releases them.
func recordOf(ctx context.Context, q Query, options ...RunOption) (arrow.Record, error) {
	frame, err := q.Collect(ctx, options...)
	if err != nil {
		return nil, err
	}
	record, err := frame.take(ctx)
	return record, queryError(err)
}

// drawable returns the column of an axis, and the kind of the axis, which is empty for a type that no axis has.
func drawable(f arrow.Field, asText bool) (Expr, chart.Kind) {
	t := f.Type
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.ValueType
	}
	column := Col(f.Name)
	switch {
	case asText && (isNumber(t) || t.ID() == arrow.BOOL):
		return column, chart.Text
	case isNumber(t):
		return column.Cast(arrow.PrimitiveTypes.Float64), chart.Number
	}
	switch t := t.(type) {
	case *arrow.TimestampType:
		if asText {
			return column, chart.Text
		}
		return column.Cast(&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: t.TimeZone}), chart.Time
	case *arrow.Date32Type, *arrow.Date64Type:
		if asText {
			return column, chart.Text
		}
		return column.Cast(&arrow.TimestampType{Unit: arrow.Millisecond}), chart.Time
	case *arrow.StringType, *arrow.LargeStringType, *arrow.BooleanType:
		return column, chart.Text
	}
	return Expr{}, ""
}

// drawn returns the values of a column as numbers or as texts.
func drawn(values arrow.Array, kind chart.Kind) (numbers []float64, texts []string) {
	for i := range values.Len() {
		switch v := values.(type) {
		case *array.Float64:
			if kind == chart.Number {
				numbers = append(numbers, numberOr(v.IsNull(i), v.Value(i)))
				continue
			}
		case *array.Timestamp:
			if kind == chart.Time {
				numbers = append(numbers, numberOr(v.IsNull(i), float64(v.Value(i))))
				continue
			}
		}
		text := ""
		if values.IsValid(i) {
			text = values.ValueStr(i)
		}
		texts = append(texts, text)
	}
	return numbers, texts
}

// numberOr is a number, or NaN for null.
func numberOr(null bool, value float64) float64 {
	if null {
		return math.NaN()
	}
	return value
}

// count makes the rows of a histogram.
func (c *Chart) count(ctx context.Context) error {
	if c.chart.Colour.Name != "" {
		return fmt.Errorf("gpuframe: chart: a histogram has no colours: leave out their column: %w", device.ErrInvalidValue)
	}
	bins, err := c.frame.Query().histogram(ctx, c.chart.X.Name, about)
	if err != nil {
		return err
	}
	c.chart.X.Kind, c.chart.Y.Kind, c.chart.Step = chart.Number, chart.Number, bins.Step
	for i, n := range bins.Rows {
		c.chart.X.Numbers = append(c.chart.X.Numbers, bins.Begin+float64(i)*bins.Step)
		c.chart.Y.Numbers = append(c.chart.Y.Numbers, float64(n))
	}
	return nil
}
