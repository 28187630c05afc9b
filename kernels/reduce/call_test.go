package reduce_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/memory"
)

// BenchmarkCall measures the cost of a call with a cached kernel, without the driver.
func BenchmarkCall(b *testing.B) {
	gpu := &launchtest.GPU{Discard: true, Kernels: map[string]launchtest.Kernel{"reduce": {}}}
	dev := launchtest.Open(b, gpu)
	mgr, err := memory.NewManager(dev, memory.Options{}) // devicetest's manager records the caller of each allocation
	require.NoError(b, err)
	defer mgr.Close()
	for _, n := range []int{1000, 1 << 20} {
		x := zeros(b, mgr, arrow.PrimitiveTypes.Float32, n)
		table, err := buffer.New(arrow.NewSchema([]arrow.Field{{Name: "x", Type: x.Type()}}, nil), []*column.Column{x}, buffer.Rows{Count: int64(n)})
		require.NoError(b, err)
		e := expr.Col("x")
		for name, aggregates := range map[string][]reduce.Aggregate{
			"one":  {reduce.Sum(e)},
			"five": {reduce.Sum(e), reduce.Mean(e), reduce.Min(e), reduce.Max(e), reduce.Count(e)},
		} {
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					result, err := reduce.Table(b.Context(), table, aggregates)
					if err != nil {
						b.Fatal(err)
					}
					_ = result.Release()
				}
			})
		}
		require.NoError(b, table.Release())
		require.NoError(b, x.Release())
	}
}

// zeros returns a column of zeros without nulls.
func zeros(t testing.TB, mgr *memory.Manager, kind arrow.DataType, n int) *column.Column {
	bytes := kind.(arrow.FixedWidthDataType).Bytes()
	values, err := memory.NewSlice[uint8](mgr, n*bytes, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, values.Fill(nil, 0))
	c, err := column.New(column.Data{Type: kind, Length: n, Buffers: []column.Bytes{{}, values}})
	require.NoError(t, err)
	require.NoError(t, values.Release())
	return c
}
