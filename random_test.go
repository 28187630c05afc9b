package gpuframe_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/internal/testing/querytest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// TestRandomQueries compares random queries with a model: without the optimizer, with each
// pass alone, and with all of them.
func TestRandomQueries(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	all := plan.Passes()
	for range 6 { // each has 100 cases, and 20 in short tests
		property.Check(t, func(t *rapid.T) {
			c := querytest.Draw(t, e, querytest.Options{Verbs: 7, Rows: 20})
			defer c.Release()
			checkQuery(t, c, all)
			checkQuery(t, c, nil) // with the rows that caches keep
			require.NoError(t, c.Query.Evict())
			alone := rapid.SampledFrom(all).Draw(t, "alone")
			checkQuery(t, c, slices.DeleteFunc(slices.Clone(all), func(p string) bool { return p == alone }))
			require.NoError(t, c.Query.Evict())
			if used := e.Manager().Stats().InUse; used != 0 {
				t.Fatalf("%d bytes are in use after\n%s", used, c.Text)
			}
		})
	}
}

// checkQuery runs a query without some passes, with or without masks of filters below joins.
func checkQuery(t *rapid.T, c *querytest.Case, without []string) {
	q, err := c.Query.Without(t.Context(), without...)
	if err != nil {
		t.Fatalf("%v\n%s", err, c.Text)
	}
	choices := strategy.Filter{Masks: rapid.Bool().Draw(t, "masks"), Copies: rapid.Bool().Draw(t, "copies")}
	f, err := q.Collect(strategy.WithFilter(t.Context(), choices))
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
		property.Check(t, func(t *rapid.T) {
			if drawn++; drawn > 12 {
				return
			}
			c := querytest.Draw(t, e, querytest.Options{Verbs: 3, Rows: 12})
			defer c.Release()
			checkQuery(t, c, nil)
			require.NoError(t, c.Query.Evict())
		})
	})
}

// TestRandomQueriesFail fails an allocation of random queries. The query fails, or has the same
// result with less memory, and leaves nothing behind.
func TestRandomQueriesFail(t *testing.T) {
	dev := devicetest.Open(t, "host")
	fault := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{})
	m := devicetest.Manager(t, dev, memory.Options{Resource: fault})
	e := gpuframe.EngineOn(m)
	defer func() { require.NoError(t, e.Close()) }()
	failed := 0
	property.Check(t, func(t *rapid.T) {
		c := querytest.Draw(t, e, querytest.Options{Verbs: 5, Rows: 12})
		defer c.Release()
		fault.Arm(adaptor.FaultOptions{})
		checkQuery(t, c, nil)
		requests := int(fault.Requests().Seen)
		require.NoError(t, c.Query.Evict())
		if requests == 0 {
			return
		}
		nth := rapid.IntRange(1, requests).Draw(t, "nth")
		fault.Arm(adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: uint64(nth)}})
		f, err := c.Query.Collect(t.Context())
		fault.Arm(adaptor.FaultOptions{})
		if err == nil {
			record, failure := f.Record(t.Context())
			// A join that divides its sides yields its rows in another order.
			if failure == nil && !strings.Contains(c.Text, "Join(") {
				failure = c.Want.Check(record)
			}
			if record != nil {
				record.Release()
			}
			err = errors.Join(failure, f.Release())
		} else if failed++; errors.Is(err, adaptor.ErrInjected) {
			err = nil
		}
		err = errors.Join(err, c.Query.Evict())
		if used := m.Stats().InUse; err != nil || used != 0 {
			t.Fatalf("allocation %d of %d failed: %v, and %d bytes are in use after\n%s", nth, requests, err, used, c.Text)
		}
	})
	require.Positive(t, failed)
}
