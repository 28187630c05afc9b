//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"math"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestImportTakesForeignMemory(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		for _, each := range numerics() {
			t.Run(each.arrow.Name(), func(t *testing.T) {
				eitherStruct(t, func(t *testing.T, legacy bool) {
					const length = 10
					values := pattern(length * each.width())
					pointer := devicetest.Foreign(t, m.Device(), values)
					p := newProducer(t, m.Device(), pointer, each.dlpack, length)
					c, err := importEither(m, p, legacy)
					require.NoError(t, err)

					assert.True(t, arrow.TypeEqual(each.arrow, c.Type()))
					assert.Equal(t, length, c.Len())
					assert.Zero(t, c.NullCount())
					block := c.Buffer(1).Block()
					assert.Equal(t, pointer, block.Pointer())
					assert.Equal(t, memory.DLPack, block.Origin())
					assert.False(t, block.ReadOnly())
					assert.True(t, block.Ordered())
					assert.EqualValues(t, len(values), m.Stats().External)
					assert.Zero(t, m.Stats().InUse)
					assert.Equal(t, values, valueBytes(t, c, each.width()))

					require.Zero(t, p.Deleted())
					require.NoError(t, c.Release())
					require.Equal(t, 1, p.Deleted())
					requireNothingHeld(t, m)
				})
			})
		}
	})
}

// These are valid tensors other than the simplest.
func TestImportAccepts(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		dev := m.Device()
		pointer := devicetest.Foreign(t, dev, pattern(4096))
		for name, each := range map[string]struct {
			alter  func(p *cabitest.Producer, tensor *cabi.Tensor)
			values []byte
		}{
			"no strides":             {func(_ *cabitest.Producer, tensor *cabi.Tensor) { tensor.Strides = 0 }, pattern(4096)[:40]},
			"a stride of one value":  {func(p *cabitest.Producer, _ *cabi.Tensor) { p.Shape[0], p.Strides[0] = 1, 77 }, pattern(4096)[:4]},
			"a scalar":               {func(_ *cabitest.Producer, tensor *cabi.Tensor) { tensor.NDim, tensor.Shape, tensor.Strides = 0, 0, 0 }, pattern(4096)[:4]},
			"byte_offset":            {func(_ *cabitest.Producer, tensor *cabi.Tensor) { tensor.ByteOffset = 256 }, pattern(4096)[256:296]},
			"no elements at nowhere": {func(p *cabitest.Producer, tensor *cabi.Tensor) { p.Shape[0], tensor.Data = 0, 0 }, []byte{}},
			"no elements somewhere":  {func(p *cabitest.Producer, tensor *cabi.Tensor) { p.Shape[0], tensor.Data = 0, 3 }, []byte{}},
			"unknown flags":          {func(p *cabitest.Producer, _ *cabi.Tensor) { p.Versioned.Flags = 1<<40 | 6 }, pattern(4096)[:40]},
			"a newer minor version":  {func(p *cabitest.Producer, _ *cabi.Tensor) { p.Versioned.Version.Minor = 99 }, pattern(4096)[:40]},
		} {
			t.Run(name, func(t *testing.T) {
				eitherStruct(t, func(t *testing.T, legacy bool) {
					p := newProducer(t, dev, pointer, float32Type, 10)
					each.alter(p, eitherTensor(p, legacy))
					c, err := importEither(m, p, legacy)
					require.NoError(t, err)
					assert.Equal(t, each.values, valueBytes(t, c, 4))
					require.NoError(t, c.Release())
					assert.Equal(t, 1, p.Deleted())
					requireNothingHeld(t, m)
				})
			})
		}
		t.Run("no deleter", func(t *testing.T) {
			eitherStruct(t, func(t *testing.T, legacy bool) {
				p := newProducer(t, dev, pointer, float32Type, 10)
				p.WithoutDeleter()
				c, err := importEither(m, p, legacy)
				require.NoError(t, err)
				require.NoError(t, c.Release())
				requireNothingHeld(t, m)
			})
		})
	})
}

func eitherTensor(p *cabitest.Producer, legacy bool) *cabi.Tensor {
	if legacy {
		return &p.Legacy.Tensor
	}
	return &p.Versioned.Tensor
}

// typed gives a tensor another data type.
func typed(dataType cabi.DataType) func(*cabitest.Producer, *cabi.Tensor) {
	return func(_ *cabitest.Producer, x *cabi.Tensor) { x.DataType = dataType }
}

