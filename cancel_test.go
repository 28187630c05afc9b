package gpuframe_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

// countingContext is done from a certain question for its error on.
type countingContext struct {
	context.Context
	end   context.CancelCauseFunc
	limit int64
	asked atomic.Int64
}

var errStopped = errors.New("stopped")

func newCountingContext(limit int64) *countingContext {
	c := &countingContext{limit: limit}
	c.Context, c.end = context.WithCancelCause(context.Background())
	return c
}

// Err implements context.Context.
func (c *countingContext) Err() error {
	if c.asked.Add(1) == c.limit {
		c.end(errStopped)
	}
	return c.Context.Err()
}

// Deadline implements context.Context.
func (c *countingContext) Deadline() (time.Time, bool) { return time.Time{}, false }

// TestCancelEverywhere ends the context at the points at which a query looks at it: at all of the
// first ones, and at some of those that follow. The query fails each time with the cause, and
// leaves nothing behind.
func TestCancelEverywhere(t *testing.T) {
	records, others := drawn(t, 1, 3, 300), drawn(t, 2, 2, 200)
	id, key, few, text := gpuframe.Col("id"), gpuframe.Col("key"), gpuframe.Col("few"), gpuframe.Col("text")
	from := func(e *gpuframe.Engine) gpuframe.Query { return e.Records(nil, records...) }
	for name, query := range map[string]func(e *gpuframe.Engine) gpuframe.Query{
		"rows": func(e *gpuframe.Engine) gpuframe.Query {
			return from(e).Filter(id.Gt(7)).With(id.Mul(2).As("twice"), text.Upper().As("upper")).Slice(10, 800).Union(from(e).Head(3).With(id.As("twice"), text.As("upper")))
		},
		"sort": func(e *gpuframe.Engine) gpuframe.Query { return from(e).Sort(text, id).WithRowNumber("n") },
		"groups": func(e *gpuframe.Engine) gpuframe.Query {
			return from(e).GroupBy(key).Agg(id.Sum(), text.Min(), few.List().As("list")).Top(5, gpuframe.Col("id").Desc())
		},
		"partial groups": func(e *gpuframe.Engine) gpuframe.Query { return from(e).GroupBy(key).Agg(id.Sum()) },
		"join": func(e *gpuframe.Engine) gpuframe.Query {
			return from(e).Join(e.Records(nil, others...), gpuframe.Full, key)
		},
		"windows": func(e *gpuframe.Engine) gpuframe.Query {
			return from(e).With(id.Sum().Over(gpuframe.By(few)).As("sum"), id.CumSum().Over(gpuframe.By(few).OrderBy(id)).As("up to")).Distinct("sum").Shuffle(1)
		},
		"cache": func(e *gpuframe.Engine) gpuframe.Query { return from(e).Sort(id).Cache().Tail(7) },
	} {
		for _, divided := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, divided %v", name, divided), func(t *testing.T) {
				e := smallEngine(t, 2<<20)
				needs, err := query(e).Needs(t.Context())
				require.NoError(t, err)
				if divided {
					require.NoError(t, e.Manager().SetBudget(needs.Smallest))
				}
				points := int64(0)
				for step := int64(1); ; step++ {
					ctx := newCountingContext(step)
					q := query(e)
					for f, failure := range q.Batches(ctx) {
						if err = failure; err == nil {
							require.NoError(t, f.Release())
						}
					}
					require.NoError(t, q.Evict())
					require.Zero(t, e.Manager().Stats().InUse, "point %d", step)
					if ctx.asked.Load() < step {
						require.NoError(t, err)
						break
					}
					points++
					require.ErrorIs(t, err, errStopped, "point %d", step)
					require.ErrorIs(t, err, context.Canceled)
					if divided || testing.Short() {
						step += step / 3 // a query has up to some thousand
					} else {
						step += step / 64
					}
				}
				require.GreaterOrEqual(t, points, int64(6))
			})
		}
	}
}
