package gpuframe

import (
	"context"

	"github.com/gpuframe/gpuframe/internal/chart"
)

// Chart is a picture of columns of a frame, which [Frame.Chart] begins. It is immutable: each method returns another
// one, and nothing is read before [Chart.Read], [Chart.VegaLite], [Chart.SVG] or [Chart.HTML], which report all errors.
// It does not hold the frame: the frame must not be released before.
//
//	html, err := byDay.Chart().Line("day", "mean").Colour("origin").HTML(ctx)
//
// A column of numbers, of dates and timestamps, or of others as texts is an axis. Rows with a null or infinite value
// on an axis are left out. At most 10,000 rows are drawn; more are an error, except in a histogram.
type Chart struct {
	frame  *Frame
	chart  chart.Chart
	isRead bool
}

// Chart begins a chart of the frame.
func (f *Frame) Chart() Chart { return Chart{frame: f} }

// Line draws a line through the rows in the order of x, for each colour.
func (c Chart) Line(x, y string) Chart { return c.with(chart.Line, x, y) }

// Bar draws a bar for each row. Bars with equal x are above each other.
func (c Chart) Bar(x, y string) Chart { return c.with(chart.Bar, x, y) }

// Points draws a point for each row.
func (c Chart) Points(x, y string) Chart { return c.with(chart.Point, x, y) }

// Histogram draws the number of rows in about 20 ranges of a column of numbers. It has no colours. The rows are
// counted on the device.
func (c Chart) Histogram(x string) Chart { return c.with(chart.Histogram, x, "rows") }

func (c Chart) with(mark chart.Mark, x, y string) Chart {
	c.chart.Mark, c.chart.X.Name, c.chart.Y.Name, c.isRead = mark, x, y, false
	return c
}

// Colour gives each value of a column, as text, one colour.
func (c Chart) Colour(column string) Chart {
	c.chart.Colour.Name, c.isRead = column, false
	return c
}

// Title writes a text above the chart.
func (c Chart) Title(text string) Chart {
	c.chart.Title = text
	return c
}

// Size is the size in pixels. Without it, it is 640 by 360. A negative one is the same.
func (c Chart) Size(width, height int) Chart {
	c.chart.Width, c.chart.Height = width, height
	return c
}

// Read returns the chart with its rows, which several forms of it then share. A chart with another mark or colour reads
// again. Its errors are those of [Chart.VegaLite].
func (c Chart) Read(ctx context.Context) (Chart, error) {
	err := c.read(ctx)
	return c, err
}

// VegaLite returns the chart with its data as a specification of Vega-Lite 5 in JSON. Its errors are those of a query
// on the frame, and device.ErrInvalidValue for columns that the chart cannot have.
func (c Chart) VegaLite(ctx context.Context) ([]byte, error) {
	if err := c.read(ctx); err != nil {
		return nil, err
	}
	return c.chart.VegaLite()
}

// SVG returns a drawing without scripts and links. Its errors are those of [Chart.VegaLite].
func (c Chart) SVG(ctx context.Context) (string, error) {
	if err := c.read(ctx); err != nil {
		return "", err
	}
	return c.chart.SVG(), nil
}

// HTML returns a page that loads nothing from elsewhere: the drawing of [Chart.SVG] and the specification of
// [Chart.VegaLite]. Its errors are those of [Chart.VegaLite].
func (c Chart) HTML(ctx context.Context) (string, error) {
	if err := c.read(ctx); err != nil {
		return "", err
	}
	return c.chart.HTML()
}
