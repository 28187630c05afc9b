//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/memory"
)

// The producer's arrays have room for ten dimensions. If a tensor claims more, they
// must not be read.
const fuzzedDimensions = 10

// fuzzed is a tensor of any number of dimensions, in an allocation of known length.
type fuzzed struct {
	producer *cabitest.Producer
	// shape and strides are the tensor's, if it has any.
	shape, strides []int64
	room           int
}

// newFuzzed fills a tensor. A dimension is a byte of shape. A stride is the compact
// one unless a byte of strides replaces it.
func newFuzzed(dimensions int32, code, bits uint8, shape, strides []byte, flags, absent uint8) (f fuzzed, free func()) {
	f.room = 1 << 12
	buffer := cabitest.Allocate(f.room + 256)
	data := (uintptr(buffer) + 255) &^ 255
	f.shape = make([]int64, fuzzedDimensions)
	for i := range f.shape {
		if f.shape[i] = 1; i < len(shape) {
			f.shape[i] = int64(int8(shape[i]))
		}
	}
	known := f.shape[:min(max(int(dimensions), 0), fuzzedDimensions)]
	f.strides = append(compact(known), make([]int64, fuzzedDimensions-len(known))...)
	for i := range min(len(strides), fuzzedDimensions) {
		f.strides[i] += int64(int8(strides[i]))
	}
	f.producer = cabitest.NewProducer(cabi.Tensor{
		Data: data, Device: cabi.Device{Type: cabi.DeviceCPU}, DataType: cabi.DataType{Code: code, Bits: bits, Lanes: 1},
	}, f.shape, f.strides)
	tensor := &f.producer.Versioned.Tensor
	tensor.NDim = dimensions
	f.producer.Versioned.Flags = uint64(flags)
	if absent&1 != 0 {
		tensor.Shape = 0
	}
	if absent&2 != 0 {
		tensor.Strides = 0
	}
	if absent&4 != 0 {
		tensor.Data = 0
	}
	return f, func() {
		f.producer.Free()
		cabitest.Free(buffer)
	}
}

// holds reports whether all elements lie in the allocation: the host cannot check the
// length of foreign memory.
func (f fuzzed) holds() bool {
	tensor := f.producer.Versioned.Tensor
	last := int64(0)
	dimensions := min(int(max(tensor.NDim, 0)), fuzzedDimensions)
	for i := range dimensions {
		if f.shape[i] <= 0 {
			return true
		}
		stride := f.strides[i]
		if tensor.Strides == 0 {
			stride = compact(f.shape[:dimensions])[i]
		}
		last += max(stride, 0) * (f.shape[i] - 1)
		if last > int64(f.room) {
			return false
		}
	}
	return (last+1)*int64(tensor.DataType.Bits)/8 <= int64(f.room)
}

func addFuzzed(f *testing.F) {
	f.Add(int32(2), uint8(2), uint8(32), []byte{4, 3}, []byte{}, uint8(0), uint8(0))
	f.Add(int32(2), uint8(4), uint8(16), []byte{4, 3}, []byte{0xfe, 3}, uint8(1), uint8(0))
	f.Add(int32(3), uint8(6), uint8(8), []byte{4, 3, 2}, []byte{}, uint8(0), uint8(2))
	f.Add(int32(2), uint8(6), uint8(8), []byte{9, 3}, []byte{0xfe, 8}, uint8(0), uint8(0))
	f.Add(int32(8), uint8(5), uint8(64), []byte{1, 2, 1, 2, 1, 2, 1, 2}, []byte{}, uint8(1), uint8(0))
	f.Add(int32(9), uint8(5), uint8(128), []byte{127, 127, 127, 127, 127, 127, 127, 127, 127}, []byte{}, uint8(0), uint8(0))
	f.Add(int32(2), uint8(10), uint8(8), []byte{0, 127}, []byte{1, 1}, uint8(2), uint8(4))
	f.Add(int32(-1), uint8(17), uint8(4), []byte{0xff}, []byte{}, uint8(0), uint8(1))
}

