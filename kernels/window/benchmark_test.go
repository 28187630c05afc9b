package window_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// rounds makes the final wait negligible.
const rounds = 16

// BenchmarkScan prints Grows/s for 2²⁷ and for 1,000 rows, and the copy rate of the
// same device in the same process.
func BenchmarkScan(b *testing.B) {
	dev := devicetest.Open(b, "cuda:0")
	mgr := devicetest.Manager(b, dev, memory.Options{})
	b.Run("copy", func(b *testing.B) {
		from, err := memory.NewSlice[uint8](mgr, 1<<30, memory.AllocateOptions{})
		require.NoError(b, err)
		defer from.Release()
		to, err := memory.NewSlice[uint8](mgr, 1<<30, memory.AllocateOptions{})
		require.NoError(b, err)
		defer to.Release()
		require.NoError(b, from.Fill(nil, 1))
		measure(b, mgr, 0, func() error { return to.CopyFrom(nil, from) })
		b.ReportMetric(2*rounds*float64(1<<30)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
	})
	for _, of := range []struct {
		name  string
		run   operation
		of    arrow.DataType
		bytes int
		nulls bool
	}{
		{"sum f64", window.CumulativeSum, arrow.PrimitiveTypes.Float64, 8, false},
		{"sum f64 nulls", window.CumulativeSum, arrow.PrimitiveTypes.Float64, 8, true},
		{"sum i64", window.CumulativeSum, arrow.PrimitiveTypes.Int64, 8, false},
		{"sum f32", window.CumulativeSum, arrow.PrimitiveTypes.Float32, 4, false},
		{"sum i32", window.CumulativeSum, arrow.PrimitiveTypes.Int32, 4, false},
		{"max f64", window.CumulativeMax, arrow.PrimitiveTypes.Float64, 8, false},
		{"max f64 ascending", window.CumulativeMax, arrow.PrimitiveTypes.Float64, 8, false},
		{"max i64", window.CumulativeMax, arrow.PrimitiveTypes.Int64, 8, false},
		{"max i32", window.CumulativeMax, arrow.PrimitiveTypes.Int32, 4, false},
		{"fill forward f64", window.FillForward, arrow.PrimitiveTypes.Float64, 8, true},
	} {
		for _, rows := range []int{1000, 1 << 27} {
			b.Run(of.name, func(b *testing.B) {
				c := ones(b, mgr, of.of, rows, of.bytes, of.nulls)
				ctx := b.Context()
				if strings.HasSuffix(of.name, "ascending") {
					// Sums of small positive numbers, as floats with these bytes are.
					sums, err := window.CumulativeSum(ctx, c)
					require.NoError(b, err)
					b.Cleanup(func() { require.NoError(b, sums.Release()) })
					c = sums
				}
				measure(b, mgr, rows, func() error {
					result, err := of.run(ctx, c, window.Options{SkipNulls: true})
					if err != nil {
						return err
					}
					return result.Release()
				})
			})
		}
	}
}

// ones is a column with the same byte everywhere. If nulls is true every other row is
// null.
func ones(b *testing.B, mgr *memory.Manager, of arrow.DataType, rows, bytes int, nulls bool) *column.Column {
	values, err := memory.NewSlice[uint8](mgr, rows*bytes, memory.AllocateOptions{})
	require.NoError(b, err)
	defer values.Release()
	require.NoError(b, values.Fill(nil, 1))
	data := column.Data{Type: of, Length: rows, Buffers: []column.Bytes{{}, values}}
	if nulls {
		valid, err := memory.NewSlice[uint8](mgr, (rows+7)/8, memory.AllocateOptions{})
		require.NoError(b, err)
		defer valid.Release()
		require.NoError(b, valid.Fill(nil, 0x55))
		data.Buffers[0], data.NullCount = valid, column.UnknownNullCount
	}
	c, err := column.New(data)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, c.Release()) })
	return c
}

// measure times the rounds of an operation together, after one run that loads its
// kernels.
func measure(b *testing.B, mgr *memory.Manager, rows int, run func() error) {
	ctx := b.Context()
	require.NoError(b, run())
	require.NoError(b, mgr.Stream().Synchronize(ctx))
	for b.Loop() {
		for range rounds {
			if err := run(); err != nil {
				b.Fatal(err)
			}
		}
		require.NoError(b, mgr.Stream().Synchronize(ctx))
	}
	each := b.Elapsed().Seconds() / float64(b.N*rounds)
	b.ReportMetric(each*1e6, "µs")
	if rows > 0 {
		b.ReportMetric(float64(rows)/each/1e9, "Grows/s")
	}
}
