package gpuframe_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/plan"
	"github.com/gpuframe/gpuframe/internal/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/querytest"
)

// TestRandomQueriesBeyondOffsets runs random queries on tables with more text than offsets reach to.
// The result has the rows of the model. Its parts have the types of the plan, and one table of all
// has text with larger offsets if it needs them.
func TestRandomQueriesBeyondOffsets(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		e := engineOn(t, dev)
		cases := 400
		if testing.Short() {
			cases = offsetCases
		}
		options := querytest.Options{Verbs: 6, Rows: 80, Least: 40}
		if dev.Name() != "host" {
			options, cases = querytest.Options{Verbs: 4, Rows: 40, Least: 30}, cases/5
		}
		wide := 0
		for seed := range cases {
			c := rapid.Custom(func(t *rapid.T) *querytest.Case { return querytest.Draw(t, e, options) }).Example(seed)
			ctx := strategy.WithMaximumOffset(t.Context(), []int64{24, 40, 80}[seed%3]*limitScale())
			for _, without := range [][]string{nil, plan.Passes()} {
				if beyondOffsets(ctx, t, c, without) {
					wide++
				}
				require.NoError(t, c.Query.Evict())
			}
			require.Zero(t, e.Manager().Stats().InUse, c.Text)
			c.Release()
		}
		t.Log("wide", wide, "of", 2*cases)
		require.Positive(t, wide)
	})
}

// beyondOffsets checks the result of a query as one table and in parts, and reports whether the table
// has text with 64-bit offsets.
func beyondOffsets(ctx context.Context, t *testing.T, c *querytest.Case, without []string) (wide bool) {
	q, err := c.Query.Without(ctx, without...)
	require.NoError(t, err)
	f, err := q.Collect(ctx)
	if err != nil {
		t.Fatalf("%v\n%s\nwithout %v, plan\n%s", err, c.Text, without, q.ExplainPlan())
	}
	record, err := f.Record(ctx)
	require.NoError(t, err)
	require.NoError(t, f.Release())
	defer record.Release()
	if err := c.Want.Check(record); err != nil {
		t.Fatalf("%v\n%s\nwithout %v, plan\n%s", err, c.Text, without, q.ExplainPlan())
	}
	parts, err := partsOf(ctx, q)
	if err != nil {
		t.Fatalf("in parts: %v\n%s\nwithout %v, plan\n%s", err, c.Text, without, q.ExplainPlan())
	}
	defer releaseAll(parts)
	for _, part := range parts {
		if hasWideText(part.Schema()) {
			t.Fatalf("a part has columns %v\n%s\nwithout %v, plan\n%s", part.Schema(), c.Text, without, q.ExplainPlan())
		}
	}
	if err := c.Want.Check(parts...); err != nil {
		t.Fatalf("in parts: %v\n%s\nwithout %v, plan\n%s", err, c.Text, without, q.ExplainPlan())
	}
	return hasWideText(record.Schema())
}

func hasWideText(schema *arrow.Schema) bool {
	for _, f := range schema.Fields() {
		t := f.Type
		if d, ok := t.(*arrow.DictionaryType); ok {
			t = d.ValueType
		}
		if t.ID() == arrow.LARGE_STRING {
			return true
		}
	}
	return false
}
