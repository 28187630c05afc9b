package columntest

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/memory"
)

// rounds is large enough that the wait at the end of the rounds hardly counts.
const rounds = 16

// Measure times an operator that enqueues its work, after one run that loads its
// kernels. It reports the time of one run and, of an operator on rows, Grows/s.
func Measure(b *testing.B, mgr *memory.Manager, rows int, run func() error) {
	require.NoError(b, run())
	require.NoError(b, mgr.Stream().Synchronize(b.Context()))
	for b.Loop() {
		for range rounds {
			if err := run(); err != nil {
				b.Fatal(err)
			}
		}
		require.NoError(b, mgr.Stream().Synchronize(b.Context()))
	}
	each := b.Elapsed().Seconds() / float64(b.N*rounds)
	b.ReportMetric(each*1e6, "µs")
	if rows > 0 {
		b.ReportMetric(float64(rows)/each/1e9, "Grows/s")
	}
}

// MeasureCopy times copies of a gigabyte within the device, as the ceiling of what an
// operator can reach. It reports GB/s read and written.
func MeasureCopy(b *testing.B, mgr *memory.Manager) {
	from, err := memory.NewSlice[uint8](mgr, 1<<30, memory.AllocateOptions{})
	require.NoError(b, err)
	defer from.Release()
	to, err := memory.NewSlice[uint8](mgr, 1<<30, memory.AllocateOptions{})
	require.NoError(b, err)
	defer to.Release()
	require.NoError(b, from.Fill(nil, 1))
	Measure(b, mgr, 0, func() error { return to.CopyFrom(nil, from) })
	b.ReportMetric(2*rounds*float64(1<<30)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
}

// BenchmarkColumns returns columns of rows values for benchmarks: uint32 all over their
// range, uint32 of one value, and float64 in [0, 1).
func BenchmarkColumns(b *testing.B, mgr *memory.Manager, rows int) (spread, same, floats *column.Column) {
	u32, f64 := make([]uint32, rows), make([]float64, rows)
	for i := range rows {
		u32[i] = uint32(i) * 2654435761
		f64[i] = float64(u32[i]) / (1 << 32)
	}
	return ColumnOf(b, mgr, arrow.PrimitiveTypes.Uint32, u32),
		ColumnOf(b, mgr, arrow.PrimitiveTypes.Uint32, make([]uint32, rows)),
		ColumnOf(b, mgr, arrow.PrimitiveTypes.Float64, f64)
}
