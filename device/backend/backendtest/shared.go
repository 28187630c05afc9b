package backendtest

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// shared makes memory to share that is mapped until the end of the test. It skips the
// test on a device that cannot share memory.
func shared(t *testing.T, d backend.Device, units uint64) (h backend.Physical, at backend.Pointer, bytes uint64) {
	t.Helper()
	bytes = units * granularity(t, d)
	h, err := d.PhysicalCreateShared(bytes)
	needs(t, d, backend.SharesByDescriptor, err)
	require.NotZero(t, h)
	t.Cleanup(func() { require.NoError(t, d.PhysicalRelease(h)) })
	at = reserve(t, d, bytes, 0)
	mapAt(t, d, at, bytes, h)
	require.NoError(t, d.SetAccess(at, bytes))
	return h, at, bytes
}

// sent exports memory and imports it again, as another process would do it.
func sent(t *testing.T, d backend.Device, h backend.Physical, bytes uint64, readOnly bool) backend.Physical {
	t.Helper()
	descriptor, err := d.PhysicalExport(h, readOnly)
	require.NoError(t, err)
	file := os.NewFile(uintptr(descriptor), "shared memory")
	defer func() { require.NoError(t, file.Close()) }()
	imported, err := d.PhysicalImport(descriptor, bytes)
	require.NoError(t, err)
	require.NotZero(t, imported)
	t.Cleanup(func() { require.NoError(t, d.PhysicalRelease(imported)) })
	return imported
}

// testShared has two handles of the same memory, one through a descriptor.
func testShared(t *testing.T, d backend.Device) {
	h, at, bytes := shared(t, d, 2)
	content := pattern(int(bytes), 21)
	require.NoError(t, d.CopyToDevice(at, start(content), bytes))

	imported := sent(t, d, h, bytes, false)
	other := reserve(t, d, bytes, 0)
	mapAt(t, d, other, bytes, imported)
	require.NoError(t, d.SetAccess(other, bytes))
	requireBytes(t, content, download(t, d, other, int(bytes)), "what was there before")
	require.NoError(t, d.Memset(other.Add(bytes-4), 0x11223344, 4, 1))
	seen := download(t, d, at.Add(bytes-4), 4)
	assert.Equal(t, []byte{0x44, 0x33, 0x22, 0x11}, seen, "written on one side, read on the other")

	// A second import is equally valid, and is the same memory.
	third := reserve(t, d, bytes, 0)
	mapAt(t, d, third, bytes, sent(t, d, h, bytes, false))
	require.NoError(t, d.SetAccess(third, bytes))
	assert.Equal(t, seen, download(t, d, third.Add(bytes-4), 4))
}

// testSharedOutlives checks that the memory outlives all handles and mappings of its
// creator.
func testSharedOutlives(t *testing.T, d backend.Device) {
	unit := granularity(t, d)
	h, err := d.PhysicalCreateShared(unit)
	needs(t, d, backend.SharesByDescriptor, err)
	base := reserve(t, d, 2*unit, 0)
	require.NoError(t, d.Map(base, unit, 0, h))
	require.NoError(t, d.SetAccess(base, unit))
	content := pattern(int(unit), 22)
	require.NoError(t, d.CopyToDevice(base, start(content), unit))
	descriptor, err := d.PhysicalExport(h, true)
	require.NoError(t, err)
	require.NoError(t, d.PhysicalRelease(h))
	require.NoError(t, d.Synchronize())
	require.NoError(t, d.Unmap(base, unit))

	imported, err := d.PhysicalImport(descriptor, unit)
	require.NoError(t, err, "the descriptor keeps the memory")
	require.NoError(t, os.NewFile(uintptr(descriptor), "").Close())
	at := base.Add(unit)
	mapAt(t, d, at, unit, imported)
	require.NoError(t, d.PhysicalRelease(imported))
	readable(t, d, at, unit)
	requireBytes(t, content, download(t, d, at, int(unit)), "after the maker let go")
}

// readable makes mapped memory readable, and reports whether it is read-only.
func readable(t *testing.T, d backend.Device, at backend.Pointer, bytes uint64) (only bool) {
	t.Helper()
	err := d.SetAccessReadOnly(at, bytes)
	if d.Info().Kind != backend.Host && (errors.Is(err, backend.ErrNotSupported) || errors.Is(err, backend.ErrInvalidValue)) {
		t.Logf("no mappings for reading only: %v", err)
		require.NoError(t, d.SetAccess(at, bytes))
		return false
	}
	require.NoError(t, err)
	return true
}

func testSharedReadOnly(t *testing.T, d backend.Device) {
	h, at, bytes := shared(t, d, 1)
	imported := sent(t, d, h, bytes, true)
	other := reserve(t, d, bytes, 0)
	mapAt(t, d, other, bytes, imported)
	readable(t, d, other, bytes)
	content := pattern(int(bytes), 23)
	require.NoError(t, d.CopyToDevice(at, start(content), bytes), "who made it goes on writing")
	requireBytes(t, content, download(t, d, other, int(bytes)), "through the mapping for reading")
	if d.Info().Kind != backend.Host {
		return // on a GPU the write would fail when the work runs and destroy the context
	}
	assert.ErrorIs(t, d.SetAccess(other, bytes), backend.ErrInvalidValue)
	assert.ErrorIs(t, d.Memset(other, 0, 1, 1), backend.ErrInvalidValue)
	assert.ErrorIs(t, d.CopyOnDeviceAsync(other, at, 1, 0), backend.ErrInvalidValue)
	requireBytes(t, content, download(t, d, other, int(bytes)), "after the writes that were refused")
}

func testSharedMisuse(t *testing.T, d backend.Device) {
	h, at, bytes := shared(t, d, 2)
	plain := physical(t, d, bytes)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	defer write.Close()
	for name, call := range map[string]func() error{
		"no memory":                    func() error { _, err := d.PhysicalCreateShared(0); return err },
		"crooked memory":               func() error { _, err := d.PhysicalCreateShared(512); return err },
		"export of nothing":            func() error { _, err := d.PhysicalExport(0, true); return err },
		"import of no descriptor":      func() error { _, err := d.PhysicalImport(-1, bytes); return err },
		"import of nothing":            func() error { _, err := d.PhysicalImport(int(read.Fd()), 0); return err },
		"access to no address":         func() error { return d.SetAccessReadOnly(0, bytes) },
		"access to no bytes":           func() error { return d.SetAccessReadOnly(at, 0) },
		"access to what is not mapped": func() error { return d.SetAccessReadOnly(at.Add(bytes), bytes) },
	} {
		assert.ErrorIs(t, call(), backend.ErrInvalidValue, name)
	}
	_, err = d.PhysicalExport(plain, true)
	assert.Error(t, err, "memory that is not shared")
	_, err = d.PhysicalImport(int(read.Fd()), bytes)
	assert.Error(t, err, "a pipe")
	_, err = d.PhysicalCreateShared(4 * (d.Info().TotalMemory / bytes * bytes))
	assert.ErrorIs(t, err, backend.ErrOutOfMemory)

	descriptor, err := d.PhysicalExport(h, true)
	require.NoError(t, err)
	defer os.NewFile(uintptr(descriptor), "").Close()
	longer, err := d.PhysicalImport(descriptor, 2*bytes)
	if err == nil {
		base := reserve(t, d, 2*bytes, 0)
		assert.Error(t, d.Map(base, 2*bytes, 0, longer), "more than there is")
		require.NoError(t, d.PhysicalRelease(longer))
	}
}
