package summary_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/summary"
	"github.com/gpuframe/gpuframe/memory"
)

func standIns() map[string]launchtest.Kernel {
	return map[string]launchtest.Kernel{
		"histogram_whole_32": {}, "histogram_i32": {}, "top_count_32": {}, "top_collect_32": {}, "top_sort_32": {},
	}
}

// TestLaunch looks at what reaches the driver.
func TestLaunch(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: standIns()}
	mgr := devicetest.Manager(t, launchtest.Open(t, gpu), memory.Options{})
	launched := func(rows int, run func(c *column.Column)) []launchtest.Launch {
		in := arraytest.NewGenerator(1).Array(arrow.PrimitiveTypes.Int32, rows)
		defer in.Release()
		c, before := upload(t, mgr, in), len(gpu.Launches())
		run(c)
		return gpu.Launches()[before:]
	}
	histogram := func(options summary.HistogramOptions) func(*column.Column) {
		return func(c *column.Column) {
			counts, err := summary.Histogram(t.Context(), c, options)
			require.NoError(t, err)
			require.NoError(t, counts.Release())
		}
	}
	few := launched(1000, histogram(summary.HistogramOptions{Bins: 256, High: 256}))
	require.Len(t, few, 1)
	assert.Equal(t, "histogram_whole_32", few[0].Name)
	assert.Equal(t, device.Dim3{X: 1}, few[0].Config.Grid)
	assert.Equal(t, uint32(8*256*4), few[0].Config.SharedBytes, "counters for each warp")
	many := launched(4<<20, histogram(summary.HistogramOptions{Bins: 5000, High: 2500}))
	assert.Equal(t, "histogram_i32", many[0].Name)
	assert.Equal(t, device.Dim3{X: 4 * launchtest.Multiprocessors}, many[0].Config.Grid)
	assert.Equal(t, uint32(5000*4), many[0].Config.SharedBytes, "counters for all")
	most := launched(1000, histogram(summary.HistogramOptions{Bins: 1 << 20, High: 1 << 20}))
	assert.Zero(t, most[0].Config.SharedBytes, "counters in global memory")

	top := func(c *column.Column) {
		top, err := summary.TopK(t.Context(), c, 10)
		require.NoError(t, err)
		require.NoError(t, top.Release())
	}
	assert.Len(t, launched(2048, top), 1, "few rows are sorted at once")
	var names []string
	for _, l := range launched(2049, top) {
		names = append(names, l.Name)
	}
	assert.Equal(t, []string{"top_count_32", "top_count_32", "top_count_32", "top_collect_32", "top_sort_32"}, names)
}

// operations are all ways that allocate differently.
func operations() []faulttest.Operation {
	ways := map[string]func(ctx context.Context, c *column.Column) (func() error, error){
		"histogram": func(ctx context.Context, c *column.Column) (func() error, error) {
			counts, err := summary.Histogram(ctx, c, summary.HistogramOptions{Bins: 10, High: 10})
			return counts.Release, err
		},
		"histogram by edges": func(ctx context.Context, c *column.Column) (func() error, error) {
			counts, err := summary.Histogram(ctx, c, summary.HistogramOptions{Edges: []float64{0, 1, 5}})
			return counts.Release, err
		},
		"top": func(ctx context.Context, c *column.Column) (func() error, error) {
			top, err := summary.TopK(ctx, c, 10)
			return top.Release, err
		},
		"top of counted": func(ctx context.Context, c *column.Column) (func() error, error) {
			top, err := summary.TopK(ctx, c, 10)
			return top.Release, err
		},
	}
	var all []faulttest.Operation
	for name, way := range ways {
		all = append(all, faulttest.Operation{
			Name: name, Says: "summary: ", Waits: true, Kernels: standIns(),
			Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
				in := arraytest.NewGenerator(1).Array(arrow.PrimitiveTypes.Int32, 40_000)
				defer in.Release()
				c, err := column.FromArray(t.Context(), m, in, column.UploadOptions{})
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, c.Release()) })
				given := c
				if name == "top of counted" {
					given = withRows(t, m, c, 30_000)
				}
				return func(ctx context.Context) (func(testing.TB), error) {
					release, err := way(ctx, given)
					if err != nil {
						return nil, err
					}
					return func(t testing.TB) { require.NoError(t, release()) }, nil
				}
			},
		})
	}
	return all
}

