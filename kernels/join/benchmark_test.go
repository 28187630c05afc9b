package join_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	_ "github.com/gpuframe/gpuframe/device/host"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/memory"
)

// BenchmarkRows joins int64 keys on the host, and for comparison by a Go map. The time is
// that of a join; rows are those of both sides.
func BenchmarkRows(b *testing.B) {
	for _, n := range []int{1000, 1 << 20} {
		keys := make([]int64, n)
		for i := range keys {
			keys[i] = rand.Int64()
		}
		shuffled := make([]int64, n)
		for i, j := range rand.Perm(n) {
			shuffled[i] = keys[j]
		}
		repeated := make([]int64, n)
		for i := range repeated {
			repeated[i] = keys[i/8]
		}
		for _, c := range []struct {
			name        string
			left, right []int64
		}{{"distinct", keys, shuffled}, {"eight each", keys, repeated}} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) { benchmarkRows(b, c.left, c.right) })
			b.Run(fmt.Sprintf("%s/%d/map", c.name, n), func(b *testing.B) {
				for b.Loop() {
					mapJoin(c.left, c.right)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*n), "ns/row")
			})
		}
	}
}

func benchmarkRows(b *testing.B, left, right []int64) {
	dev, err := device.Open("host")
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, dev.Close()) })
	mgr, err := memory.NewManager(dev, memory.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, mgr.Close()) })
	x, y := tableOfKeys(b, mgr, arrow.PrimitiveTypes.Int64, left), tableOfKeys(b, mgr, arrow.PrimitiveTypes.Int64, right)
	for b.Loop() {
		leftRows, rightRows, err := join.Rows(b.Context(), x, y, join.Using("k0"), join.Options{})
		require.NoError(b, err)
		require.NoError(b, leftRows.Release())
		require.NoError(b, rightRows.Release())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(left)+len(right)), "ns/row")
}
