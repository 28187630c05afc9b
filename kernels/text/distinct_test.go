package text_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/regextest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/text"
	"github.com/gpuframe/gpuframe/memory"
)

// TestTextsThatRepeat compares the searches of distinct texts with those of all rows, for columns of few and of many texts,
// with memory for both and for less.
func TestTextsThatRepeat(t *testing.T) {
	const pattern, least = `(a+)(b+)?|é`, 64
	in := expr.Col("text")
	for _, drawn := range []struct {
		name  string
		texts int
	}{{"few", 5}, {"many", 1 << 30}} {
		t.Run(drawn.name, func(t *testing.T) {
			draw := func(r *rand.Rand) string {
				n := r.IntN(drawn.texts)
				return regextest.Text(rand.New(rand.NewPCG(1, uint64(n))), 9)
			}
			eachSample(t, []int{300, 301, 600}, draw, func(t *testing.T, mgr *memory.Manager, s sample) {
				for _, c := range []struct{ all, distinct expr.Expr }{
					{text.Replace(in, pattern, "<$1>"), text.ReplaceDistinct(in, pattern, "<$1>", least)},
					{text.Extract(in, pattern, 2), text.ExtractDistinct(in, pattern, 2, least)},
				} {
					want := evaluate(t, s.column, c.all)
					got := evaluate(t, s.column, c.distinct)
					require.True(t, array.Equal(want, got), "%v instead of %v", got, want)
					got.Release()
					want.Release()
					requireAsMuchMemory(t, mgr, s.column, c.all, c.distinct)
				}
			})
		})
	}
}

// requireAsMuchMemory finds the least budget of an expression: another one has enough of it too.
func requireAsMuchMemory(t *testing.T, mgr *memory.Manager, c *column.Column, all, distinct expr.Expr) {
	table, err := buffer.New(arrow.NewSchema([]arrow.Field{{Name: "text", Type: c.Type(), Nullable: true}}, nil), []*column.Column{c},
		buffer.Rows{Count: int64(c.Len()), Shared: c.RowCount()})
	require.NoError(t, err)
	run := func(e expr.Expr, budget uint64) error {
		child, err := mgr.Child("little", budget)
		require.NoError(t, err)
		columns, err := expr.Evaluate(context.Background(), table, []expr.Expr{e}, kernels.Options{Manager: child})
		if err == nil {
			err = columns[0].Release()
		}
		return errors.Join(err, child.Close())
	}
	least := uint64(256)
	for run(all, least) != nil {
		least += 256
	}
	require.NoError(t, run(distinct, least))
	require.ErrorIs(t, run(all, least-256), memory.ErrBudget)
	require.NoError(t, table.Release())
}

// TestTextsThatRepeatWithoutDeviceMemory searches texts of which the first and the last repeat, with each limit of the device's
// memory that is enough for the search of all rows.
func TestTextsThatRepeatWithoutDeviceMemory(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	const rows = 64_000
	texts := make([]string, rows)
	for i := range texts {
		if texts[i] = fmt.Sprintf("a text of row %d", i); i < rows/16 || i >= rows-rows/16 {
			texts[i] = fmt.Sprintf("a text of %d", i%5)
		}
	}
	c, err := column.FromSlice(t.Context(), mgr, texts, column.SliceOptions{})
	require.NoError(t, err)
	table, err := buffer.New(arrow.NewSchema([]arrow.Field{{Name: "text", Type: c.Type()}}, nil), []*column.Column{c}, buffer.Rows{Count: rows})
	require.NoError(t, err)
	run := func(e expr.Expr, limit uint64) error {
		pool, err := memory.NewCachingResource(dev, memory.CachingOptions{LimitBytes: limit})
		require.NoError(t, err)
		small, err := memory.NewManager(dev, memory.Options{Resource: pool})
		require.NoError(t, err)
		columns, err := expr.Evaluate(context.Background(), table, []expr.Expr{e}, kernels.Options{Manager: small})
		if err == nil {
			err = columns[0].Release()
		}
		return errors.Join(err, small.Close(), pool.Close())
	}
	in, enough := expr.Col("text"), 0
	for limit := uint64(1 << 20); limit <= 24<<20; limit += 1 << 20 {
		if run(text.Replace(in, "row", "line"), limit) == nil {
			enough++
			require.NoError(t, run(text.ReplaceDistinct(in, "row", "line", 1), limit), "%d bytes", limit)
		}
	}
	require.Positive(t, enough)
	require.NoError(t, errors.Join(table.Release(), c.Release()))
}
