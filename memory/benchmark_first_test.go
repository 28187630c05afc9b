package memory_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// BenchmarkFirstGigabyte uploads a gigabyte of ordinary memory with a new manager, with
// and without WarmStaging. GB/s are 10^9 bytes; "later" is the second upload of the
// same manager. It omits the host device, where transfers are plain copies.
func BenchmarkFirstGigabyte(b *testing.B) {
	const bytes = 1 << 30
	eachDevice(b, func(b *testing.B, dev *device.Device) {
		if dev.Kind() == device.Host {
			b.Skip("transfers on the host are plain copies")
		}
		host := make([]byte, bytes)
		for i := range host {
			host[i] = byte(i)
		}
		for _, warm := range []bool{false, true} {
			name := map[bool]string{false: "cold", true: "warmed"}[warm]
			b.Run(name, func(b *testing.B) {
				var first, later, warming time.Duration
				var pinned uint64
				for b.Loop() {
					mgr, err := memory.NewManager(dev, memory.Options{})
					require.NoError(b, err)
					slice, err := memory.NewSlice[uint8](mgr, bytes, memory.AllocateOptions{})
					require.NoError(b, err)
					upload := func() time.Duration {
						start := time.Now()
						require.NoError(b, slice.Upload(context.Background(), nil, host))
						require.NoError(b, mgr.Stream().Synchronize(context.Background()))
						return time.Since(start)
					}
					if warm {
						start := time.Now()
						require.NoError(b, mgr.WarmStaging(context.Background()))
						warming += time.Since(start)
					}
					first += upload()
					pinned = mgr.StagingStats().Pinned
					later += upload()
					require.NoError(b, slice.Release())
					require.NoError(b, mgr.Close())
				}
				each := func(total time.Duration) float64 { return float64(bytes) * float64(b.N) / total.Seconds() / 1e9 }
				b.ReportMetric(each(first), "GB/s")
				b.ReportMetric(each(later), "GB/s-later")
				b.ReportMetric(float64(pinned)/(1<<20), "MiB-pinned")
				b.ReportMetric(warming.Seconds()*1e3/float64(b.N), "ms-warming")
			})
		}
	})
}
