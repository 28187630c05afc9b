package order_test

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
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

func topKernels() map[string]launchtest.Kernel {
	return map[string]launchtest.Kernel{"top_sample_32": {}, "top_gather_32": {}, "top_count_32": {}, "top_collect_32": {}, "top_sort_32": {}}
}

// TestTopKLaunches tests what reaches the driver.
func TestTopKLaunches(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: topKernels()}
	mgr := devicetest.Manager(t, launchtest.Open(t, gpu), memory.Options{})
	launches := func(rows int) (names []string) {
		in := arraytest.NewGenerator(1).Array(arrow.PrimitiveTypes.Int32, rows)
		defer in.Release()
		c, before := columntest.Upload(t, mgr, in), len(gpu.Launches())
		top, err := order.TopKColumn(t.Context(), c, 10)
		require.NoError(t, err)
		require.NoError(t, top.Release())
		for _, l := range gpu.Launches()[before:] {
			names = append(names, l.Name)
		}
		return names
	}
	assert.Equal(t, []string{"top_sort_32"}, launches(2048), "few rows are sorted at once")
	counted := []string{"top_count_32", "top_count_32", "top_count_32", "top_collect_32", "top_sort_32"}
	assert.Equal(t, counted, launches(2049))
	assert.Equal(t, append([]string{"top_sample_32", "top_gather_32"}, counted...), launches(1<<15), "of many rows candidates are counted")
}

// topCalls are the calls that allocate differently.
func topCalls() []faulttest.Operation {
	var all []faulttest.Operation
	for _, counted := range []int64{0, 30_000} {
		all = append(all, faulttest.Operation{
			Name: fmt.Sprintf("top, row count on the device %v", counted != 0), Says: "order: ", Waits: true, Kernels: topKernels(),
			Prepare: columntest.OnColumn(arrow.PrimitiveTypes.Int32, 40_000, counted, func(ctx context.Context, c *column.Column) (*order.Top, error) {
				return order.TopKColumn(ctx, c, 10)
			}),
		})
	}
	return all
}

func TestEachCall(t *testing.T)     { faulttest.EachCall(t, topCalls()...) }
func TestEachCallLost(t *testing.T) { faulttest.EachCallLost(t, topCalls()...) }

// TestTopKWithoutMemory fails the allocation of the result and, on a GPU, that of the
// selection.
func TestTopKWithoutMemory(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		c := columntest.Upload(t, mgr, columntest.Samples(t, arrow.PrimitiveTypes.Int64, 40_000)[0].Array)
		for _, budget := range []uint64{1 << 10, 40_000} {
			small, err := mgr.Child("small", budget)
			require.NoError(t, err)
			top, err := order.TopKColumn(t.Context(), c, 1000, order.TopOptions{Options: kernels.Options{Manager: small}})
			if budget > 1<<10 && dev.Kind() == device.Host {
				require.NoError(t, err, "the host allocates only the result")
				require.NoError(t, top.Release())
			} else {
				require.ErrorIs(t, err, memory.ErrBudget)
			}
			require.NoError(t, small.Close())
		}
	})
}

// BenchmarkTopK reports Grows/s of 2²⁷ rows and of 1,000, and the copy rate of the same
// device in the same process.
func BenchmarkTopK(b *testing.B) {
	mgr := devicetest.Manager(b, devicetest.Open(b, "cuda:0"), memory.Options{})
	b.Run("copy", func(b *testing.B) { columntest.MeasureCopy(b, mgr) })
	for _, rows := range []int{1000, 1 << 27} {
		spread, same, floats := columntest.BenchmarkColumns(b, mgr, rows)
		for _, k := range []int{10, 1000} {
			for what, c := range map[string]*column.Column{"f64": floats, "u32": spread, "u32 one value": same} {
				b.Run(fmt.Sprintf("%d of %s %d", k, what, rows), func(b *testing.B) {
					columntest.Measure(b, mgr, rows, func() error {
						top, err := order.TopKColumn(b.Context(), c, k)
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
