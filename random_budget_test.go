package gpuframe_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/querytest"
	"github.com/gpuframe/gpuframe/memory"
)

// ample is a budget that no test exceeds.
const ample = 1 << 30

// TestRandomQueriesUnderBudgets runs random queries with the least budget that they report, with
// more, and with one byte less: the result is that of the model, or the query is refused.
func TestRandomQueriesUnderBudgets(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		e := engineOn(t, dev)
		options, most := querytest.Options{Verbs: 5, Rows: 1200}, 100
		if testing.Short() || dev.Name() != "host" {
			options, most = querytest.Options{Verbs: 4, Rows: 400}, 8
		}
		least := 0
		for seed := range most {
			options := options
			if seed%2 == 0 {
				options.Least = options.Rows / 2 // rapid prefers few
			}
			c := rapid.Custom(func(t *rapid.T) *querytest.Case { return querytest.Draw(t, e, options) }).Example(seed)
			for _, without := range [][]string{nil, plan.Passes()} {
				require.NoError(t, e.Manager().SetBudget(ample))
				q, err := c.Query.Without(t.Context(), without...)
				require.NoError(t, err)
				needs, err := q.Needs(t.Context())
				require.NoError(t, err)
				for _, budget := range []uint64{needs.Smallest - 1, needs.Smallest, 2 * needs.Smallest, ample} {
					require.NoError(t, e.Manager().SetBudget(budget))
					parts, err := partsOf(t.Context(), q)
					switch {
					case budget < needs.Smallest:
						var refused *gpuframe.NeedsError
						require.ErrorAs(t, err, &refused, c.Text)
						require.Equal(t, needs.Smallest, refused.Needed)
					case err == nil:
						err = c.Want.Check(parts...)
						releaseAll(parts)
						if budget == needs.Smallest {
							least++
						}
					case errors.Is(err, memory.ErrBudget) && budget != ample && needsAllRows(c.Text):
						err = nil
					}
					if budget >= needs.Smallest && err != nil {
						t.Fatalf("budget %d of at least %d: %v\n%s\nwithout %v, plan\n%s", budget, needs.Smallest, err, c.Text, without, q.ExplainPlan())
					}
					require.NoError(t, c.Query.Evict())
					require.Zero(t, e.Manager().Stats().InUse)
				}
			}
			c.Release()
		}
		require.NoError(t, e.Manager().SetBudget(ample))
		require.Positive(t, least)
	})
}

// needsAllRows reports whether a query has an operation whose need is not known in advance.
func needsAllRows(text string) bool {
	for _, verb := range []string{"Distinct(", " over ", "Tail(", "Select("} {
		if strings.Contains(text, verb) {
			return true
		}
	}
	return false
}

// partsOf returns the result of a query that is computed in parts, which the caller releases.
func partsOf(ctx context.Context, q gpuframe.Query) (parts []arrow.Record, err error) {
	for f, err := range q.Batches(ctx) {
		if err != nil {
			releaseAll(parts)
			return nil, err
		}
		part, err := f.Record(ctx)
		if err = errors.Join(err, f.Release()); err != nil {
			releaseAll(parts)
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func releaseAll(records []arrow.Record) {
	for _, r := range records {
		r.Release()
	}
}
