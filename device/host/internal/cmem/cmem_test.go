package cmem_test

import (
	"math"
	"strconv"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/host/internal/cmem"
)

func TestAllocateIsAlignedAndWritable(t *testing.T) {
	for _, bytes := range []uint64{1, 7, 255, 256, 257, 4096, 1 << 20} {
		memory := cmem.Allocate(bytes)
		require.NotNil(t, memory, "%d bytes", bytes)
		assert.Zero(t, uintptr(memory)%cmem.Alignment, "%d bytes", bytes)

		content := unsafe.Slice((*byte)(memory), bytes)
		for i := range content {
			content[i] = byte(i)
		}
		assert.Equal(t, byte(bytes-1), content[bytes-1])
		cmem.Free(memory)
	}
}

func TestAllocateRefusesHugeSizes(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("32-bit sizes end at 2 GiB, which may be available")
	}
	assert.Nil(t, cmem.Allocate(math.MaxInt-cmem.Alignment))
}
