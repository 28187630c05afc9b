package group_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// TestExtremesOfTextsThatRepeat compares ranks of distinct texts with those of all rows: of few and of many texts, with
// nulls, of slices, and of rows that a condition keeps.
func TestExtremesOfTextsThatRepeat(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		r := rand.New(rand.NewPCG(81, 82))
		text, x := expr.Col("t"), expr.Col("x")
		list := []group.Aggregate{group.Min(text), group.Max(text).Where(x.Gt(expr.Lit(0.0))), group.ArgMin(text), group.Min(expr.Col("b")), group.Sum(x)}
		for _, texts := range []int{1, 20, 1 << 30} {
			for _, nulls := range []bool{false, true} {
				draw := func(r *rand.Rand) string { return fmt.Sprintf("http://host/%d", r.IntN(texts)) }
				record := textRecord(r, draw, 200+r.IntN(500), nulls)
				table, err := buffer.FromRecord(mgr, record)
				require.NoError(t, err)
				part, err := table.Slice(3, table.Capacity()-7)
				require.NoError(t, err)
				for _, where := range []bool{false, true} {
					title := fmt.Sprintf("%d texts, nulls %v, where %v", texts, nulls, where)
					var answers []arrow.Record
					for _, choice := range []strategy.Group{{}, {RepeatingRows: 64}} {
						query := group.By(part, group.Columns("k")...)
						if where {
							query = query.Where(x.Lt(expr.Lit(0.5)))
						}
						grouped, err := query.Aggregate(strategy.WithGroup(t.Context(), choice), list, group.ByOptions{Order: group.ByKey})
						require.NoError(t, err, title)
						answers = append(answers, columntest.Fetch(t, grouped))
					}
					requireEqual(t, answers[0], answers[1], title)
				}
				require.NoError(t, part.Release())
				require.NoError(t, table.Release())
				record.Release()
			}
		}
	})
}
