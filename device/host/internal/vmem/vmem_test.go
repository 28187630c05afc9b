package vmem_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/host/internal/vmem"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

const unit = vmem.Granularity

func needSupport(t *testing.T) {
	t.Helper()
	if !vmem.Supported() {
		t.Skip("this system has no unnamed files in memory")
	}
}

func TestReserveIsAligned(t *testing.T) {
	needSupport(t)
	for _, alignment := range []uint64{unit, 4 * unit, 64 * unit} {
		base, err := vmem.Reserve(3*unit, alignment)
		require.NoError(t, err)
		assert.Zero(t, uint64(base)%alignment, "%d", alignment)
		require.NoError(t, vmem.Free(base, 3*unit))
	}
}

func TestReserveRefusesHugeRanges(t *testing.T) {
	needSupport(t)
	for _, bytes := range []uint64{1 << 62, 1<<63 - unit, math.MaxUint64 - unit + 1} {
		_, err := vmem.Reserve(bytes, unit)
		assert.Error(t, err, "%d bytes", bytes)
	}
	_, err := vmem.Create(math.MaxUint64 - unit + 1)
	assert.Error(t, err)
}

func TestMappedMemory(t *testing.T) {
	needSupport(t)
	base, err := vmem.Reserve(4*unit, unit)
	require.NoError(t, err)
	memory, err := vmem.Create(2 * unit)
	require.NoError(t, err)

	// The second half first, then the whole at another place.
	require.NoError(t, memory.Map(base, unit, unit))
	require.NoError(t, vmem.Access(base, unit, true))
	half := address.Bytes(base, unit)
	half[0], half[unit-1] = 1, 2
	require.NoError(t, memory.Map(base+2*unit, 2*unit, 0))
	require.NoError(t, vmem.Access(base+2*unit, 2*unit, true))
	whole := address.Bytes(base+2*unit, 2*unit)
	assert.Equal(t, []byte{0, 1, 2}, []byte{whole[0], whole[unit], whole[2*unit-1]})
	whole[unit] = 3
	assert.Equal(t, byte(3), half[0], "one piece of memory")

	// Unmapped memory can be mapped again, and closing the handle does not change the
	// mappings.
	require.NoError(t, vmem.Unmap(base, unit))
	require.NoError(t, memory.Map(base, unit, unit))
	require.NoError(t, memory.Close())
	require.NoError(t, vmem.Access(base, unit, true))
	assert.Equal(t, byte(3), half[0])
	require.NoError(t, vmem.Free(base, 4*unit))
}
