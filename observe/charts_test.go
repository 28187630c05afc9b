package observe_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/observe"
)

type delay struct {
	Origin string `gpuframe:"origin"`
	Delay  int64  `gpuframe:"delay"`
}

// delays returns a function that draws a chart of new rows in each call: the delay is the number of calls.
func delays(e *gpuframe.Engine, calls *atomic.Int64) func(context.Context) (gpuframe.Chart, error) {
	return func(ctx context.Context) (gpuframe.Chart, error) {
		frame, err := gpuframe.From(e, []delay{{hostile, calls.Add(1)}, {"BRN", 3}}).Collect(ctx)
		if err != nil {
			return gpuframe.Chart{}, err
		}
		defer frame.Release()
		return frame.Chart().Bar("origin", "delay").Read(ctx)
	}
}

// body returns the status and the text of a reply.
func body(t *testing.T, reply *http.Response) (int, string) {
	text, err := io.ReadAll(reply.Body)
	require.NoError(t, err)
	return reply.StatusCode, string(text)
}

// TestCharts compares what the handler serves with the forms of the same chart of a frame.
func TestCharts(t *testing.T) {
	s := newService(t, "query")
	defer s.finish(t)
	var calls, wanted atomic.Int64
	handler := s.recorder.Handler(observe.HandlerOptions{Hosts: testHosts, Charts: []observe.Chart{
		{Title: "no function"},
		{Title: hostile, Draw: delays(s.engine, &calls), Interval: 1000 * time.Hour},
		{Title: "broken", Draw: func(context.Context) (gpuframe.Chart, error) { return gpuframe.Chart{}, errors.New("no data today") }},
		{Title: "zero", Draw: func(context.Context) (gpuframe.Chart, error) { return gpuframe.Chart{}, nil }},
	}})
	want, err := delays(s.engine, &wanted)(t.Context())
	require.NoError(t, err)
	specification, err := want.VegaLite(t.Context())
	require.NoError(t, err)
	status, text := body(t, get(t, handler, "/v1/charts/0/vega-lite"))
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, string(specification), text)
	for query, size := range map[string][2]int{"": {640, 360}, "?width=330": {330, 240}, "?width=1": {200, 240}, "?width=9999999": {2000, 420}, "?width=wide": {640, 360}} {
		reply := get(t, handler, "/v1/charts/0"+query)
		require.Equal(t, "image/svg+xml", reply.Header.Get("Content-Type"))
		drawing, err := want.Size(size[0], size[1]).SVG(t.Context())
		require.NoError(t, err)
		status, text := body(t, reply)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, drawing, text)
		require.NotContains(t, text, "<img")
	}
	require.EqualValues(t, 1, calls.Load(), "readers of an interval share the rows")
	for path, want := range map[string]string{"1": `draw chart "broken": no data today`, "2": `draw chart "zero": gpuframe: chart: the zero chart has no frame`} {
		status, text := body(t, get(t, handler, "/v1/charts/"+path))
		require.Equal(t, http.StatusInternalServerError, status)
		require.Contains(t, text, want)
	}
	for _, path := range []string{"3", "-1", "x", "3/vega-lite"} {
		require.Equal(t, http.StatusNotFound, get(t, handler, "/v1/charts/"+path).StatusCode, path)
	}
	_, text = body(t, get(t, handler, "/v1/snapshot"))
	titles := []observe.ChartTitle{{Title: hostile, Seconds: 3_600_000}, {Title: "broken", Seconds: 60}, {Title: "zero", Seconds: 60}}
	require.Contains(t, text, fmt.Sprintf(`"charts":%s`, jsonOf(t, titles)))
}

// TestChartsAreReadAgain after half an interval, here a nanosecond.
func TestChartsAreReadAgain(t *testing.T) {
	s := newService(t, "query")
	defer s.finish(t)
	var calls atomic.Int64
	handler := s.recorder.Handler(observe.HandlerOptions{Hosts: testHosts, Charts: []observe.Chart{{Draw: delays(s.engine, &calls), Interval: 2}}})
	for turn := range 3 {
		_, text := body(t, get(t, handler, "/v1/charts/0/vega-lite"))
		require.Contains(t, text, fmt.Sprintf(`"y":%d`, turn+1))
	}
}

// TestChartOfAReaderThatLeaves: the reading ends with its reader, and another reader that waits for it begins it again.
func TestChartOfAReaderThatLeaves(t *testing.T) {
	s := newService(t, "query")
	defer s.finish(t)
	var calls atomic.Int64
	inside := make(chan struct{})
	draw := delays(s.engine, &calls)
	handler := s.recorder.Handler(observe.HandlerOptions{Hosts: testHosts, Charts: []observe.Chart{{Interval: time.Hour, Draw: func(ctx context.Context) (gpuframe.Chart, error) {
		if calls.Load() == 0 {
			calls.Add(1)
			close(inside)
			<-ctx.Done()
			return gpuframe.Chart{}, ctx.Err()
		}
		return draw(ctx)
	}}}})
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan int)
	read := func(ctx context.Context) int {
		reply := httptest.NewRecorder()
		handler.ServeHTTP(reply, httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/charts/0", nil))
		return reply.Code
	}
	go func() { left <- read(ctx) }()
	<-inside
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, http.StatusInternalServerError, read(gone), "a reader does not wait after it has left")
	waiting := make(chan int)
	go func() { waiting <- read(t.Context()) }()
	leave()
	require.Equal(t, http.StatusInternalServerError, <-left)
	require.Equal(t, http.StatusOK, <-waiting)
	require.EqualValues(t, 2, calls.Load())
}
