//go:build unix

package observe_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/observe"
)

// TestChartsInABrowser: each chart has the width of its place, at 360 pixels too, and its names are texts.
func TestChartsInABrowser(t *testing.T) {
	chromium(t)
	s := newService(t, "query")
	defer s.finish(t)
	var calls atomic.Int64
	isBroken := atomic.Bool{}
	later := delays(s.engine, &calls)
	server := httptest.NewServer(s.recorder.Handler(observe.HandlerOptions{Interval: 50 * time.Millisecond, WriteLimit: await.Limit, Charts: []observe.Chart{
		{Title: "delays of " + hostile, Draw: later, Interval: 100 * time.Millisecond},
		{Title: "rows", Draw: later, Interval: time.Hour},
		{Title: "sometimes", Interval: 100 * time.Millisecond, Draw: func(ctx context.Context) (gpuframe.Chart, error) {
			if isBroken.Load() {
				return gpuframe.Chart{}, errors.New("no data " + hostile)
			}
			return later(ctx)
		}},
	}}))
	defer server.Close()
	defer s.recorder.Close()
	b := newBrowser(t, server.URL+"/")
	b.show(1600, 1000, "light")
	b.open(server.URL + "/")
	b.await(`document.querySelectorAll("#charts svg").length === 3 && !document.querySelector("#charts .bad")`)
	before := b.evaluate(`document.querySelector("#charts svg").outerHTML`)
	b.await(fmt.Sprintf(`document.querySelector("#charts svg").outerHTML !== %s`, jsonOf(t, before)))
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int{360, 1600} {
			b.show(width, 1000, scheme)
			b.await(`[...document.querySelectorAll(".chart")].every((c) => Number(c.querySelector("svg").getAttribute("width")) === c.clientWidth)`)
			assert.LessOrEqual(t, b.evaluate("document.documentElement.scrollWidth"), float64(width), "the page is not wider than the window")
			assert.GreaterOrEqual(t, b.evaluate(`Math.min(...[...document.querySelectorAll(".chart text")].map((e) => e.getBoundingClientRect().height))`), 8.0, "labels are not scaled")
			b.evaluate(`document.getElementById("charts-title").scrollIntoView()`)
			b.screenshot(fmt.Sprintf("observe-charts-%s-%d", scheme, width))
		}
		assert.GreaterOrEqual(t, b.evaluate(contrast), 4.5, scheme)
		b.checkAxe()
	}
	assert.Contains(t, b.evaluate(`document.querySelector(".chart h3").textContent`), hostile)
	assert.Contains(t, b.evaluate(`document.querySelector(".chart svg title").textContent`), "bar of delay by origin, 2 rows")
	assert.EqualValues(t, 0, b.evaluate(`document.querySelectorAll("main img, main script").length`))
	assert.Empty(t, b.namelessControls())
	assert.Empty(t, b.problems)

	isBroken.Store(true)
	b.await(`document.querySelectorAll(".chart")[2].innerText.includes("no data")`)
	assert.Contains(t, b.evaluate(`document.querySelectorAll(".chart")[2].innerText`), hostile)
	assert.EqualValues(t, 2, b.evaluate(`document.querySelectorAll("#charts svg").length`))
	isBroken.Store(false)
	b.await(`document.querySelectorAll("#charts svg").length === 3`)
	assert.Equal(t, "gpuframe: device memory", b.evaluate("document.title"))
}

// TestPictureOfCharts takes that of docs/observability.md.
func TestPictureOfCharts(t *testing.T) {
	if os.Getenv("GPUFRAME_SCREENSHOTS") == "" {
		t.Skip("GPUFRAME_SCREENSHOTS names no folder for pictures")
	}
	s := newService(t, "daily revenue")
	defer s.finish(t)
	type sale struct {
		Day    time.Time `gpuframe:"day"`
		Origin string    `gpuframe:"origin"`
		Mean   float64   `gpuframe:"mean"`
	}
	var sales []sale
	for day := range 60 {
		for i, origin := range []string{"BRN", "GVA", "OSL"} {
			sales = append(sales, sale{time.Date(2026, 9, 1+day, 0, 0, 0, 0, time.UTC), origin, float64((day*(7+i))%23 + 10*i)})
		}
	}
	frame, err := gpuframe.From(s.engine, sales).Collect(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, frame.Release()) }()
	draw := func(chart gpuframe.Chart) func(context.Context) (gpuframe.Chart, error) {
		return func(ctx context.Context) (gpuframe.Chart, error) { return chart.Read(ctx) }
	}
	server := httptest.NewServer(s.recorder.Handler(observe.HandlerOptions{Charts: []observe.Chart{
		{Title: "Mean delay by day", Draw: draw(frame.Chart().Line("day", "mean").Colour("origin"))}, {Title: "Delays", Draw: draw(frame.Chart().Histogram("mean"))},
	}}))
	defer server.Close()
	defer s.recorder.Close()
	b := newBrowser(t, server.URL+"/")
	for width, height := range map[int]int{1600: 560, 360: 640} {
		b.show(width, height, "light")
		b.open(server.URL + "/")
		b.await(`document.querySelectorAll("#charts svg").length === 2`)
		b.evaluate(`document.getElementById("charts").scrollIntoView()`)
		b.screenshot(fmt.Sprintf("observe-own-charts-%d", width))
	}
}
