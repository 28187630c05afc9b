//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/memory"
)

// The address is a multiple of 256 if that multiple lies in the column's memory.
func TestExportAligned(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		values := pattern(4096)
		bytes := upload(t, m, values)
		base := uintptr(bytes.Pointer())
		for _, first := range []int{0, 4, 64, 192, 252, 256, 260, 1000, 4056} {
			c := sharedColumns(t, bytes, arrow.PrimitiveTypes.Float32, 10, 4, first)[0]
			tensor, err := dlpack.Export(c, dlpack.ExportOptions{Aligned: true})
			require.NoError(t, err)
			described := tensorOf(tensor)
			at := base + uintptr(first)
			assert.Equal(t, at, described.Data+uintptr(described.ByteOffset))
			if at&^255 >= base {
				assert.Zero(t, described.Data%256)
				assert.Less(t, described.ByteOffset, uint64(256))
			} else {
				assert.Zero(t, described.ByteOffset, "the multiple below is not ours")
			}
			back, err := dlpack.Import(m, tensor.Detach())
			require.NoError(t, err)
			assert.Same(t, c.Block(), back.Block())
			assert.Equal(t, values[first:first+40], valueBytes(t, back, 4))
			require.NoError(t, back.Release())
			require.NoError(t, c.Release())
		}
		require.NoError(t, bytes.Release())
		requireNothingHeld(t, m)
	})
}

func TestExportAlignedOfNothing(t *testing.T) {
	m := hostManager(t)
	c := newInts(t, m, 0)
	tensor, err := dlpack.Export(c, dlpack.ExportOptions{Aligned: true})
	require.NoError(t, err)
	assert.Zero(t, tensorOf(tensor).Data)
	assert.Zero(t, tensorOf(tensor).ByteOffset)
	require.NoError(t, tensor.Release())
	require.NoError(t, c.Release())
}
