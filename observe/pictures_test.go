//go:build unix

package observe_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/observe"
)

// TestPictures takes the pictures of docs/observability.md: a service with two tenants, one
// of which is at its budget, after some work.
func TestPictures(t *testing.T) {
	if os.Getenv("GPUFRAME_SCREENSHOTS") == "" {
		t.Skip("GPUFRAME_SCREENSHOTS names no folder for pictures")
	}
	s := newService(t, "daily revenue")
	prices, err := s.engine.Tenant("prices", 400<<20)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, prices.Close()) })
	reports, err := s.engine.Tenant("reports", 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reports.Close()) })
	server := httptest.NewServer(s.recorder.Handler(observe.HandlerOptions{Token: "secret", Interval: 50 * time.Millisecond}))
	defer server.Close()
	defer s.recorder.Close()
	b := newBrowser(t, server.URL+"/")
	b.show(1600, 1130, "light")
	b.open(server.URL + "/")
	updates := 0
	wait := func() { updates += 4; b.await(fmt.Sprintf("Number(document.body.dataset.updates) >= %d", updates)) }
	wait()
	hold := loadPrices
	table := hold(t, prices.Manager(), 210<<20, "price table")
	hold(t, prices.Manager(), 120<<20, "price index")
	for i := range 12 {
		block := hold(t, reports.Manager(), uint64(20+15*(i%5))<<20, "sort")
		wait()
		require.NoError(t, block.Release())
		hold(t, reports.Manager(), 9<<20, "report cache")
		wait()
	}
	work(t, s.engine)
	for rows := 1; rows < 1_000_000; rows *= 3 {
		frame, err := gpuframe.From(s.engine, make([]struct{ N float64 }, rows)).WithRandom("r", 1).Sort("r").Collect(t.Context(), gpuframe.Tag("sort"))
		require.NoError(t, err)
		require.NoError(t, frame.Release())
	}
	_, err = prices.Manager().Allocate(150<<20, memory.AllocateOptions{Tag: "price join"})
	require.ErrorIs(t, err, memory.ErrBudget)
	require.NoError(t, table.Release())
	hold(t, prices.Manager(), 190<<20, "price table")
	wait()
	b.evaluate(`document.getElementById("map-read").click()`)
	b.await(`document.querySelectorAll("#map rect").length >= 2`)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int{360, 1600} {
			b.show(width, 1130, scheme)
			b.screenshot(fmt.Sprintf("observe-%s-%d", scheme, width))
			b.evaluate(`document.getElementById("operations-title").scrollIntoView()`)
			b.screenshot(fmt.Sprintf("observe-queries-%s-%d", scheme, width))
			b.evaluate(`scrollTo(0, 0)`)
		}
	}
	b.show(1600, 900, "light")
	b.evaluate(`document.querySelector("#map rect:last-child").dispatchEvent(new MouseEvent("click")); document.getElementById("map-title").scrollIntoView()`)
	b.screenshot("observe-map-1600")
	s.finish(t)
}

// work leaves free pieces between kept blocks.
func work(t *testing.T, e *gpuframe.Engine) {
	var freed []*memory.Block
	for i := range 24 {
		block := loadPrices(t, e.Manager(), uint64(1+i%3)<<20, "batches")
		if i%2 == 0 {
			freed = append(freed, block)
		}
	}
	for _, block := range freed {
		require.NoError(t, block.Release())
	}
}
