//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #include <stdint.h>
import "C"

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
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

// gpuframe_table_chart answers with a chart of a table: its specification of Vega-Lite, a drawing and a page. The
// request is JSON.
//
//export gpuframe_table_chart
func gpuframe_table_chart(h C.uint64_t, request *C.char, answer **C.char) *C.char {
	return withTable(h, func(b *buffer.Buffer) error {
		var r chartRequest
		if err := decode(request, &r); err != nil {
			return err
		}
		engine, err := engineOf(b.Manager())
		if err != nil {
			return err
		}
		ctx := context.Background()
		frame, err := engine.Table(b).Collect(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = frame.Release() }() // memory of the table
		chart, err := r.draw(frame.Chart())
		if err != nil {
			return err
		}
		if chart, err = chart.Read(ctx); err != nil {
			return err
		}
		a := chartAnswer{}
		if a.Spec, err = chart.VegaLite(ctx); err == nil {
			a.SVG, err = chart.SVG(ctx)
		}
		if err == nil {
			a.HTML, err = chart.HTML(ctx)
		}
		*answer = encoded(a)
		return err
	})
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
