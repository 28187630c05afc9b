package order_test

import (
	"math/bits"
	"os"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

// TestSortColumnHuge sorts 2³¹ + 1 rows of one byte on a GPU, if GPUFRAME_HUGE is 1 and the
// device has the memory: half a minute and 8 GB of the host.
func TestSortColumnHuge(t *testing.T) {
	if os.Getenv("GPUFRAME_HUGE") != "1" || bits.UintSize < 64 {
		t.Skip("set GPUFRAME_HUGE=1 to sort 2^31 + 1 rows")
	}
	devicetest.EachGPU(t, func(t *testing.T, dev *device.Device) {
		if dev.Info().TotalMemory < 30<<30 {
			t.Skip("the device has less than 30 GiB")
		}
		mgr := devicetest.Manager(t, dev, memory.Options{})
		most := uint64(1)<<31 + 1
		n := int(most)
		values, want := make([]byte, n), [256]int{}
		for i := range values {
			values[i] = byte(uint64(i) * 0x9e3779b97f4a7c15 >> 56)
			want[values[i]]++
		}
		memorySlice, err := memory.NewSlice[uint8](mgr, n, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, memorySlice.Upload(t.Context(), nil, values))
		c, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Uint8, Length: n, Buffers: []column.Bytes{{}, memorySlice}})
		require.NoError(t, err)
		require.NoError(t, memorySlice.Release())
		sorted, err := order.SortColumn(t.Context(), c)
		require.NoError(t, err)
		require.NoError(t, c.Release())
		require.NoError(t, sorted.Buffer(1).Download(t.Context(), nil, values))
		require.NoError(t, sorted.Release())
		at := 0
		for value, count := range want {
			for range count {
				if values[at] != byte(value) {
					t.Fatalf("place %d has %d, not %d", at, values[at], value)
				}
				at++
			}
		}
	})
}
