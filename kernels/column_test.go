package kernels_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

func uploadArray(t *testing.T, mgr *memory.Manager, builder array.Builder) *column.Column {
	t.Helper()
	defer builder.Release()
	values := builder.NewArray()
	defer values.Release()
	c, err := column.FromArray(t.Context(), mgr, values, column.UploadOptions{})
	require.NoError(t, err)
	return c
}

func numbers(t *testing.T, mgr *memory.Manager) *column.Column {
	t.Helper()
	builder := array.NewUint32Builder(arrowmemory.DefaultAllocator)
	builder.AppendValues([]uint32{10, 20, 30, 40, 50}, nil)
	return uploadArray(t, mgr, builder)
}

// TestGPUColumnsAsArguments passes columns as arguments: a column stands for its
// values, a slice for the values in it.
func TestGPUColumnsAsArguments(t *testing.T) {
	_, mgr, module := openGPU(t)
	whole := numbers(t, mgr)
	part, err := whole.Slice(1, 3)
	require.NoError(t, err)
	increment := function(t, module, "increment")
	require.NoError(t, increment.Launch(nil, device.Dim3{}, device.Dim3{X: 32}, 0, part, uint64(part.Len())))
	got, err := whole.Array(t.Context())
	require.NoError(t, err)
	defer got.Release()
	assert.Equal(t, []uint32{10, 21, 31, 41, 50}, got.(*array.Uint32).Uint32Values())
	require.NoError(t, part.Release())
	require.NoError(t, whole.Release())
}

func TestColumnsThatAreNoArguments(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"k": {Parameters: []int{8}}}}
	dev, module := loadKernels(t, gpu, kernels.LoadOptions{})
	mgr := devicetest.Manager(t, dev, memory.Options{})
	f := function(t, module, "k")

	text := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	text.Append("no fixed width")
	list := array.NewListBuilder(arrowmemory.DefaultAllocator, arrow.PrimitiveTypes.Int8)
	list.Append(true)
	for _, c := range []*column.Column{uploadArray(t, mgr, text), uploadArray(t, mgr, list)} {
		err := f.Launch(mgr.Stream(), device.Dim3{}, device.Dim3{}, 0, c)
		require.ErrorIs(t, err, column.ErrInvalid)
		var refused *kernels.ArgumentError
		require.ErrorAs(t, err, &refused)
		require.NoError(t, c.Release())
	}
	released := numbers(t, mgr)
	require.NoError(t, released.Release())
	require.ErrorIs(t, f.Launch(mgr.Stream(), device.Dim3{}, device.Dim3{}, 0, released), memory.ErrReleased)
	var none *column.Column
	require.ErrorIs(t, f.Launch(mgr.Stream(), device.Dim3{}, device.Dim3{}, 0, none), memory.ErrReleased)
	assert.Empty(t, gpu.Launches())
}