// FuzzImportDimensions fills the shape and the strides with arbitrary values. For
// every input the deleter runs once, nothing stays held, and the column's values are
// those that the strides describe.
func FuzzImportDimensions(f *testing.F) {
	addFuzzed(f)
	f.Fuzz(func(t *testing.T, dimensions int32, code, bits uint8, shape, strides []byte, flags, absent uint8) {
		fuzzed, free := newFuzzed(dimensions, code, bits, shape, strides, flags, absent)
		defer free()
		if code == cabi.CodeBool && !fuzzed.holds() {
			t.Skip() // they are read
		}
		m := hostManager(t)
		tensor := fuzzed.producer.Versioned.Tensor
		c, err := dlpack.Import(m, unsafe.Pointer(fuzzed.producer.Versioned))
		if err != nil {
			requireFuzzedError(t, err, "import")
		} else {
			requireRows(t, fuzzed, tensor, c)
			require.NoError(t, c.Release())
		}
		require.Equal(t, 1, fuzzed.producer.Deleted())
		requireNothingHeld(t, m)
	})
}

func requireFuzzedError(t *testing.T, err error, operation string) {
	var typed *dlpack.Error
	require.ErrorAs(t, err, &typed)
	require.Equal(t, operation, typed.Operation)
	require.NotEmpty(t, typed.Field)
}

// requireRows checks a column against its tensor.
func requireRows(t *testing.T, f fuzzed, tensor cabi.Tensor, c *column.Column) {
	dimensions := int(tensor.NDim)
	require.LessOrEqual(t, dimensions, cabi.MaximumDimensions)
	if dimensions == 0 {
		require.Equal(t, 1, c.Len())
		return
	}
	require.EqualValues(t, f.shape[0], c.Len())
	inner, count := c, f.shape[0]
	for _, length := range f.shape[1:dimensions] {
		list, ok := inner.Type().(*arrow.FixedSizeListType)
		require.True(t, ok)
		require.EqualValues(t, length, list.Len())
		inner, count = inner.Child(0), count*length
		require.EqualValues(t, count, inner.Len())
	}
	if count > 1 && tensor.Strides != 0 {
		for i, stride := range compact(f.shape[:dimensions]) {
			require.True(t, f.shape[i] == 1 || f.strides[i] == stride)
		}
	}
	if count > 0 && tensor.DataType.Code != cabi.CodeBool {
		require.EqualValues(t, tensor.Data, leafPointer(c))
		requireMark(t, f, c)
	}
}

func requireMark(t *testing.T, f fuzzed, c *column.Column) {
	for block := range c.Blocks {
		require.Equal(t, f.producer.Versioned.Flags&cabi.FlagReadOnly != 0, block.ReadOnly())
	}
}

// FuzzImportMatrix does the same for columns.
func FuzzImportMatrix(f *testing.F) {
	addFuzzed(f)
	f.Fuzz(func(t *testing.T, dimensions int32, code, bits uint8, shape, strides []byte, flags, absent uint8) {
		fuzzed, free := newFuzzed(dimensions, code, bits, shape, strides, flags, absent)
		defer free()
		if code == cabi.CodeBool && !fuzzed.holds() {
			t.Skip()
		}
		m := hostManager(t)
		tensor := fuzzed.producer.Versioned.Tensor
		columns, err := dlpack.ImportMatrix(m, unsafe.Pointer(fuzzed.producer.Versioned))
		if err != nil {
			requireFuzzedError(t, err, "import matrix")
			require.Nil(t, columns)
		} else {
			require.EqualValues(t, 2, dimensions)
			require.EqualValues(t, fuzzed.shape[1], len(columns))
			requireColumns(t, m, fuzzed, tensor, columns)
			releaseColumns(t, columns)
		}
		require.Equal(t, 1, fuzzed.producer.Deleted())
		requireNothingHeld(t, m)
	})
}

func requireColumns(t *testing.T, m *memory.Manager, f fuzzed, tensor cabi.Tensor, columns []*column.Column) {
	rows, width := f.shape[0], int64(tensor.DataType.Bits)/8
	if tensor.Strides == 0 {
		f.strides = compact(f.shape[:2])
	}
	require.True(t, rows <= 1 || len(columns) == 0 || f.strides[0] == 1)
	for i, c := range columns {
		require.EqualValues(t, rows, c.Len())
		if rows == 0 || tensor.DataType.Code == cabi.CodeBool {
			continue
		}
		require.True(t, i == 0 || f.strides[1] >= rows, "columns overlap")
		require.EqualValues(t, int64(tensor.Data)+int64(i)*f.strides[1]*width, leafPointer(c))
		requireMark(t, f, c)
	}
	if rows > 0 && len(columns) > 0 && tensor.DataType.Code != cabi.CodeBool {
		require.EqualValues(t, 1, m.Stats().ExternalBlocks, "they share one block")
	}
}
