//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi/cabitest"
)

// FuzzImport fills a tensor with arbitrary values. For every input the deleter runs
// once and nothing stays held. An import succeeds only for a tensor that a column can
// represent.
func FuzzImport(f *testing.F) {
	const most = 1 << 12
	f.Add(uint32(1), uint64(0), int32(1), int32(0), int32(1), uint8(2), uint8(32), uint16(1), int64(10), int64(1), uint64(0), uint64(0), uint8(0))
	f.Add(uint32(1), uint64(1), int32(1), int32(0), int32(1), uint8(6), uint8(8), uint16(1), int64(100), int64(1), uint64(8), uint64(8), uint8(0))
	f.Add(uint32(2), uint64(0), int32(2), int32(7), int32(2), uint8(9), uint8(64), uint16(4), int64(-1), int64(2), uint64(1), uint64(1)<<63, uint8(7))
	f.Add(uint32(1), uint64(3), int32(13), int32(0), int32(0), uint8(0), uint8(64), uint16(1), int64(1)<<62, int64(1), uint64(4), uint64(4), uint8(8))

	f.Fuzz(func(t *testing.T, major uint32, flags uint64, deviceType, deviceID, dimensions int32,
		code, bits uint8, lanes uint16, length, stride int64, skew, byteOffset uint64, absent uint8,
	) {
		m := hostManager(t)
		buffer := cabitest.Allocate(most)
		defer cabitest.Free(buffer)
		data := uintptr(buffer) + uintptr(skew%64)
		// The host cannot check the length of foreign memory, and an import reads
		// booleans.
		if uint64(length) > most-64 || byteOffset > most-64-uint64(length) {
			if code == cabi.CodeBool {
				t.Skip()
			}
		}
		p := cabitest.NewProducer(cabi.Tensor{
			Data: data, Device: cabi.Device{Type: deviceType, ID: deviceID},
			DataType: cabi.DataType{Code: code, Bits: bits, Lanes: lanes}, ByteOffset: byteOffset,
		}, []int64{length}, []int64{stride})
		defer p.Free()
		p.Versioned.Version.Major, p.Versioned.Flags = major, flags
		p.Versioned.Tensor.NDim = dimensions
		if absent&1 != 0 {
			p.Versioned.Tensor.Data = 0
		}
		if absent&2 != 0 {
			p.Versioned.Tensor.Shape = 0
		}
		if absent&4 != 0 {
			p.Versioned.Tensor.Strides = 0
		}
		described := p.Versioned.Tensor
		if absent&8 != 0 {
			p.WithoutDeleter()
		}

		c, err := dlpack.Import(m, unsafe.Pointer(p.Versioned))
		if err != nil {
			var typed *dlpack.Error
			require.ErrorAs(t, err, &typed)
			require.Equal(t, "import", typed.Operation)
			require.Nil(t, c)
		} else {
			require.EqualValues(t, 1, major)
			require.EqualValues(t, 1, lanes)
			if dimensions == 1 {
				require.EqualValues(t, length, c.Len())
				require.True(t, length <= 1 || stride == 1 || described.Strides == 0)
			} else {
				require.Zero(t, dimensions)
				require.Equal(t, 1, c.Len())
			}
			if code != cabi.CodeBool && c.Len() > 0 {
				require.EqualValues(t, uint64(described.Data)+byteOffset, leafColumn(c).Buffer(1).Pointer())
				require.EqualValues(t, flags&cabi.FlagReadOnly != 0, leafColumn(c).Buffer(1).Block().ReadOnly())
			}
			require.NoError(t, c.Release())
		}
		require.Equal(t, absent&8 == 0, p.Deleted() == 1)
		requireNothingHeld(t, m)
	})
}
