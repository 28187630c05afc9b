//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu_test

import (
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/gorgoniacu"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// TestBindingMemoryBecomesColumn makes a column over memory of cu.MemAlloc.
func TestBindingMemoryBecomesColumn(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device, mgr *memory.Manager) {
		const count = 1000
		pointer := allocate(t, dev, counting(count, 0))
		released := 0
		block, err := gorgoniacu.FromDevicePtr(mgr, pointer, 4*count, gorgoniacu.Owner{Release: func() error {
			released++
			return gorgoniacu.Do(dev, func() error { return cu.MemFree(pointer) })
		}})
		require.NoError(t, err)
		assert.Equal(t, pointer, gorgoniacu.DevicePtr(block), "the same memory")
		assert.Equal(t, device.MemoryDevice, block.Kind())
		assert.True(t, block.External())
		assert.EqualValues(t, 4*count, mgr.Stats().External)

		whole, err := memory.View[uint8](block, 0, 4*count)
		require.NoError(t, err)
		c, err := column.New(column.Data{
			Type: arrow.PrimitiveTypes.Uint32, Length: count, Buffers: []column.Bytes{{}, whole},
		})
		require.NoError(t, err)
		require.NoError(t, block.Release(), "the column holds it")
		require.Zero(t, released)

		arrays, err := column.ToArrays(t.Context(), []*column.Column{c}, column.DownloadOptions{})
		require.NoError(t, err)
		assert.Equal(t, counting(count, 0), arrays[0].(*array.Uint32).Uint32Values())
		arrays[0].Release()
		require.NoError(t, c.Release())
		assert.Equal(t, 1, released, "with the last reference")
	})
}

// TestColumnIsArgumentOfBindingKernel loads and launches a kernel with gorgonia.org/cu
// on a gpuframe column, in a gpuframe stream.
func TestColumnIsArgumentOfBindingKernel(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device, mgr *memory.Manager) {
		const count, add = 1000, 0xFFFFFFF0 // which wraps round
		builder := array.NewUint32Builder(arrowmemory.DefaultAllocator)
		builder.AppendValues(counting(count, 0), nil)
		source := builder.NewUint32Array()
		c, err := column.FromArray(t.Context(), mgr, source, column.UploadOptions{})
		require.NoError(t, err)
		elements, err := column.Elements[uint32](c)
		require.NoError(t, err)
		stream, err := gorgoniacu.Stream(mgr.Stream())
		require.NoError(t, err)

		do(t, dev, func() error {
			module, err := cu.LoadData(addScalar)
			if err != nil {
				return err
			}
			function, err := module.Function("add_wide")
			if err != nil {
				return err
			}
			at, n, scalar := uint64(elements.Pointer()), uint64(count), uint64(add)
			arguments := []unsafe.Pointer{unsafe.Pointer(&at), unsafe.Pointer(&n), unsafe.Pointer(&scalar)}
			if err := function.Launch(16, 1, 1, 64, 1, 1, 0, stream, arguments); err != nil {
				return err
			}
			if err := stream.Synchronize(); err != nil {
				return err
			}
			return module.Unload()
		})
		arrays, err := column.ToArrays(t.Context(), []*column.Column{c}, column.DownloadOptions{})
		require.NoError(t, err)
		scalar := uint32(add)
		assert.Equal(t, counting(count, scalar), arrays[0].(*array.Uint32).Uint32Values())
		arrays[0].Release()
		source.Release()
		require.NoError(t, c.Release())
	})
}

// TestFromDevicePtrRefuses passes memory that does not match its description.
func TestFromDevicePtrRefuses(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device, mgr *memory.Manager) {
		pointer := allocate(t, dev, counting(256, 0))
		owner := gorgoniacu.Owner{Release: func() error { t.Error("nothing was adopted"); return nil }}
		heap := make([]uint32, 256)
		for name, try := range map[string]struct {
			mgr     *memory.Manager
			pointer cu.DevicePtr
			bytes   uint64
		}{
			"longer than it is":  {mgr, pointer, 1 << 40},
			"memory of Go's":     {mgr, cu.DevicePtr(uintptr(unsafe.Pointer(&heap[0]))), 1024},
			"null":               {mgr, 0, 1024},
			"more than there is": {mgr, pointer, 1<<64 - 1},
			"on the host":        {devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), pointer, 1024},
		} {
			block, err := gorgoniacu.FromDevicePtr(try.mgr, try.pointer, try.bytes, owner)
			require.Error(t, err, name)
			require.ErrorContains(t, err, "gorgonia: a block of 0x", name)
			require.Nil(t, block, name)
		}
		free(t, dev, pointer)
	})
}

// TestOwner checks that the fields of an Owner reach the block.
func TestOwner(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device, mgr *memory.Manager) {
		const count = 1 << 20
		pointer := allocate(t, dev, counting(count, 0))
		var stream cu.Stream
		do(t, dev, func() (err error) {
			stream, err = cu.MakeStream(cu.NonBlocking)
			return err
		})
		ours, err := gorgoniacu.FromStream(dev, stream)
		require.NoError(t, err)
		do(t, dev, func() error { return cu.MemsetD32Async(pointer, 7, count, stream) })
		block, err := gorgoniacu.FromDevicePtr(mgr, pointer, 4*count, gorgoniacu.Owner{Stream: ours, ReadOnly: true})
		require.NoError(t, err)
		assert.True(t, block.ReadOnly())
		assert.True(t, block.Ordered())

		view, err := memory.View[uint32](block, 0, count)
		require.NoError(t, err)
		values := make([]uint32, count)
		require.NoError(t, view.Download(t.Context(), nil, values))
		for _, value := range values {
			require.EqualValues(t, 7, value, "the fill came before")
		}
		require.NoError(t, block.Release())
		do(t, dev, func() error { return stream.Destroy() })
		free(t, dev, pointer)
	})
}

// TestStrictModuleTakesBindingMemory checks that gpuframe's strictest launch accepts a
// block of FromDevicePtr, because its contents are known to be complete.
func TestStrictModuleTakesBindingMemory(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device, mgr *memory.Manager) {
		const count = 1000
		pointer := allocate(t, dev, counting(count, 0))
		block, err := gorgoniacu.FromDevicePtr(mgr, pointer, 4*count, gorgoniacu.Owner{})
		require.NoError(t, err)
		module, err := kernels.LoadWith(dev, addScalar, kernels.LoadOptions{Strict: true})
		require.NoError(t, err)
		add, err := module.Function("add_scalar")
		require.NoError(t, err)
		require.NoError(t, add.Launch(nil, device.Dim3{X: 16}, device.Dim3{X: 64}, 0, block, uint32(count), uint32(5)))
		require.NoError(t, mgr.Stream().Synchronize(t.Context()))
		assert.Equal(t, counting(count, 5), read(t, dev, pointer, count))
		require.NoError(t, block.Release())
		require.NoError(t, module.Close())
		free(t, dev, pointer)
	})
}
