//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

func scenarioPeers(t *testing.T) {
	d, other := openFake(t, 0), openFake(t, 1)
	can, err := d.CanAccessPeer(1)
	require.NoError(t, err)
	assert.True(t, can)
	can, err = d.CanAccessPeer(0)
	require.NoError(t, err)
	assert.False(t, can)
	assert.Equal(t, "cuDeviceGet(1) cuDeviceCanAccessPeer(0, 1)", joined(callsOf(t, func() { _, _ = d.CanAccessPeer(1) })))

	require.NoError(t, d.EnablePeerAccess(1))
	assert.Equal(t,
		"cuCtxEnablePeerAccess(1, 0) cuDeviceGetDefaultMemPool(1) cuMemPoolSetAccess(pool of 1, location 1 0, flags 3, 1)",
		joined(callsOf(t, func() { require.NoError(t, d.EnablePeerAccess(1), "twice is no error") })))
	assert.Equal(t, "cuCtxDisablePeerAccess(1)", joined(callsOf(t, func() { require.NoError(t, d.DisablePeerAccess(1)) })))
	assert.ErrorIs(t, d.DisablePeerAccess(1), backend.ErrInvalidValue)

	t.Setenv("FAKE_FAIL", "cuMemPoolSetAccess=1")
	assert.ErrorIs(t, d.EnablePeerAccess(1), backend.ErrInvalidValue)
	t.Setenv("FAKE_FAIL", "")
	assert.ErrorIs(t, d.DisablePeerAccess(1), CodePeerNotEnabled, "a failed EnablePeerAccess changes nothing")
	require.NoError(t, d.EnablePeerAccess(1))
	t.Setenv("FAKE_FAIL", "cuMemPoolSetAccess=1")
	assert.ErrorIs(t, d.EnablePeerAccess(1), backend.ErrInvalidValue)
	t.Setenv("FAKE_FAIL", "")
	assert.NoError(t, d.DisablePeerAccess(1), "nor takes away access that was there")

	own, err := other.PoolCreate(0)
	require.NoError(t, err)
	for _, pool := range []backend.Pool{0, own} {
		assert.Equal(t, "cuDeviceGet(0) cuMemPoolSetAccess(pool of 1, location 1 0, flags 3, 1)",
			joined(callsOf(t, func() { require.NoError(t, other.PoolAllowPeer(pool, 0)) })))
	}
	assert.ErrorIs(t, d.PoolAllowPeer(0, 2), backend.ErrNoDevice)
	assert.ErrorIs(t, d.PoolAllowPeer(0, -1), backend.ErrNoDevice)
	require.NoError(t, other.PoolDestroy(own))

	p, err := d.Alloc(64)
	require.NoError(t, err)
	q, err := other.Alloc(64)
	require.NoError(t, err)
	require.NoError(t, other.Memset(q, 0x5a, 1, 64))
	assert.Equal(t, "cuMemcpyPeerAsync(0, 1, 64, (nil))",
		joined(callsOf(t, func() { require.NoError(t, d.CopyFromPeerAsync(p, q, 1, 64, 0)) })))
	content := make([]byte, 64)
	require.NoError(t, d.CopyToHost(unsafe.Pointer(&content[0]), p, 64))
	assert.Equal(t, byte(0x5a), content[63])
	require.NoError(t, d.CopyFromPeerAsync(p, p, 0, 64, 0), "a device copies from itself")
}
