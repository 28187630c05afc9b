package backendtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

// managed skips the test on a device without managed memory.
func managed(t *testing.T, d backend.Device, size uint64) backend.Pointer {
	t.Helper()
	p, err := d.AllocManaged(size)
	needs(t, d, backend.ManagedMemory, err)
	require.NotZero(t, p)
	t.Cleanup(func() { require.NoError(t, d.Free(p)) })
	return p
}

// testManaged writes to the same memory by the processor and the device alternately.
// Each waits for the whole device, which is sufficient on every kind of device.
func testManaged(t *testing.T, d backend.Device) {
	const size = 3<<20 + 1
	p := managed(t, d, size)
	info, err := d.PointerInfo(p.Add(size - 1))
	require.NoError(t, err)
	assert.Equal(t, backend.MemoryManaged, info.Kind)
	base, length, err := d.AddressRange(p.Add(size / 2))
	require.NoError(t, err)
	assert.Equal(t, p, base)
	assert.GreaterOrEqual(t, length, uint64(size))

	content := pattern(size, 15)
	copy(address.Bytes(p, size), content)
	requireBytes(t, content, download(t, d, p, size), "written by the processor")
	require.NoError(t, d.Memset(p, 0x77, 1, size-1))
	require.NoError(t, d.Synchronize())
	seen := address.Bytes(p, size)
	assert.Equal(t, []byte{0x77, 0x77, content[size-1]}, []byte{seen[0], seen[size-2], seen[size-1]}, "written by the device")

	_, err = d.AllocManaged(1 << 62)
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
}

func testPrefetch(t *testing.T, d backend.Device) {
	const size = 4 << 20
	p, s := managed(t, d, size), newStream(t, d)
	content := pattern(size, 16)
	copy(address.Bytes(p, size), content)
	needs(t, d, backend.ConcurrentManagedAccess, d.PrefetchAsync(p, size, false, s))
	require.NoError(t, d.MemsetAsync(p.Add(size/2), 0, 1, size/2, s))
	require.NoError(t, d.PrefetchAsync(p, size/2, true, s))
	require.NoError(t, d.StreamSynchronize(s))
	clear(content[size/2:])
	requireBytes(t, content, address.Bytes(p, size), "to the device and back")

	require.ErrorIs(t, d.PrefetchAsync(0, size, false, s), backend.ErrInvalidValue)
	require.ErrorIs(t, d.PrefetchAsync(p, 0, false, s), backend.ErrInvalidValue)
	require.ErrorIs(t, d.PrefetchAsync(allocate(t, d, size), size, false, s), backend.ErrInvalidValue, "not managed")
}
