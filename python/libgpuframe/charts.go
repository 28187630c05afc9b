//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gpuframe/gpuframe"
)

// chartRequest are the options of a chart of a table.
type chartRequest struct {
	Mark   string `json:"mark"`
	X      string `json:"x"`
	Y      string `json:"y"`
	Colour string `json:"color"`
	Title  string `json:"title"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

// chartAnswer has the forms of a chart.
type chartAnswer struct {
	Spec json.RawMessage `json:"spec"`
	SVG  string          `json:"svg"`
	HTML string          `json:"html"`
}

// chart answers with a chart of the rows of a query: its specification of Vega-Lite, a drawing and a page.
func chart(ctx context.Context, o operation, q gpuframe.Query, r *run, options []gpuframe.RunOption) error {
	frame, err := q.Collect(ctx, options...)
	if err != nil {
		return err
	}
	defer func() { _ = frame.Release() }() // memory of the table
	drawn, err := o.Chart.draw(frame.Chart())
	if err != nil {
		return err
	}
	if drawn, err = drawn.Read(ctx); err != nil {
		return err
	}
	a := &chartAnswer{}
	if a.Spec, err = drawn.VegaLite(ctx); err != nil {
		return err
	}
	if a.SVG, err = drawn.SVG(ctx); err != nil {
		return err
	}
	a.HTML, err = drawn.HTML(ctx)
	r.answer.Chart = a
	return err
}

// draw returns the chart of a request.
func (r chartRequest) draw(chart gpuframe.Chart) (gpuframe.Chart, error) {
	switch r.Mark {
	case "line":
		chart = chart.Line(r.X, r.Y)
	case "bar":
		chart = chart.Bar(r.X, r.Y)
	case "points":
		chart = chart.Points(r.X, r.Y)
	case "histogram":
		chart = chart.Histogram(r.X)
	default:
		return chart, fmt.Errorf("no chart is called %q: %w", r.Mark, errArgument)
	}
	if r.Colour != "" {
		chart = chart.Colour(r.Colour)
	}
	return chart.Title(r.Title).Size(r.Width, r.Height), nil
}
