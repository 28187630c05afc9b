package group_test

import (
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// TestMoreThanABillionRowsWithNulls has a number of rows for which the slot of the nulls
// would need more than 32 bits if the size of the table were a power of two.
func TestMoreThanABillionRowsWithNulls(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	const n = 1<<30 + 64
	free, _, err := dev.MemoryInfo()
	if devicetest.Emulated(dev) || err != nil || free < 40<<30 {
		t.Skip("takes 30 GiB of a GPU's memory")
	}
	mgr := devicetest.Manager(t, dev, memory.Options{})
	values, err := memory.NewSlice[uint8](mgr, n, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, values.Fill(nil, 7))
	valid, err := memory.NewSlice[uint8](mgr, n/8, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, valid.Fill(nil, 0x7f))
	c, err := column.New(column.Data{
		Type: arrow.PrimitiveTypes.Uint8, Length: n, NullCount: column.UnknownNullCount, Buffers: []column.Bytes{valid, values},
	})
	require.NoError(t, errors.Join(err, values.Release(), valid.Release()))
	defer func() { require.NoError(t, c.Release()) }()
	counted, err := group.ValueCounts(t.Context(), c)
	require.NoError(t, err)
	defer func() { require.NoError(t, counted.Release()) }()
	rows, err := counted.NumRows(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, rows)
	counts, err := counted.Column(1).Slice(0, 2)
	require.NoError(t, err)
	defer func() { require.NoError(t, counts.Release()) }()
	host, err := counts.Array(t.Context())
	require.NoError(t, err)
	defer host.Release()
	require.Equal(t, []int64{n / 8 * 7, n / 8}, host.(*array.Int64).Int64Values())
	require.Equal(t, device.CUDA, dev.Kind())
}
