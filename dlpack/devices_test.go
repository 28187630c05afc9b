//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/memory"
)

// eachDeviceAndOne adds a simulated GPU, so that every machine tests the behaviour of
// GPUs.
func eachDeviceAndOne(t *testing.T, f func(t *testing.T, dev *device.Device)) {
	devicetest.Each(t, f)
	t.Run("launchtest", func(t *testing.T) { f(t, launchtest.Open(t, &launchtest.GPU{})) })
}

// Each kind of memory has a separate code, except on the host device, where all
// memory is the CPU's. Pinned and managed memory have no device number.
func TestDeviceCodes(t *testing.T) {
	eachDeviceAndOne(t, func(t *testing.T, dev *device.Device) {
		onGPU := dev.Kind() == device.CUDA
		for _, each := range []struct {
			name     string
			resource memory.Resource
			code     cabi.Device
		}{
			{"device", memory.NewDriverResource(dev), cabi.Device{Type: cabi.DeviceCUDA, ID: int32(dev.Info().Ordinal)}},
			{"pinned", memory.NewPinnedResource(dev), cabi.Device{Type: cabi.DeviceCUDAHost}},
			{"managed", memory.NewManagedResource(dev), cabi.Device{Type: cabi.DeviceCUDAManaged}},
		} {
			t.Run(each.name, func(t *testing.T) {
				m := devicetest.Manager(t, dev, memory.Options{Resource: each.resource})
				values, err := memory.NewSlice[uint8](m, 400, memory.AllocateOptions{})
				require.NoError(t, err)
				require.NoError(t, values.Upload(t.Context(), nil, pattern(400)))
				columns := sharedColumns(t, values, arrow.PrimitiveTypes.Int32, 50, 4, 0, 200)
				require.NoError(t, values.Release())
				want := each.code
				if !onGPU {
					want = cabi.Device{Type: cabi.DeviceCPU}
				}

				tensor, err := dlpack.Export(columns[0])
				require.NoError(t, err)
				assert.Equal(t, want, tensorOf(tensor).Device)
				assert.Equal(t, pattern(400)[:200], rawBytes(t, dev, tensorOf(tensor).Data, 200))
				back, err := dlpack.Import(m, tensor.Detach())
				require.NoError(t, err)
				assert.Same(t, columns[0].Block(), back.Block())
				require.NoError(t, back.Release())

				matrix, err := dlpack.ExportMatrix(columns)
				require.NoError(t, err)
				assert.Equal(t, want, tensorOf(matrix).Device)
				require.NoError(t, matrix.Release())
				releaseColumns(t, columns)
				requireNothingHeld(t, m)
			})
		}
	})
}

// Managed memory of another library is accepted on both devices, like pinned memory.
func TestImportManagedMemory(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		driver := m.Device().Driver()
		pointer, err := driver.AllocManaged(400)
		require.NoError(t, err)
		values := pattern(400)
		require.NoError(t, driver.CopyToDevice(pointer, unsafe.Pointer(&values[0]), 400))
		for _, id := range []int32{0, 7} { // the number has no meaning
			p := newProducer(t, m.Device(), pointer, float32Type, 100)
			p.Versioned.Tensor.Device = cabi.Device{Type: cabi.DeviceCUDAManaged, ID: id}
			c, err := importEither(m, p, false)
			require.NoError(t, err)
			assert.Equal(t, device.MemoryManaged, c.Block().Kind())
			assert.Equal(t, values, valueBytes(t, c, 4))
			tensor, err := dlpack.Export(c)
			require.NoError(t, err)
			if m.Device().Kind() == device.CUDA {
				assert.Equal(t, cabi.Device{Type: cabi.DeviceCUDAManaged}, tensorOf(tensor).Device)
			} else {
				assert.Equal(t, cabi.Device{Type: cabi.DeviceCPU}, tensorOf(tensor).Device)
			}
			require.NoError(t, tensor.Release())
			require.NoError(t, c.Release())
			assert.Equal(t, 1, p.Deleted())
		}
		require.NoError(t, driver.Free(pointer))
		requireNothingHeld(t, m)
	})
}

// AMD's memory is refused by name.
func TestImportRefusesROCm(t *testing.T) {
	eachDeviceAndOne(t, func(t *testing.T, dev *device.Device) {
		m := newManager(t, dev)
		for code, says := range map[int32]string{cabi.DeviceROCm: "AMD's GPU 3 (ROCm)", cabi.DeviceROCmHost: "pinned for AMD's GPUs (ROCm)"} {
			p := newProducer(t, dev, 4096, float32Type, 10)
			p.Versioned.Tensor.Device = cabi.Device{Type: code, ID: 3}
			_, err := importEither(m, p, false)
			require.ErrorIs(t, err, dlpack.ErrDevice)
			require.ErrorContains(t, err, says)
			require.ErrorContains(t, err, "copy it to the host first")
			assert.Equal(t, 1, p.Deleted())
		}
		requireNothingHeld(t, m)
	})
}

// A device pointer that the driver does not know gives an error that names the field.
// The memory is not read, and the deleter runs once. The same holds for memory of
// another kind than claimed, and for a length that exceeds the allocation.
func TestWildPointers(t *testing.T) {
	eachKernel(t, func(t *testing.T, m *memory.Manager) {
		if m.Device().Kind() == device.Host {
			t.Skip("host memory: no driver knows its address ranges")
		}
		own := devicetest.Foreign(t, m.Device(), pattern(40))
		for _, claimed := range []int32{cabi.DeviceCUDA, cabi.DeviceCUDAHost, cabi.DeviceCUDAManaged} {
			for _, data := range []device.Pointer{0xdead0000, 0x1000, 1 << 46, ^device.Pointer(0xfff), own} {
				if data == own && claimed == cabi.DeviceCUDA {
					continue
				}
				for _, dataType := range []cabi.DataType{float32Type, {Code: cabi.CodeBool, Bits: 8, Lanes: 1}} {
					p := newProducer(t, m.Device(), data, dataType, 10)
					p.Versioned.Tensor.Device.Type = claimed
					_, err := importEither(m, p, false, dlpack.ImportOptions{})
					var typed *dlpack.Error
					require.ErrorAs(t, err, &typed, "%#x", uint64(data))
					assert.Equal(t, "data", typed.Field)
					assert.Equal(t, 1, p.Deleted())
				}
			}
		}
		p := newProducer(t, m.Device(), own, float32Type, 1<<40)
		_, err := importEither(m, p, false, dlpack.ImportOptions{})
		require.ErrorContains(t, err, "data")
		assert.Equal(t, 1, p.Deleted())
		requireNothingHeld(t, m)
	})
}
