package backendtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// noOrdinal is above the number of any device.
const noOrdinal = 1 << 20

func testPeers(t *testing.T, d backend.Device) {
	self := d.Info().Ordinal
	reaches, err := d.CanAccessPeer(self)
	require.NoError(t, err)
	if d.Info().Kind == backend.Host {
		require.True(t, reaches, "CUDA alone has it that a device is no peer of its own")
	}
	for _, ordinal := range []int{-1, noOrdinal} {
		_, err := d.CanAccessPeer(ordinal)
		require.ErrorIs(t, err, backend.ErrNoDevice, "ordinal %d", ordinal)
		require.ErrorIs(t, d.EnablePeerAccess(ordinal), backend.ErrNoDevice, "ordinal %d", ordinal)
		require.ErrorIs(t, d.DisablePeerAccess(ordinal), backend.ErrNoDevice, "ordinal %d", ordinal)
		require.Error(t, d.PoolAllowPeer(0, ordinal), "ordinal %d", ordinal)
	}

	const size = 1<<20 + 1
	from, to, s := allocate(t, d, size), allocate(t, d, size), newStream(t, d)
	content := pattern(size, 8)
	require.NoError(t, d.CopyToDevice(from, start(content), size))
	require.NoError(t, d.CopyFromPeerAsync(to, from, self, size, s))
	require.NoError(t, d.StreamSynchronize(s))
	requireBytes(t, content, download(t, d, to, size), "copied from the device itself")
	require.ErrorIs(t, d.CopyFromPeerAsync(to, from, noOrdinal, size, s), backend.ErrNoDevice)
}