func TestImportRefuses(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		dev := m.Device()
		pointer := devicetest.Foreign(t, dev, pattern(4096))
		for name, each := range map[string]struct {
			alter  func(p *cabitest.Producer, tensor *cabi.Tensor)
			field  string
			reason error
		}{
			"an unknown type code":  {func(_ *cabitest.Producer, x *cabi.Tensor) { x.DataType.Code = 200 }, "dtype.code", dlpack.ErrUnsupported},
			"bfloat16 of 8 bits":    {typed(cabi.DataType{Code: cabi.CodeBfloat, Bits: 8, Lanes: 1}), "dtype.bits", dlpack.ErrUnsupported},
			"complex of two halves": {typed(cabi.DataType{Code: cabi.CodeComplex, Bits: 32, Lanes: 1}), "dtype.bits", dlpack.ErrUnsupported},
			"fp8 of 16 bits":        {typed(cabi.DataType{Code: cabi.CodeFloat8E4M3FN, Bits: 16, Lanes: 1}), "dtype.bits", dlpack.ErrUnsupported},
			"fp6":                   {typed(cabi.DataType{Code: cabi.CodeFloat6E2M3FN, Bits: 6, Lanes: 1}), "dtype.code", dlpack.ErrUnsupported},
			"fp4":                   {typed(cabi.DataType{Code: cabi.CodeFloat4E2M1FN, Bits: 4, Lanes: 1}), "dtype.code", dlpack.ErrUnsupported},
			"fp4 by twos":           {typed(cabi.DataType{Code: cabi.CodeFloat4E2M1FN, Bits: 4, Lanes: 2}), "dtype.lanes", dlpack.ErrUnsupported},
			"an opaque handle":      {typed(cabi.DataType{Code: cabi.CodeOpaque, Bits: 64, Lanes: 1}), "dtype.code", dlpack.ErrUnsupported},
			"7 bits":                {func(_ *cabitest.Producer, x *cabi.Tensor) { x.DataType.Bits = 7 }, "dtype.bits", dlpack.ErrUnsupported},
			"no bits":               {func(_ *cabitest.Producer, x *cabi.Tensor) { x.DataType.Bits = 0 }, "dtype.bits", dlpack.ErrUnsupported},
			"bool of one bit":       {typed(cabi.DataType{Code: cabi.CodeBool, Bits: 1, Lanes: 1}), "dtype.bits", dlpack.ErrUnsupported},
			"4 lanes":               {func(_ *cabitest.Producer, x *cabi.Tensor) { x.DataType.Lanes = 4 }, "dtype.lanes", dlpack.ErrUnsupported},
			"no lanes":              {func(_ *cabitest.Producer, x *cabi.Tensor) { x.DataType.Lanes = 0 }, "dtype.lanes", dlpack.ErrUnsupported},
			"9 dimensions":          {func(_ *cabitest.Producer, x *cabi.Tensor) { x.NDim = 9 }, "ndim", dlpack.ErrUnsupported},
			"all dimensions":        {func(_ *cabitest.Producer, x *cabi.Tensor) { x.NDim = math.MaxInt32 }, "ndim", dlpack.ErrUnsupported},
			"a misaligned shape":    {func(_ *cabitest.Producer, x *cabi.Tensor) { x.Shape++ }, "shape", dlpack.ErrInvalid},
			"misaligned strides":    {func(_ *cabitest.Producer, x *cabi.Tensor) { x.Strides += 4 }, "strides", dlpack.ErrInvalid},
			"-1 dimensions":         {func(_ *cabitest.Producer, x *cabi.Tensor) { x.NDim = -1 }, "ndim", dlpack.ErrInvalid},
			"no shape":              {func(_ *cabitest.Producer, x *cabi.Tensor) { x.Shape = 0 }, "shape", dlpack.ErrInvalid},
			"a negative length":     {func(p *cabitest.Producer, _ *cabi.Tensor) { p.Shape[0] = -1 }, "shape[0]", dlpack.ErrInvalid},
			"the largest length":    {func(p *cabitest.Producer, _ *cabi.Tensor) { p.Shape[0] = math.MaxInt64 }, "shape[0]", dlpack.ErrInvalid},
			"past the last byte":    {func(p *cabitest.Producer, x *cabi.Tensor) { x.Data = math.MaxUint - 31 }, "shape[0]", dlpack.ErrInvalid},
			"a stride of two":       {func(p *cabitest.Producer, _ *cabi.Tensor) { p.Strides[0] = 2 }, "strides[0]", dlpack.ErrUnsupported},
			"a stride of zero":      {func(p *cabitest.Producer, _ *cabi.Tensor) { p.Strides[0] = 0 }, "strides[0]", dlpack.ErrUnsupported},
			"a stride backwards":    {func(p *cabitest.Producer, _ *cabi.Tensor) { p.Strides[0] = -1 }, "strides[0]", dlpack.ErrUnsupported},
			"no data":               {func(_ *cabitest.Producer, x *cabi.Tensor) { x.Data = 0 }, "data", dlpack.ErrInvalid},
			"misaligned data":       {func(_ *cabitest.Producer, x *cabi.Tensor) { x.Data++ }, "data", dlpack.ErrInvalid},
			"a misaligned offset":   {func(_ *cabitest.Producer, x *cabi.Tensor) { x.ByteOffset = 2 }, "data", dlpack.ErrInvalid},
			"an endless offset":     {func(_ *cabitest.Producer, x *cabi.Tensor) { x.ByteOffset = math.MaxUint64 }, "byte_offset", dlpack.ErrInvalid},
			"another GPU":           {func(_ *cabitest.Producer, x *cabi.Tensor) { x.Device = cabi.Device{Type: cabi.DeviceCUDA, ID: 99} }, "device", dlpack.ErrDevice},
			"AMD's device":          {func(_ *cabitest.Producer, x *cabi.Tensor) { x.Device.Type = cabi.DeviceROCm }, "device", dlpack.ErrDevice},
			"AMD's pinned memory":   {func(_ *cabitest.Producer, x *cabi.Tensor) { x.Device.Type = cabi.DeviceROCmHost }, "device", dlpack.ErrDevice},
			"no device":             {func(_ *cabitest.Producer, x *cabi.Tensor) { x.Device.Type = 0 }, "device", dlpack.ErrDevice},
		} {
			t.Run(name, func(t *testing.T) {
				eitherStruct(t, func(t *testing.T, legacy bool) {
					p := newProducer(t, dev, pointer, float32Type, 10)
					each.alter(p, eitherTensor(p, legacy))
					requireRefused(t, m, p, legacy, each.field, each.reason)
				})
			})
		}
		for _, major := range []uint32{0, 2, math.MaxUint32} {
			p := newProducer(t, dev, pointer, float32Type, 10)
			p.Versioned.Version.Major = major
			// Fields after the flags must not be read.
			p.Versioned.Tensor = cabi.Tensor{Shape: 1, Strides: 1, NDim: 1, Data: 1}
			requireRefused(t, m, p, false, "version.major", dlpack.ErrVersion)
		}

		p := newProducer(t, dev, pointer, float32Type, 10)
		c, err := importEither(m, p, false)
		require.NoError(t, err, "the manager is as good as new")
		require.Equal(t, pattern(40), valueBytes(t, c, 4))
		require.NoError(t, c.Release())
	})
}

