package packed_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/packed"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
)

// BenchmarkPack packs columns as lineitem has them.
func BenchmarkPack(b *testing.B) {
	const rows = 4 * packed.BlockRows
	g := arraytest.NewGenerator(1)
	g.Nulls = arraytest.NoneNull
	modes := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	for range rows {
		modes.Append([]string{"AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"}[g.IntN(7)])
	}
	decimal := &arrow.Decimal128Type{Precision: 15, Scale: 2}
	for _, c := range []struct {
		name   string
		values arrow.Array
	}{
		{"key", numbers(g, arrow.PrimitiveTypes.Int64, rows, func(i int) int64 { return int64(i/4*32 + i/4%8) })},
		{"foreign key", numbers(g, arrow.PrimitiveTypes.Int64, rows, func(int) int64 { return g.Int64N(20_000_000) })},
		{"quantity", numbers(g, decimal, rows, func(int) int64 { return 100 * (g.Int64N(50) + 1) })},
		{"price", numbers(g, decimal, rows, func(int) int64 { return g.Int64N(10_000_000) })},
		{"date", numbers(g, arrow.FixedWidthTypes.Date32, rows, func(int) int64 { return g.Int64N(2526) })},
		{"mode", modes.NewArray()},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportMetric(0, "ns/op")
			for b.Loop() {
				p, err := packed.NewPacker([]arrow.DataType{c.values.DataType()}, arrowmemory.DefaultAllocator)
				require.NoError(b, err)
				_, _, err = p.Pack(b.Context(), [][]arrow.Array{{c.values}})
				require.NoError(b, err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
