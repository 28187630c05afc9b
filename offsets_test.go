package gpuframe_test

import (
	"context"
	"fmt"
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
			cases = 100
		}
		options := querytest.Options{Verbs: 6, Rows: 80, Least: 40, Texts: true}
		if dev.Name() != "host" {
			options, cases = querytest.Options{Verbs: 4, Rows: 40, Least: 30, Texts: true}, cases/5
		}
		wide := 0
		for seed := range cases {
			c := rapid.Custom(func(t *rapid.T) *querytest.Case { return querytest.Draw(t, e, options) }).Example(seed)
			ctx := strategy.WithMaximumOffset(t.Context(), []int64{48, 64, 100}[seed%3])
			for _, without := range [][]string{nil, plan.Passes()} {
				if beyondOffsets(ctx, t, c, without) {
					wide++
				}
				require.NoError(t, c.Query.Evict())
			}
			require.Zero(t, e.Manager().Stats().InUse, c.Text)
			c.Release()
		}
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
	schema, err := c.Query.Schema(ctx)
	require.NoError(t, err)
	for _, part := range parts {
		require.NoError(t, sameTypes(schema, part.Schema()), c.Text)
	}
	if err := c.Want.Check(parts...); err != nil {
		t.Fatalf("in parts: %v\n%s\nwithout %v, plan\n%s", err, c.Text, without, q.ExplainPlan())
	}
	return sameTypes(schema, record.Schema()) != nil
}

// sameTypes returns an error if a result has other types than its query.
func sameTypes(want, got *arrow.Schema) error {
	for i, f := range want.Fields() {
		if !arrow.TypeEqual(f.Type, got.Field(i).Type) {
			return fmt.Errorf("column %q is %v, expected %v", f.Name, got.Field(i).Type, f.Type)
		}
	}
	return nil
}
