package window_test

import (
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// BenchmarkOver prints Grows/s for 2²⁷ rows, and the copy rate of the same device: frames
// of rows of the whole table, and functions by partitions of some 1,000 rows, of a table in
// order and of one in no order. The sort of the latter is apart.
func BenchmarkOver(b *testing.B) {
	dev := devicetest.Open(b, "cuda:0")
	mgr := devicetest.Manager(b, dev, memory.Options{})
	b.Run("copy", func(b *testing.B) { columntest.MeasureCopy(b, mgr) })
	rows := 1 << 27
	spread, _, floats := columntest.BenchmarkColumns(b, mgr, rows)
	keys := make([]uint32, rows)
	for i := range keys {
		keys[i] = uint32(i) * 2654435761 >> 15
	}
	unsorted := columntest.ColumnOf(b, mgr, arrow.PrimitiveTypes.Uint32, keys)
	for i := range keys { // the same in order: each key has 1,024 rows
		keys[i] = uint32(i >> 10)
	}
	sorted := columntest.ColumnOf(b, mgr, arrow.PrimitiveTypes.Uint32, keys)
	v, by := expr.Col("v"), window.Windows{PartitionBy: []order.Key{{Column: "p"}}}
	for _, c := range []struct {
		name    string
		key     *column.Column
		windows window.Windows
		of      window.Function
	}{
		{"mean of 100 rows", sorted, window.Windows{}, window.Mean(v).Rows(-99, 0)},
		{"max of 100 rows", sorted, window.Windows{}, window.Max(v).Rows(-99, 0)},
		{"sum of 1000 rows", sorted, window.Windows{}, window.Sum(v).Rows(-999, 0)},
		{"variance of 100 rows", sorted, window.Windows{}, window.Variance(v, 1).Rows(-99, 0)},
		{"median of 100 rows", sorted, window.Windows{}, window.Median(v).Rows(-99, 0)},
		{"row number, sorted", sorted, by, window.RowNumber()},
		{"lag, sorted", sorted, by, window.Lag(v, 1)},
		{"cumulative sum, sorted", sorted, by, window.Sum(v).Rows(window.FirstRow, 0)},
		{"row number, unsorted", unsorted, by, window.RowNumber()},
		{"lag, unsorted", unsorted, by, window.Lag(v, 1)},
		{"cumulative sum, unsorted", unsorted, by, window.Sum(v).Rows(window.FirstRow, 0)},
	} {
		b.Run(c.name, func(b *testing.B) {
			fields := []arrow.Field{{Name: "p", Type: c.key.Type()}, {Name: "v", Type: floats.Type()}, {Name: "o", Type: spread.Type()}}
			table, err := buffer.New(arrow.NewSchema(fields, nil), []*column.Column{c.key, floats, spread}, buffer.Rows{Count: int64(rows)})
			require.NoError(b, err)
			defer func() { require.NoError(b, table.Release()) }()
			columntest.Measure(b, mgr, rows, func() error {
				made, err := window.Over(b.Context(), table, c.windows, []window.Function{c.of})
				return errors.Join(err, release.All(made))
			})
		})
	}
	b.Run("sort of the row numbers", func(b *testing.B) {
		table, err := buffer.New(arrow.NewSchema([]arrow.Field{{Name: "p", Type: unsorted.Type()}}, nil), []*column.Column{unsorted}, buffer.Rows{Count: int64(rows)})
		require.NoError(b, err)
		defer func() { require.NoError(b, table.Release()) }()
		columntest.Measure(b, mgr, rows, func() error {
			made, err := order.Indices(b.Context(), table, by.PartitionBy)
			return errors.Join(err, release.All([]*column.Column{made}))
		})
	})
}
