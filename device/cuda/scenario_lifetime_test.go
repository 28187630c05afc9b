//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// scenarioContext checks that a call runs in its device's context and restores the
// thread's.
func scenarioContext(t *testing.T) {
	first, second := openFake(t, 0), openFake(t, 1)
	contexts := func(d backend.Device) string {
		return joined(logOf(t, func() { require.NoError(t, d.Synchronize()) }))
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked, so the thread ends here
		assert.Equal(t, "cuCtxSetCurrent(1) cuCtxSynchronize() cuCtxSetCurrent(-1)", contexts(second), "on a thread without one")
		assert.Equal(t, "cuCtxSetCurrent(0) cuCtxSynchronize()", contexts(first), "device 0's is left on a thread without one")
		assert.Equal(t, "cuCtxSetCurrent(0) cuCtxSynchronize()", contexts(first), "where it is current already")
		assert.Equal(t, "cuCtxSetCurrent(1) cuCtxSynchronize() cuCtxSetCurrent(0)", contexts(second), "where another is current")

		t.Setenv("FAKE_FAIL", "cuCtxSynchronize=700")
		calls := logOf(t, func() { assert.ErrorIs(t, second.Synchronize(), backend.ErrDeviceLost) })
		assert.Equal(t, "cuCtxSetCurrent(1) cuCtxSynchronize() cuCtxSetCurrent(0)", joined(calls), "after a failure")
		t.Setenv("FAKE_FAIL", "cuCtxSetCurrent=201")
		calls = logOf(t, func() { assert.ErrorIs(t, second.Synchronize(), CodeInvalidContext) })
		assert.Equal(t, "cuCtxSetCurrent(1)", joined(calls), "nothing runs in the wrong context")
	}()
	<-done
}

// scenarioLifetime checks that Close releases everything that Open retained.
func scenarioLifetime(t *testing.T) {
	calls := callsOf(t, func() {
		d, err := Driver{}.Open(1)
		require.NoError(t, err)
		content, err := d.Alloc(64)
		require.NoError(t, err)
		require.NoError(t, d.CopyFromPeerAsync(content, content, 0, 64, 0))
		require.NoError(t, d.CopyFromPeerAsync(content, content, 0, 64, 0))
		require.NoError(t, d.Free(content))
		require.NoError(t, d.Close())
		assert.ErrorIs(t, d.Close(), backend.ErrClosed)
		_, err = d.Alloc(64)
		assert.ErrorIs(t, err, backend.ErrClosed)
		assert.EqualError(t, err, "cuda: cuMemAlloc: device 1: already closed")
	})
	balance := map[string]int{}
	for _, call := range calls {
		balance[call]++
	}
	for _, device := range []string{"0", "1"} {
		assert.Equal(t, 1, balance["cuDevicePrimaryCtxRetain("+device+")"])
		assert.Equal(t, 1, balance["cuDevicePrimaryCtxRelease_v2("+device+")"])
	}

	d, err := Driver{}.Open(0)
	require.NoError(t, err)
	t.Setenv("FAKE_FAIL", "cuDevicePrimaryCtxRelease_v2=719")
	assert.ErrorIs(t, d.Close(), backend.ErrDeviceLost)
	assert.ErrorIs(t, d.Close(), backend.ErrClosed, "a device whose release failed is closed all the same")
}
