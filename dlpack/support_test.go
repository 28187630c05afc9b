//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"context"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// numeric is one of the types that have the same layout in Arrow and DLPack.
type numeric struct {
	arrow  arrow.DataType
	dlpack cabi.DataType
}

func numerics() []numeric {
	dataType := func(code, bits uint8) cabi.DataType { return cabi.DataType{Code: code, Bits: bits, Lanes: 1} }
	return []numeric{
		{arrow.PrimitiveTypes.Int8, dataType(0, 8)}, {arrow.PrimitiveTypes.Int16, dataType(0, 16)},
		{arrow.PrimitiveTypes.Int32, dataType(0, 32)}, {arrow.PrimitiveTypes.Int64, dataType(0, 64)},
		{arrow.PrimitiveTypes.Uint8, dataType(1, 8)}, {arrow.PrimitiveTypes.Uint16, dataType(1, 16)},
		{arrow.PrimitiveTypes.Uint32, dataType(1, 32)}, {arrow.PrimitiveTypes.Uint64, dataType(1, 64)},
		{arrow.FixedWidthTypes.Float16, dataType(2, 16)},
		{arrow.PrimitiveTypes.Float32, dataType(2, 32)}, {arrow.PrimitiveTypes.Float64, dataType(2, 64)},
	}
}

func (n numeric) width() int { return int(n.dlpack.Bits) / 8 }

var float32Type = cabi.DataType{Code: cabi.CodeFloat, Bits: 32, Lanes: 1}

// eachDevice runs f on each device with a manager, and requires zero statistics at
// the end.
func eachDevice(t *testing.T, f func(t *testing.T, m *memory.Manager)) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		f(t, newManager(t, dev))
	})
}

func newManager(t testing.TB, dev *device.Device) *memory.Manager {
	return devicetest.Manager(t, dev, memory.Options{})
}

// hostManager is for tests that do not depend on the device.
func hostManager(t testing.TB) *memory.Manager { return newManager(t, devicetest.Open(t, "host")) }

// requireNothingHeld checks that every byte and block has been released.
func requireNothingHeld(t testing.TB, m *memory.Manager) {
	t.Helper()
	s := m.Stats()
	require.Zero(t, s.InUse)
	require.Zero(t, s.Blocks)
	require.Zero(t, s.External)
	require.Zero(t, s.ExternalBlocks)
	require.Zero(t, s.DoubleReleases)
}

// pattern returns n bytes in which neighbours differ.
func pattern(n int) []byte {
	bytes := make([]byte, n)
	for i := range bytes {
		bytes[i] = byte(i*7 + i>>8)
	}
	return bytes
}

// upload returns the bytes as a buffer of the manager's device.
func upload(t testing.TB, m *memory.Manager, bytes []byte) column.Bytes {
	t.Helper()
	buffer, err := memory.NewSlice[uint8](m, len(bytes), memory.AllocateOptions{Tag: "test"})
	require.NoError(t, err)
	require.NoError(t, buffer.Upload(t.Context(), nil, bytes))
	return buffer
}

// newColumn makes a column of bytes. Nil validity means no bitmap.
func newColumn(t testing.TB, m *memory.Manager, data column.Data, validity, values []byte) *column.Column {
	t.Helper()
	data.Buffers = make([]column.Bytes, 2)
	if validity != nil {
		data.Buffers[0] = upload(t, m, validity)
	}
	data.Buffers[1] = upload(t, m, values)
	c, err := column.New(data)
	require.NoError(t, err)
	for _, buffer := range data.Buffers {
		require.NoError(t, buffer.Release())
	}
	return c
}

// newInts makes an int32 column of n elements.
func newInts(t testing.TB, m *memory.Manager, n int) *column.Column {
	return newColumn(t, m, column.Data{Type: arrow.PrimitiveTypes.Int32, Length: n}, nil, pattern(4*n))
}

// valueBytes returns the bytes of a column's elements.
func valueBytes(t testing.TB, c *column.Column, width int) []byte {
	t.Helper()
	shown, err := c.Buffer(1).Slice(c.Offset()*width, (c.Offset()+c.Len())*width)
	require.NoError(t, err)
	return download(t, shown)
}

func download(t testing.TB, buffer column.Bytes) []byte {
	t.Helper()
	bytes := make([]byte, buffer.Len())
	require.NoError(t, buffer.Download(context.Background(), nil, bytes))
	return bytes
}

// rawBytes reads memory outside the manager, as a consumer does.
func rawBytes(t testing.TB, dev *device.Device, pointer uintptr, n int) []byte {
	t.Helper()
	bytes := make([]byte, n)
	if n > 0 {
		require.NoError(t, dev.Driver().CopyToHost(unsafe.Pointer(&bytes[0]), device.Pointer(pointer), uint64(n)))
	}
	return bytes
}

func versioned(tensor unsafe.Pointer) *cabi.ManagedTensorVersioned {
	return (*cabi.ManagedTensorVersioned)(tensor)
}

func tensorOf(tensor *dlpack.Tensor) *cabi.Tensor {
	if tensor.Legacy() {
		return &(*cabi.ManagedTensor)(tensor.Pointer()).Tensor
	}
	return &versioned(tensor.Pointer()).Tensor
}

func word(pointer uintptr, i int) int64 {
	return *(*int64)(pointerAt(pointer + uintptr(8*i)))
}

// dlDevice is the device in DLPack's terms.
func dlDevice(dev *device.Device) cabi.Device {
	if dev.Kind() == device.Host {
		return cabi.Device{Type: cabi.DeviceCPU}
	}
	return cabi.Device{Type: cabi.DeviceCUDA, ID: int32(dev.Info().Ordinal)}
}

// newProducer returns another library's tensor in row-major order without gaps, until
// the end of the test.
func newProducer(t testing.TB, dev *device.Device, pointer device.Pointer, dataType cabi.DataType, shape ...int64) *cabitest.Producer {
	p := newProducerFor(dev, pointer, dataType, shape...)
	t.Cleanup(p.Free)
	return p
}

// newProducerFor is newProducer for a caller that frees the tensor.
func newProducerFor(dev *device.Device, pointer device.Pointer, dataType cabi.DataType, shape ...int64) *cabitest.Producer {
	return cabitest.NewProducer(cabi.Tensor{Data: uintptr(pointer), Device: dlDevice(dev), DataType: dataType}, shape, compact(shape))
}

// compact returns the strides of row-major order without gaps.
func compact(shape []int64) []int64 {
	strides := make([]int64, len(shape))
	stride := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = stride
		stride *= shape[i]
	}
	return strides
}

// importEither imports one of the producer's two structs.
func importEither(m *memory.Manager, p *cabitest.Producer, legacy bool, options ...dlpack.ImportOptions) (*column.Column, error) {
	if legacy {
		return dlpack.ImportLegacy(m, unsafe.Pointer(p.Legacy), options...)
	}
	return dlpack.Import(m, unsafe.Pointer(p.Versioned), options...)
}

// eitherStruct runs f for the versioned and the legacy struct.
func eitherStruct(t *testing.T, f func(t *testing.T, legacy bool)) {
	t.Run("versioned", func(t *testing.T) { f(t, false) })
	t.Run("legacy", func(t *testing.T) { f(t, true) })
}

// pointerAt turns the address of host memory into a pointer.
func pointerAt(at uintptr) unsafe.Pointer { return address.Pointer(at) }
