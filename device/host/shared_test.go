package host

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host/internal/vmem"
)

func openToShare(t testing.TB) *device {
	t.Helper()
	if !vmem.CanShare() {
		t.Skip("the system shares no memory")
	}
	return open(t)
}

// Imported memory does not count against the limit of this process.
func TestImportedMemoryCountsInItsCreator(t *testing.T) {
	d := openToShare(t)
	h, err := d.PhysicalCreateShared(2 * unit)
	require.NoError(t, err)
	require.Equal(t, uint64(2*unit), addresses.committed)
	descriptor, err := d.PhysicalExport(h, true)
	require.NoError(t, err)
	defer os.NewFile(uintptr(descriptor), "").Close()
	imported, err := d.PhysicalImport(descriptor, 2*unit)
	require.NoError(t, err)
	require.Equal(t, uint64(2*unit), addresses.committed)

	_, err = d.PhysicalExport(imported, true)
	assert.ErrorIs(t, err, backend.ErrInvalidValue, "it is its maker's to export")
	_, err = d.PhysicalExport(h+1000, true)
	assert.ErrorIs(t, err, backend.ErrInvalidValue)
	for _, bytes := range []uint64{unit, 3 * unit, 2*unit + 1} {
		_, err = d.PhysicalImport(descriptor, bytes)
		assert.ErrorIs(t, err, backend.ErrInvalidValue, "%d bytes", bytes)
	}
	require.NoError(t, d.PhysicalRelease(h))
	require.Zero(t, addresses.committed)
	require.NoError(t, d.PhysicalRelease(imported))
	requireNoMappings(t)
}

// A writable range ends at an adjacent mapping for reading.
func TestWritesEndAtReadOnlyMapping(t *testing.T) {
	d := openToShare(t)
	h, err := d.PhysicalCreateShared(unit)
	require.NoError(t, err)
	base := reserveUnits(t, d, 2)
	require.NoError(t, d.Map(base, unit, 0, h))
	require.NoError(t, d.Map(base+unit, unit, 0, h))
	require.NoError(t, d.SetAccess(base, unit))
	require.NoError(t, d.SetAccessReadOnly(base+unit, unit))

	require.NoError(t, d.Memset(base, 7, 1, unit))
	assert.ErrorIs(t, d.Memset(base, 7, 1, unit+1), backend.ErrInvalidValue)
	assert.ErrorContains(t, d.Memset(base+unit, 7, 1, 1), "writable")
	content := make([]byte, 2)
	require.NoError(t, d.CopyToHost(start(content), base+unit-1, 2), "reading crosses the border")
	assert.Equal(t, []byte{7, 7}, content)

	require.NoError(t, d.SetAccess(base+unit, unit), "who made it may write after all")
	require.NoError(t, d.Memset(base+unit, 8, 1, 1))
	require.NoError(t, d.Unmap(base, unit))
	require.NoError(t, d.Unmap(base+unit, unit))
	require.NoError(t, d.PhysicalRelease(h))
	require.NoError(t, d.AddressFree(base, 2*unit))
	requireNoMappings(t)
}
