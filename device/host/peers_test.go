package host

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host/internal/vmem"
)

func openOf(t *testing.T, driver Driver, ordinal int) *device {
	t.Helper()
	opened, err := driver.Open(ordinal)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, opened.Close()) })
	return opened.(*device)
}

func TestSeveralDevicesOfTheMachine(t *testing.T) {
	driver := Driver{Count: 3}
	infos, err := driver.Devices()
	require.NoError(t, err)
	require.Len(t, infos, 3)
	for i, info := range infos {
		require.Equal(t, i, info.Ordinal)
		require.Equal(t, backend.Host, info.Kind)
		require.Equal(t, info, openOf(t, driver, i).Info())
	}
	for _, ordinal := range []int{-1, 3} {
		_, err := driver.Open(ordinal)
		require.ErrorIs(t, err, backend.ErrNoDevice)
		require.ErrorContains(t, err, "the devices are 0 to 2")
	}
}

// Memory belongs to the device that allocated it.
func TestPointersOfSeveralDevices(t *testing.T) {
	driver := Driver{Count: 2}
	first, second := openOf(t, driver, 0), openOf(t, driver, 1)
	p := alloc(t, second, 64)
	info, err := first.PointerInfo(p)
	require.NoError(t, err)
	assert.Equal(t, backend.PointerInfo{Kind: backend.MemoryHost, Ordinal: 1}, info)
	if !vmem.Supported() {
		return
	}
	at, err := second.AddressReserve(vmem.Granularity, 0)
	require.NoError(t, err)
	physical, err := second.PhysicalCreate(vmem.Granularity)
	require.NoError(t, err)
	require.NoError(t, second.Map(at, vmem.Granularity, 0, physical))
	require.NoError(t, second.SetAccess(at, vmem.Granularity))
	info, err = first.PointerInfo(at)
	require.NoError(t, err)
	assert.Equal(t, backend.PointerInfo{Kind: backend.MemoryHost, Ordinal: 1}, info)
	require.NoError(t, second.Unmap(at, vmem.Granularity))
	require.NoError(t, second.PhysicalRelease(physical))
	require.NoError(t, second.AddressFree(at, vmem.Granularity))
}

// A stream of one device waits for an event of another, and copies its memory.
func TestCopyFromAnotherDevice(t *testing.T) {
	driver := Driver{Count: 2}
	first, second := openOf(t, driver, 0), openOf(t, driver, 1)
	can, err := second.CanAccessPeer(0)
	require.NoError(t, err)
	require.True(t, can)
	require.NoError(t, second.EnablePeerAccess(0))
	require.ErrorIs(t, second.PoolAllowPeer(0, 0), backend.ErrNotSupported)
	from, to := alloc(t, first, 8), alloc(t, second, 8)
	s := newTestStream(t, second)
	require.NoError(t, first.Memset(from, 7, 1, 8))
	require.NoError(t, second.CopyFromPeerAsync(to, from, 0, 8, s))
	require.NoError(t, second.StreamSynchronize(s))
	got := make([]byte, 8)
	require.NoError(t, second.CopyToHost(unsafe.Pointer(&got[0]), to, 8))
	require.Equal(t, []byte{7, 7, 7, 7, 7, 7, 7, 7}, got)
	require.NoError(t, second.DisablePeerAccess(0))
}

func TestDevicesWithoutPeerAccess(t *testing.T) {
	driver := Driver{Count: 2, NoPeers: true}
	first, second := openOf(t, driver, 0), openOf(t, driver, 1)
	for ordinal, want := range []bool{false, true} {
		can, err := second.CanAccessPeer(ordinal)
		require.NoError(t, err)
		require.Equal(t, want, can)
	}
	require.ErrorIs(t, second.EnablePeerAccess(0), backend.ErrNotSupported)
	from, to := alloc(t, first, 8), alloc(t, second, 8)
	require.ErrorIs(t, second.CopyFromPeerAsync(to, from, 0, 8, newTestStream(t, second)), backend.ErrNotSupported)
	require.ErrorIs(t, second.CopyFromPeerAsync(to, from, 2, 8, newTestStream(t, second)), backend.ErrNoDevice)
}
