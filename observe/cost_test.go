package observe_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/observe"
)

// BenchmarkCost measures what recording adds to a pair of an allocation and a release. In
// each round, pairs without a recorder alternate with pairs of each kind in random order,
// on one manager. It reports the median over the rounds of the differences from the pairs
// without a recorder in the same round, and half the distance of their quartiles. The kind
// "off" is another measurement without a recorder: its difference is the noise.
func BenchmarkCost(b *testing.B) {
	kinds := []struct {
		name    string
		options observe.Options
	}{
		{"off", observe.Options{}},
		{"recorder", observe.Options{}},
		{"sampling", observe.Options{SampleBytes: observe.DefaultSampleBytes}},
		{"ring", observe.Options{Events: 100_000}},
		{"both", observe.Options{SampleBytes: observe.DefaultSampleBytes, Events: 100_000}},
	}
	for _, name := range []string{"host", "cuda:0"} {
		b.Run(name, func(b *testing.B) {
			dev := devicetest.Open(b, name)
			mgr := costManager(b, dev)
			var plain []float64
			differences := make([][]float64, len(kinds))
			for b.Loop() {
				base := pairTime(b, mgr)
				plain = append(plain, base)
				for _, at := range rand.Perm(len(kinds)) {
					close := func() {}
					if kinds[at].name != "off" {
						options := kinds[at].options
						options.Managers = []*memory.Manager{mgr}
						r, err := observe.New(options)
						require.NoError(b, err)
						close = r.Close
					}
					costPairs(b, mgr, kinds[at].options.Events) // fills the ring
					with := pairTime(b, mgr)
					close()
					// The average of the pairs before and after cancels a drift of the clock rate.
					after := pairTime(b, mgr)
					differences[at] = append(differences[at], with-(base+after)/2)
					base = after
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(quantile(plain, 0.5), "ns/pair")
			for i, kind := range kinds {
				b.ReportMetric(quantile(differences[i], 0.5), "ns/"+kind.name)
				b.ReportMetric((quantile(differences[i], 0.75)-quantile(differences[i], 0.25))/2, "ns±/"+kind.name)
			}
		})
	}
}

func costManager(b *testing.B, dev *device.Device) *memory.Manager {
	mgr, err := memory.NewManager(dev, memory.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, mgr.Close()) })
	return mgr
}

// pairTime returns the nanoseconds of a pair, the median of several runs.
func pairTime(b *testing.B, m *memory.Manager) float64 {
	const runs, pairs = 9, 2000
	var times []float64
	for range runs {
		begin := time.Now()
		costPairs(b, m, pairs)
		times = append(times, float64(time.Since(begin).Nanoseconds())/pairs)
	}
	return quantile(times, 0.5)
}

func costPairs(b *testing.B, m *memory.Manager, pairs int) {
	for range pairs {
		block, err := m.Allocate(4096, memory.AllocateOptions{Tag: "cost"})
		if err != nil {
			b.Fatal(err)
		}
		if err := block.Release(); err != nil {
			b.Fatal(err)
		}
	}
}

func quantile(values []float64, at float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(at*float64(len(sorted)-1))]
}