// requireRefused imports a producer's invalid tensor and checks the error and the
// calls of the deleter.
func requireRefused(t *testing.T, m *memory.Manager, p *cabitest.Producer, legacy bool, field string, reason error) {
	t.Helper()
	c, err := importEither(m, p, legacy)
	require.ErrorIs(t, err, reason)
	assert.Nil(t, c)
	var typed *dlpack.Error
	require.ErrorAs(t, err, &typed)
	assert.Equal(t, "import", typed.Operation)
	assert.Equal(t, field, typed.Field)
	assert.Equal(t, 1, p.Deleted())
	requireNothingHeld(t, m)
}

// These errors only the driver can detect.
func TestImportChecksDeviceMemory(t *testing.T) {
	gpu := newManager(t, devicetest.Open(t, "cuda:0"))
	host := hostManager(t)
	onGPU := devicetest.Foreign(t, gpu.Device(), pattern(4096))
	onHost := devicetest.Foreign(t, host.Device(), pattern(4096))

	t.Run("longer than the allocation", func(t *testing.T) {
		p := newProducer(t, gpu.Device(), onGPU, float32Type, 1<<40)
		requireRefused(t, gpu, p, false, "data", device.ErrInvalidValue)
	})
	t.Run("host memory", func(t *testing.T) {
		p := newProducer(t, gpu.Device(), onHost, float32Type, 10)
		requireRefused(t, gpu, p, false, "data", device.ErrInvalidValue)
	})
	t.Run("device memory that claims to be pinned", func(t *testing.T) {
		p := newProducer(t, gpu.Device(), onGPU, float32Type, 10)
		p.Versioned.Tensor.Device = cabi.Device{Type: cabi.DeviceCUDAHost}
		requireRefused(t, gpu, p, false, "data", device.ErrInvalidValue)
	})
	t.Run("a CPU tensor on the GPU", func(t *testing.T) {
		p := newProducer(t, host.Device(), onHost, float32Type, 10)
		requireRefused(t, gpu, p, false, "device", dlpack.ErrDevice)
	})
	t.Run("a GPU tensor on the host", func(t *testing.T) {
		p := newProducer(t, gpu.Device(), onGPU, float32Type, 10)
		requireRefused(t, host, p, false, "device", dlpack.ErrDevice)
	})
}

