//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu_test

import (
	_ "embed"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/gorgoniacu"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

//go:embed testdata/add_scalar.ptx
var addScalar string

// eachGPU runs a test on the device opened by each binding: the bridges work with both.
func eachGPU(t *testing.T, f func(t *testing.T, dev *device.Device, mgr *memory.Manager)) {
	for _, name := range []string{"gorgonia:0", "cuda:0"} {
		t.Run(name, func(t *testing.T) {
			dev := devicetest.Open(t, name)
			f(t, dev, devicetest.Manager(t, dev, memory.Options{}))
		})
	}
}

// do calls the binding in the device's context.
func do(t *testing.T, dev *device.Device, call func() error) {
	t.Helper()
	require.NoError(t, gorgoniacu.Do(dev, call))
}

// allocate allocates memory with the binding and fills it.
func allocate(t *testing.T, dev *device.Device, values []uint32) (pointer cu.DevicePtr) {
	t.Helper()
	bytes := int64(4 * len(values))
	do(t, dev, func() (err error) {
		if pointer, err = cu.MemAlloc(bytes); err != nil {
			return err
		}
		if err = cu.MemcpyHtoD(pointer, unsafe.Pointer(&values[0]), bytes); err != nil {
			return err
		}
		return cu.NoStream.Synchronize()
	})
	return pointer
}

// read copies memory to the host with the binding.
func read(t *testing.T, dev *device.Device, pointer cu.DevicePtr, count int) []uint32 {
	t.Helper()
	values := make([]uint32, count)
	do(t, dev, func() error { return cu.MemcpyDtoH(unsafe.Pointer(&values[0]), pointer, int64(4*count)) })
	return values
}

func free(t *testing.T, dev *device.Device, pointer cu.DevicePtr) {
	t.Helper()
	do(t, dev, func() error { return cu.MemFree(pointer) })
}

// counting returns 0, 1, 2 and so on, with a number added to each.
func counting(count int, add uint32) []uint32 {
	values := make([]uint32, count)
	for i := range values {
		values[i] = uint32(i) + add
	}
	return slices.Clip(values)
}
