package vector

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// randomDense are vectors on the host.
func randomDense(b *testing.B, rows, dim int) (*memory.Manager, *Dense) {
	dev, err := device.Open("host")
	require.NoError(b, err)
	m, err := memory.NewManager(dev, memory.Options{})
	require.NoError(b, err)
	values, r := make([]float32, rows*dim), rand.New(rand.NewPCG(1, 2))
	for i := range values {
		values[i] = r.Float32()
	}
	return m, vectors{values: values, dim: dim}.upload(b, m)
}

// BenchmarkNearest reports the elements that are compared in a second.
func BenchmarkNearest(b *testing.B) {
	for _, c := range [][3]int{{1, 100_000, 128}, {1000, 10_000, 128}, {200, 20_000, 768}} {
		for metric := range Dot + 1 {
			b.Run(fmt.Sprintf("%d of %d, %d, %v", c[0], c[1], c[2], metric), func(b *testing.B) {
				m, rows := randomDense(b, c[1], c[2])
				b.Cleanup(func() { require.NoError(b, rows.Release()) })
				_, queries := randomDense(b, c[0], c[2])
				b.Cleanup(func() { require.NoError(b, queries.Release()) })
				for b.Loop() {
					n, err := Nearest(context.Background(), queries, rows, 10, NearestOptions{Options: kernels.Options{Manager: m}, Metric: metric})
					require.NoError(b, err)
					require.NoError(b, n.Release())
				}
				b.ReportMetric(float64(b.N)*float64(c[0])*float64(c[1])*float64(c[2])/b.Elapsed().Seconds()/1e9, "Gelements/s")
			})
		}
	}
}

// BenchmarkFunctions computes the functions of a million elements.
func BenchmarkFunctions(b *testing.B) {
	for _, dim := range []int{4, 128} {
		_, d := randomDense(b, 1<<20/dim, dim)
		b.Cleanup(func() { require.NoError(b, d.Release()) })
		list := arrow.FixedSizeListOf(int32(dim), arrow.PrimitiveTypes.Float32)
		c, err := column.New(column.Data{Type: list, Length: d.Rows, Buffers: make([]column.Bytes, 1), Children: []*column.Column{d.Values}})
		require.NoError(b, err)
		table, err := buffer.New(arrow.NewSchema([]arrow.Field{{Name: "x", Type: list}}, nil), []*column.Column{c}, buffer.Rows{Count: int64(d.Rows)})
		require.NoError(b, err)
		x := expr.Col("x")
		for name, e := range map[string]expr.Expr{"dot": DotProduct(x, x), "cosine": CosineSimilarity(x, x), "literal": L2Distance(x, Literal(make([]float64, dim)))} {
			b.Run(fmt.Sprintf("%s, %d", name, dim), func(b *testing.B) {
				b.SetBytes(4 << 20)
				for b.Loop() {
					columns, err := expr.Evaluate(context.Background(), table, []expr.Expr{e})
					require.NoError(b, err)
					require.NoError(b, columns[0].Release())
				}
			})
		}
	}
}
