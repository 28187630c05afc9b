//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu_test

import (
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/gorgoniacu"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// openTwo opens two GPUs, or skips the test.
func openTwo(t *testing.T) (first, second *device.Device) {
	t.Helper()
	infos, err := gorgoniacu.Driver{}.Devices()
	require.NoError(t, err)
	if len(infos) < 2 {
		t.Skip("there is one GPU here")
	}
	return devicetest.Open(t, "gorgonia:0"), devicetest.Open(t, "gorgonia:1")
}

func TestPeers(t *testing.T) {
	first, second := openTwo(t)
	assert.False(t, first.Same(second))
	can, err := first.Driver().CanAccessPeer(1)
	require.NoError(t, err)
	if !can {
		t.Skip("they cannot reach each other's memory")
	}
	require.NoError(t, first.Driver().EnablePeerAccess(1))
	require.NoError(t, first.Driver().EnablePeerAccess(1), "twice is no error")
	require.NoError(t, second.Driver().PoolAllowPeer(0, 0))

	content := make([]byte, 1000)
	for i := range content {
		content[i] = byte(i)
	}
	from, err := second.Driver().Alloc(1000)
	require.NoError(t, err)
	require.NoError(t, second.Driver().CopyToDevice(from, unsafe.Pointer(&content[0]), 1000))
	to, err := first.Driver().Alloc(1000)
	require.NoError(t, err)
	require.NoError(t, first.Driver().CopyFromPeerAsync(to, from, 1, 1000, 0))
	require.NoError(t, first.Synchronize(t.Context()))
	copied := make([]byte, 1000)
	require.NoError(t, first.Driver().CopyToHost(unsafe.Pointer(&copied[0]), to, 1000))
	assert.True(t, slices.Equal(content, copied))
	require.NoError(t, first.Driver().Free(to))
	require.NoError(t, second.Driver().Free(from))
	require.NoError(t, first.Driver().DisablePeerAccess(1))
}

// TestEachDeviceHasItsContext calls both devices from one thread and checks that the
// calls restore its context.
func TestEachDeviceHasItsContext(t *testing.T) {
	first, second := openTwo(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	context, err := gorgoniacu.Context(first)
	require.NoError(t, err)
	require.NoError(t, cu.SetCurrentContext(context))
	for ordinal, dev := range []*device.Device{first, second, first} {
		pointer, err := dev.Driver().Alloc(256)
		require.NoError(t, err)
		info, err := dev.Driver().PointerInfo(pointer)
		require.NoError(t, err)
		assert.Equal(t, backend.PointerInfo{Kind: backend.MemoryDevice, Ordinal: ordinal % 2}, info)
		require.NoError(t, dev.Driver().Free(pointer))
		current, err := cu.CurrentContext()
		require.NoError(t, err)
		require.Equal(t, context, current)
	}
}
