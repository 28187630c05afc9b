package gpuframe_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/plan"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/querytest"
)

// TestRandomQueries compares random queries with a model: without the optimizer, with each
// pass alone, and with all of them.
func TestRandomQueries(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	rapid.Check(t, func(t *rapid.T) {
		c := querytest.Draw(t, e, querytest.Options{Verbs: 7, Rows: 20})
		defer c.Release()
		all := plan.Passes()
		checkQuery(t, c, all)
		checkQuery(t, c, nil)
		alone := rapid.SampledFrom(append(all, "none")).Draw(t, "alone")
		checkQuery(t, c, slices.DeleteFunc(slices.Clone(all), func(p string) bool { return p == alone }))
		if used := e.Manager().Stats().InUse; used != 0 {
			t.Fatalf("%d bytes are in use after\n%s", used, c.Text)
		}
	})
}

// checkQuery runs a query without some passes.
func checkQuery(t *rapid.T, c *querytest.Case, without []string) {
	q, err := c.Query.Without(t.Context(), without...)
	if err != nil {
		t.Fatalf("%v\n%s", err, c.Text)
	}
	f, err := q.Collect(t.Context())
	if err != nil {
		t.Fatalf("%v\n%s\nplan\n%s", err, c.Text, q.ExplainPlan())
	}
	record, err := f.Record(t.Context())
	if err != nil {
		t.Fatalf("%v\n%s", err, c.Text)
	}
	defer record.Release()
	if err := f.Release(); err != nil {
		t.Fatal(err)
	}
	if err := c.Want.Check(record); err != nil {
		t.Fatalf("%v\n%s\nwithout %v, plan\n%s", err, c.Text, without, q.ExplainPlan())
	}
}

// TestRandomQueriesOnDevices runs a few random queries by kernels.
func TestRandomQueriesOnDevices(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		e, err := gpuframe.Open(gpuframe.Device(dev.Name()))
		require.NoError(t, err)
		defer func() { require.NoError(t, e.Close()) }()
		drawn := 0
		rapid.Check(t, func(t *rapid.T) {
			if drawn++; drawn > 20 {
				return
			}
			c := querytest.Draw(t, e, querytest.Options{Verbs: 3, Rows: 12})
			defer c.Release()
			checkQuery(t, c, nil)
		})
	})
}