// Pinned memory is accepted on both devices.
func TestImportPinnedMemory(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		driver := m.Device().Driver()
		pinned, err := driver.HostAlloc(400)
		require.NoError(t, err)
		copy(unsafe.Slice((*byte)(pinned), 400), pattern(400))
		p := newProducer(t, m.Device(), device.Pointer(uintptr(pinned)), float32Type, 100)
		p.Versioned.Tensor.Device = cabi.Device{Type: cabi.DeviceCUDAHost}
		c, err := importEither(m, p, false)
		require.NoError(t, err)
		assert.Equal(t, device.MemoryPinned, c.Buffer(1).Block().Kind())
		assert.Equal(t, pattern(400), valueBytes(t, c, 4))

		tensor, err := dlpack.Export(c)
		require.NoError(t, err)
		if m.Device().Kind() == device.CUDA {
			assert.Equal(t, cabi.Device{Type: cabi.DeviceCUDAHost}, tensorOf(tensor).Device)
		}
		require.NoError(t, tensor.Release())
		require.NoError(t, c.Release())
		assert.Equal(t, 1, p.Deleted())
		require.NoError(t, driver.HostFree(pinned))
	})
}

func TestImportRefusesItsArguments(t *testing.T) {
	m := hostManager(t)
	pointer := devicetest.Foreign(t, m.Device(), pattern(40))

	t.Run("a nil tensor", func(t *testing.T) {
		_, err := dlpack.Import(m, nil)
		require.ErrorIs(t, err, dlpack.ErrInvalid)
		_, err = dlpack.ImportLegacy(m, nil)
		require.ErrorIs(t, err, dlpack.ErrInvalid)
		assert.EqualError(t, err, "dlpack: import: tensor: the pointer is nil: invalid tensor")
	})
	t.Run("a nil manager", func(t *testing.T) {
		p := newProducer(t, m.Device(), pointer, float32Type, 10)
		_, err := importEither(nil, p, false)
		require.ErrorIs(t, err, device.ErrInvalidValue)
		assert.Equal(t, 1, p.Deleted())
	})
	t.Run("two sets of options", func(t *testing.T) {
		p := newProducer(t, m.Device(), pointer, float32Type, 10)
		_, err := importEither(m, p, true, dlpack.ImportOptions{}, dlpack.ImportOptions{})
		require.ErrorIs(t, err, device.ErrInvalidValue)
		assert.Equal(t, 1, p.Deleted())
	})
	t.Run("a closed manager", func(t *testing.T) {
		closed, err := memory.NewManager(m.Device(), memory.Options{})
		require.NoError(t, err)
		require.NoError(t, closed.Close())
		for _, length := range []int64{10, 0} {
			p := newProducer(t, m.Device(), pointer, float32Type, length)
			_, err = importEither(closed, p, false)
			require.ErrorIs(t, err, memory.ErrClosed)
			assert.Equal(t, 1, p.Deleted())
		}
	})
	t.Run("a tensor that has ended", func(t *testing.T) {
		c := newInts(t, m, 4)
		tensor, err := dlpack.Export(c)
		require.NoError(t, err)
		stale := tensor.Pointer()
		require.NoError(t, tensor.Release())
		_, err = dlpack.Import(m, stale)
		require.ErrorIs(t, err, dlpack.ErrInvalid)
		require.NoError(t, c.Release())
		requireNothingHeld(t, m)
	})
}

