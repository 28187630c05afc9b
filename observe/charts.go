package observe

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gpuframe/gpuframe"
)

// Chart is a chart of the program's own data on the page of [Recorder.Handler].
type Chart struct {
	// Title is the heading of the chart.
	Title string
	// Draw returns the chart. It runs when a page is open, one call at a time, and must end with its context. The rows
	// are then read, if the chart has not read them. A chart that has ([gpuframe.Chart.Read]) needs no frame, so that
	// Draw can release it:
	//
	//	frame, err := byDay.Collect(ctx)
	//	if err != nil {
	//		return gpuframe.Chart{}, err
	//	}
	//	defer frame.Release()
	//	return frame.Chart().Line("day", "mean").Read(ctx)
	//
	// The size of the chart is that of its place on the page. An error stands in this place.
	Draw func(ctx context.Context) (gpuframe.Chart, error)
	// Interval is the time between two drawings. Zero means a minute.
	Interval time.Duration
}

// ChartTitle is a chart of the page in a [Snapshot].
type ChartTitle struct {
	Title string `json:"title"`
	// Seconds is the time between two drawings.
	Seconds float64 `json:"seconds"`
}

// chartCache holds the rows of a chart for all readers of an interval.
type chartCache struct {
	Chart
	// readers wait for the rows: those of a slow chart do not keep readers of others out.
	readers slots
	// turn has a value while the rows are read.
	turn   chan struct{}
	readAt time.Time
	rows   gpuframe.Chart
	err    error
}

func newChartCaches(charts []Chart) (caches []*chartCache) {
	for _, each := range charts {
		if each.Draw == nil {
			continue
		}
		if each.Interval <= 0 {
			each.Interval = time.Minute
		}
		caches = append(caches, &chartCache{Chart: each, turn: make(chan struct{}, 1)})
	}
	return caches
}

// read returns the chart with rows that are at most half an interval old. A reader that leaves ends the reading, and the
// next one begins it again.
func (c *chartCache) read(ctx context.Context) (gpuframe.Chart, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return gpuframe.Chart{}, ctx.Err()
	}
	if !c.readAt.IsZero() && time.Since(c.readAt) < c.Interval/2 {
		return c.rows, c.err
	}
	rows, err := c.Draw(ctx)
	if err == nil {
		rows, err = rows.Read(ctx)
	}
	if ctx.Err() == nil {
		c.readAt, c.rows, c.err = time.Now(), rows, err
	}
	return rows, err
}

func (h *handler) chartTitles() []ChartTitle {
	titles := []ChartTitle{}
	for _, each := range h.charts {
		titles = append(titles, ChartTitle{each.Title, each.Interval.Seconds()})
	}
	return titles
}

// chart serves a chart in a form: a kind of contents, and a function that writes it.
func (h *handler) chart(kind string, form func(context.Context, gpuframe.Chart, *http.Request) ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		number, err := strconv.Atoi(request.PathValue("number"))
		if err != nil || number < 0 || number >= len(h.charts) {
			http.Error(w, fmt.Sprintf("observe: there is no chart %q: HandlerOptions.Charts has %d", request.PathValue("number"), len(h.charts)), http.StatusNotFound)
			return
		}
		chart := h.charts[number]
		if !chart.readers.take() {
			tooMany(w, "charts")
			return
		}
		defer chart.readers.give()
		var text []byte
		rows, err := chart.read(request.Context())
		if err == nil {
			text, err = form(request.Context(), rows, request)
		}
		if err != nil {
			http.Error(w, fmt.Sprintf("observe: draw chart %q: %v", chart.Title, err), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(text)
	}
}

// Widths of drawings, in pixels.
const leastWidth, defaultWidth, mostWidth = 200, 640, 2000

// drawing is the chart as SVG, in the width of the request.
func drawing(ctx context.Context, chart gpuframe.Chart, request *http.Request) ([]byte, error) {
	width, err := strconv.Atoi(request.URL.Query().Get("width"))
	if err != nil {
		width = defaultWidth
	}
	width = min(max(width, leastWidth), mostWidth)
	text, err := chart.Size(width, min(max(width*9/16, 240), 420)).SVG(ctx)
	return []byte(text), err
}

func specification(ctx context.Context, chart gpuframe.Chart, _ *http.Request) ([]byte, error) {
	return chart.VegaLite(ctx)
}