func TestEachCall(t *testing.T)     { faulttest.EachCall(t, operations()...) }
func TestEachCallLost(t *testing.T) { faulttest.EachCallLost(t, operations()...) }

// TestWithoutMemory fails the result's memory, and on a GPU that of the selection.
func TestWithoutMemory(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		c := upload(t, mgr, samples(t, arrow.PrimitiveTypes.Int64, 40_000)[0].array)
		for _, budget := range []uint64{1 << 10, 40_000} {
			child, err := mgr.Child("small", budget)
			require.NoError(t, err)
			top, err := summary.TopK(t.Context(), c, 1000, summary.TopOptions{Options: kernels.Options{Manager: child}})
			if budget > 1<<10 && dev.Kind() == device.Host {
				require.NoError(t, err, "the host takes no more than the result")
				require.NoError(t, top.Release())
			} else {
				require.ErrorIs(t, err, memory.ErrBudget)
			}
			_, err = summary.Histogram(t.Context(), c, summary.HistogramOptions{Options: kernels.Options{Manager: child}, Bins: 10_000, High: 1})
			require.ErrorIs(t, err, memory.ErrBudget)
			require.NoError(t, child.Close())
		}
	})
}

// rounds are enough for waiting for the last one hardly to count.
const rounds = 16

// BenchmarkSummary prints Grows/s, of 2²⁷ rows and of 1,000, beside the copy rate of
// the same device in the same process.
func BenchmarkSummary(b *testing.B) {
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
	for _, rows := range []int{1000, 1 << 27} {
		u32, f64 := make([]uint32, rows), make([]float64, rows)
		for i := range rows {
			u32[i] = uint32(i) * 2654435761 // all over
			f64[i] = float64(u32[i]) / (1 << 32)
		}
		spread, hot := randomColumn(b, mgr, arrow.PrimitiveTypes.Uint32, u32), randomColumn(b, mgr, arrow.PrimitiveTypes.Uint32, make([]uint32, rows))
		numbers := randomColumn(b, mgr, arrow.PrimitiveTypes.Float64, f64)
		name := func(s string) string { return fmt.Sprintf("%s %d", s, rows) }
		whole := summary.HistogramOptions{Bins: 256, High: 1 << 32}
		even := whole
		even.High-- // no whole width
		for _, of := range []struct {
			name    string
			c       *column.Column
			options summary.HistogramOptions
		}{
			{"histogram u32 whole", spread, whole}, {"histogram u32", spread, even}, {"histogram u32 one value", hot, whole},
			{"histogram f64", numbers, summary.HistogramOptions{Bins: 256, High: 1}},
			{"histogram f64 2048", numbers, summary.HistogramOptions{Bins: 2048, High: 1}},
			{"histogram f64 edges", numbers, summary.HistogramOptions{Edges: []float64{0, 0.1, 0.2, 0.3, 0.9, 1}}},
		} {
			b.Run(name(of.name), func(b *testing.B) {
				measure(b, mgr, rows, func() error {
					counts, err := summary.Histogram(b.Context(), of.c, of.options)
					if err != nil {
						return err
					}
					return counts.Release()
				})
			})
		}
		for _, k := range []int{10, 1000} {
			for what, c := range map[string]*column.Column{"f64": numbers, "u32": spread, "u32 one value": hot} {
				b.Run(name(fmt.Sprintf("top %d %s", k, what)), func(b *testing.B) {
					measure(b, mgr, rows, func() error {
						top, err := summary.TopK(b.Context(), c, k)
						if err != nil {
							return err
						}
						return top.Release()
					})
				})
			}
		}
	}
}

func randomColumn[T memory.Element](b *testing.B, mgr *memory.Manager, of arrow.DataType, values []T) *column.Column {
	s, err := memory.NewSlice[T](mgr, len(values), memory.AllocateOptions{})
	require.NoError(b, err)
	defer s.Release()
	require.NoError(b, s.Upload(b.Context(), nil, values))
	return columnOf(b, of, len(values), s.AsBytes())
}

// measure times rounds of an operation at once, after one that loads its kernels.
func measure(b *testing.B, mgr *memory.Manager, rows int, run func() error) {
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
