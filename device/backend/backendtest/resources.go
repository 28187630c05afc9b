package backendtest

import (
	"bytes"
	"errors"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// The functions here create objects of a device for the length of a test.

func allocate(t *testing.T, d backend.Device, size uint64) backend.Pointer {
	t.Helper()
	p, err := d.Alloc(size)
	require.NoError(t, err)
	require.NotZero(t, p)
	t.Cleanup(func() { require.NoError(t, d.Free(p)) })
	return p
}

// pinned returns memory for the host side of asynchronous copies.
func pinned(t *testing.T, d backend.Device, size int) []byte {
	t.Helper()
	p, err := d.HostAlloc(uint64(size))
	require.NoError(t, err)
	require.NotNil(t, p)
	t.Cleanup(func() { require.NoError(t, d.HostFree(p)) })
	return unsafe.Slice((*byte)(p), size)
}

func newStream(t *testing.T, d backend.Device) backend.Stream {
	t.Helper()
	s, err := d.StreamCreate()
	require.NoError(t, err)
	require.NotZero(t, s, "zero is the default stream")
	t.Cleanup(func() { require.NoError(t, d.StreamDestroy(s)) })
	return s
}

func newEvent(t *testing.T, d backend.Device, timing bool) backend.Event {
	t.Helper()
	e, err := d.EventCreate(timing)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.EventDestroy(e)) })
	return e
}

// newPool skips the test on a device without pools, or without pools of that kind.
func newPool(t *testing.T, d backend.Device, maximum uint64) backend.Pool {
	t.Helper()
	p, err := d.PoolCreate(maximum)
	if errors.Is(err, backend.ErrNotSupported) {
		t.Skipf("no pool with maximum %d: %v", maximum, err)
	}
	require.NoError(t, err)
	require.NotZero(t, p, "zero is the default pool")
	return p
}

// pattern returns irregular bytes, the same for the same seed, so that a shifted or
// repeated part does not look correct.
func pattern(size int, seed uint32) []byte {
	content := make([]byte, size)
	state := seed*2654435761 + 1
	for i := range content {
		state = state*1664525 + 1013904223
		content[i] = byte(state >> 24)
	}
	return content
}

func start(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// download copies from the device, synchronously.
func download(t *testing.T, d backend.Device, from backend.Pointer, size int) []byte {
	t.Helper()
	content := make([]byte, size)
	require.NoError(t, d.CopyToHost(start(content), from, uint64(size)))
	return content
}

// requireBytes reports where contents differ, instead of printing megabytes.
func requireBytes(t *testing.T, want, got []byte, message string, arguments ...any) {
	t.Helper()
	if bytes.Equal(want, got) {
		return
	}
	require.Len(t, got, len(want))
	for i := range want {
		if want[i] != got[i] {
			arguments = append(arguments, i, len(want), want[i], got[i])
			require.FailNowf(t, "contents differ", message+": byte %d of %d: want %#x, got %#x", arguments...)
		}
	}
}
