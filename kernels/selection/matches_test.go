package selection_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// Matches are the rows that a filter keeps, in memory for them alone.
func TestMatchesAreThoseOfAFilter(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		guard := adaptor.NewGuard(memory.NewDriverResource(dev), adaptor.GuardOptions{RedZone: 256})
		m := devicetest.Manager(t, dev, memory.Options{Resource: guard})
		property.Check(t, func(r *rapid.T) {
			g := arraytest.NewGenerator(rapid.Uint64().Draw(r, "seed"))
			g.Nulls = rapid.SampledFrom([]arraytest.Nulls{arraytest.NoneNull, arraytest.SomeNull}).Draw(r, "nulls")
			rows := rapid.SampledFrom([]int{0, 1, 100, 5000, 20000}).Draw(r, "rows")
			columns := []arrow.Array{g.Array(arrow.PrimitiveTypes.Int8, rows)}
			for range rapid.IntRange(0, 3).Draw(r, "columns") {
				columns = append(columns, g.Array(rapid.SampledFrom(arraytest.AllTypes()).Draw(r, "type"), rows))
			}
			var fields []arrow.Field
			var names []string
			for i, c := range columns {
				names = append(names, string(rune('a'+i)))
				fields = append(fields, arrow.Field{Name: names[i], Type: c.DataType(), Nullable: true})
			}
			loaded, err := buffer.FromRecord(m, array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(rows)))
			require.NoError(r, err)
			defer func() { require.NoError(t, loaded.Release()) }()
			table := loaded
			if rapid.Bool().Draw(r, "filtered before") { // then the device has the number of rows
				before, err := selection.Filter(t.Context(), table, expr.Col("a").Gt(expr.Lit(int8(-100))))
				require.NoError(r, err)
				defer func() { require.NoError(t, before.Release()) }()
				table = before
			}
			condition := expr.Col("a").Lt(expr.Lit(int8(rapid.IntRange(-128, 127).Draw(r, "bound"))))
			matches, err := selection.FindMatches(t.Context(), table, condition)
			require.NoError(r, err)
			defer func() { require.NoError(t, matches.Release()) }()
			if rapid.Bool().Draw(r, "some columns") {
				names = names[:1+len(names)/2]
			}
			copied, err := matches.Copy(t.Context(), names)
			require.NoError(r, err)
			defer func() { require.NoError(t, copied.Release()) }()
			want, err := selection.FilterSelect(t.Context(), table, condition, names)
			require.NoError(r, err)
			defer func() { require.NoError(t, want.Release()) }()
			count, err := want.NumRows(t.Context())
			require.NoError(r, err)
			require.Equal(r, count, matches.Rows())
			require.Equal(r, count, copied.Capacity())
			all, err := want.Record(t.Context())
			require.NoError(r, err)
			got, err := copied.Record(t.Context())
			require.NoError(r, err)
			for i, c := range all.Columns() {
				for row := range c.Len() {
					require.True(r, arraytest.Same(c, row, got.Column(i), row), "row %d of %v", row, c.DataType())
				}
			}
		})
	})
}

// If the budget has room for the rows that a filter keeps, but not for as many as the table has, the filter counts them.
func TestFiltersCountRowsIfMemoryIsShort(t *testing.T) {
	const rows = 50_000
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		builder := array.NewInt64Builder(arrowmemory.DefaultAllocator)
		for i := range int64(rows) {
			builder.Append(i * 7919 % rows)
		}
		schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, nil)
		table, err := buffer.FromRecord(m, array.NewRecord(schema, []arrow.Array{builder.NewArray()}, rows))
		require.NoError(t, err)
		defer func() { require.NoError(t, table.Release()) }()
		require.NoError(t, m.SetBudget(table.Bytes()+rows*8/2))
		for _, kept := range []int64{0, 100, rows / 8} {
			condition := expr.Col("a").Lt(expr.Lit(kept))
			masks, err := expr.Evaluate(t.Context(), table, []expr.Expr{condition})
			require.NoError(t, err)
			byMask, err := selection.FilterMask(t.Context(), table, masks[0])
			require.NoError(t, err)
			byPredicate, err := selection.Filter(t.Context(), table, condition)
			require.NoError(t, err)
			for _, filtered := range []*buffer.Buffer{byMask, byPredicate} {
				count, err := filtered.NumRows(t.Context())
				require.NoError(t, err)
				require.Equal(t, kept, count)
				record, err := filtered.Record(t.Context())
				require.NoError(t, err)
				for _, v := range record.Column(0).(*array.Int64).Int64Values() {
					require.Less(t, v, kept)
				}
				require.NoError(t, filtered.Release())
			}
			require.NoError(t, masks[0].Release())
		}
		_, err = selection.Filter(t.Context(), table, expr.Col("a").Ge(expr.Lit(int64(0))))
		require.ErrorIs(t, err, memory.ErrBudget)
	})
}
