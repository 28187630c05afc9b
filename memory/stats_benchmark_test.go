package memory_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// BenchmarkStatsStop reports for how long reading the statistics of 1,000 tags stops
// allocations, if other work has filled the processor's cache before: the median and the
// 99 % quantile, with the reading that precedes the stop and without it.
func BenchmarkStatsStop(b *testing.B) {
	mgr, err := memory.NewManager(devicetest.Open(b, "host"), memory.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, mgr.Close()) })
	for i := range 1000 {
		block, err := mgr.Allocate(512, memory.AllocateOptions{Tag: fmt.Sprint("tag ", i)})
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, block.Release()) })
	}
	work := make([]byte, 32<<20)
	for _, before := range []bool{false, true} {
		b.Run(fmt.Sprint("read before=", before), func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				for i := 0; i < len(work); i += 64 {
					work[i]++
				}
				times = append(times, memory.StatsStop(mgr, before))
			}
			slices.Sort(times)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1000, "µs-median")
			b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds())/1000, "µs-p99")
		})
	}
}