func TestImportReadOnly(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		p := newProducer(t, m.Device(), devicetest.Foreign(t, m.Device(), pattern(40)), float32Type, 10)
		p.Versioned.Flags = cabi.FlagReadOnly
		c, err := importEither(m, p, false)
		require.NoError(t, err)
		assert.True(t, c.Buffer(1).Block().ReadOnly())
		require.ErrorIs(t, c.Buffer(1).Fill(nil, 0), memory.ErrReadOnly)
		require.NoError(t, c.Release())
		assert.Equal(t, 1, p.Deleted())
	})
}

func TestOwnTensorIsRecognised(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		eitherStruct(t, func(t *testing.T, legacy bool) {
			c := newInts(t, m, 100)
			block := c.Buffer(1).Block()
			tensor, err := dlpack.Export(c, dlpack.ExportOptions{Legacy: legacy})
			require.NoError(t, err)
			take := dlpack.Import
			if legacy {
				take = dlpack.ImportLegacy
			}
			back, err := take(m, tensor.Detach())
			require.NoError(t, err)
			assert.Same(t, block, back.Buffer(1).Block())
			assert.Equal(t, block.Identity(), back.Buffer(1).Block().Identity())
			assert.Zero(t, m.Stats().ExternalBlocks)
			assert.Nil(t, tensor.Pointer(), "the tensor has ended")
			assert.Equal(t, 2, block.References())

			require.NoError(t, c.Release())
			assert.Equal(t, pattern(400), valueBytes(t, back, 4))
			require.NoError(t, back.Release())
			requireNothingHeld(t, m)
		})
	})
}

// Another library makes a new tensor of memory that it got from us.
func TestOwnMemoryIsRecognised(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		for name, flags := range map[string]uint64{"writable": 0, "read-only": cabi.FlagReadOnly} {
			t.Run(name, func(t *testing.T) {
				c := newInts(t, m, 100)
				block := c.Buffer(1).Block()
				tensor, err := dlpack.Export(c)
				require.NoError(t, err)
				p := newProducer(t, m.Device(), device.Pointer(tensorOf(tensor).Data).Add(80), cabi.DataType{Bits: 32, Lanes: 1}, 50)
				p.Versioned.Flags = flags
				p.Of(tensor.Detach())

				back, err := importEither(m, p, false)
				require.NoError(t, err)
				if flags == 0 {
					assert.Same(t, block, back.Buffer(1).Block())
					assert.Equal(t, 1, p.Deleted(), "the tensor is not needed any more")
					assert.Zero(t, m.Stats().ExternalBlocks)
				} else {
					assert.True(t, back.Buffer(1).Block().ReadOnly())
					assert.Zero(t, p.Deleted())
				}
				require.NoError(t, c.Release())
				assert.Equal(t, pattern(400)[80:280], valueBytes(t, back, 4))
				require.NoError(t, back.Release())
				assert.Equal(t, 1, p.Deleted())
				requireNothingHeld(t, m)
			})
		}
	})
}

// A tensor that extends beyond our block is not recognised.
func TestOwnMemoryBeyondItsEnd(t *testing.T) {
	gpu := newManager(t, devicetest.Open(t, "cuda:0"))
	c := newInts(t, gpu, 100)
	tensor, err := dlpack.Export(c)
	require.NoError(t, err)
	*(*int64)(pointerAt(tensorOf(tensor).Shape)) = 1 << 40
	_, err = dlpack.Import(gpu, tensor.Detach())
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.NoError(t, c.Release())
	requireNothingHeld(t, gpu)
}

// Imported memory may be exported again; the first library's deleter runs last.
func TestImportedMemoryIsExported(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		p := newProducer(t, m.Device(), devicetest.Foreign(t, m.Device(), pattern(40)), float32Type, 10)
		c, err := importEither(m, p, false)
		require.NoError(t, err)
		tensor, err := dlpack.Export(c)
		require.NoError(t, err)
		require.NoError(t, c.Release())
		assert.Zero(t, p.Deleted())
		assert.Equal(t, pattern(40), rawBytes(t, m.Device(), tensorOf(tensor).Data, 40))
		require.NoError(t, cabitest.DeleteOnThread(tensor.Detach(), false))
		assert.Equal(t, 1, p.Deleted())
		requireNothingHeld(t, m)
	})
}
