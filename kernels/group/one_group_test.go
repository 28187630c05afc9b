package group_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/memory"
)

// BenchmarkOneGroup compares aggregates of all rows by package reduce and by one group of a constant key.
func BenchmarkOneGroup(b *testing.B) {
	mgr := devicetest.Manager(b, devicetest.Open(b, "cuda:0"), memory.Options{})
	const rows = 1 << 27
	integers, _, floats := columntest.BenchmarkColumns(b, mgr, rows)
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: floats.Type()}, {Name: "n", Type: integers.Type()}}, nil)
	table, err := buffer.New(schema, []*column.Column{floats, integers}, buffer.Rows{Count: rows})
	require.NoError(b, err)
	defer func() { require.NoError(b, table.Release()) }()
	x, n, options := expr.Col("x"), expr.Col("n"), kernels.Options{Manager: mgr}
	for _, c := range []struct {
		name    string
		reduced []reduce.Aggregate
		grouped []group.Aggregate
	}{
		{"sum of float64", []reduce.Aggregate{reduce.Sum(x)}, []group.Aggregate{group.Sum(x)}},
		{"sum of uint32", []reduce.Aggregate{reduce.Sum(n)}, []group.Aggregate{group.Sum(n)}},
		{"min and max", []reduce.Aggregate{reduce.Min(x), reduce.Max(x)}, []group.Aggregate{group.Min(x), group.Max(x)}},
		{"variance", []reduce.Aggregate{reduce.Variance(x, 1)}, []group.Aggregate{group.Variance(x, 1)}},
	} {
		b.Run(fmt.Sprint("reduce ", c.name), func(b *testing.B) {
			columntest.Measure(b, mgr, rows, func() error {
				result, err := reduce.Table(b.Context(), table, c.reduced, options)
				if err != nil {
					return err
				}
				return result.Release()
			})
		})
		b.Run(fmt.Sprint("group ", c.name), func(b *testing.B) {
			columntest.Measure(b, mgr, rows, func() error {
				result, err := group.By(table, group.Key{Expr: expr.Lit(int8(0)), Name: "all"}).Aggregate(b.Context(), c.grouped, group.ByOptions{Options: options, MaxGroups: 1})
				if err != nil {
					return err
				}
				return result.Release()
			})
		})
	}
}
