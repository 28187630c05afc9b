package host

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// open returns a Device that is closed at the end of the test.
func open(t testing.TB) *device {
	t.Helper()
	opened, err := Driver{}.Open(0)
	require.NoError(t, err)
	d := opened.(*device)
	t.Cleanup(func() {
		if !d.closed.Load() {
			require.NoError(t, d.Close())
		}
	})
	return d
}

func newTestStream(t testing.TB, d *device) backend.Stream {
	t.Helper()
	s, err := d.StreamCreate()
	require.NoError(t, err)
	return s
}

func newTestEvent(t testing.TB, d *device, timing bool) backend.Event {
	t.Helper()
	e, err := d.EventCreate(timing)
	require.NoError(t, err)
	return e
}

func alloc(t testing.TB, d *device, bytes uint64) backend.Pointer {
	t.Helper()
	p, err := d.Alloc(bytes)
	require.NoError(t, err)
	return p
}

// run enqueues a Go function, which the contract does not provide.
func run(t testing.TB, d *device, onStream backend.Stream, function func()) {
	t.Helper()
	s, err := d.stream("run", onStream)
	require.NoError(t, err)
	require.NoError(t, d.enqueue("run", onStream, s, &step{run: function}))
}

// block blocks a stream's work until the returned function is called. It may be called
// twice, and is called at the end of the test.
func block(t testing.TB, d *device, onStream backend.Stream) (unblock func()) {
	t.Helper()
	gate := make(chan struct{})
	opened := false
	unblock = func() {
		if !opened {
			opened = true
			close(gate)
		}
	}
	t.Cleanup(unblock)
	run(t, d, onStream, func() { <-gate })
	return unblock
}

// at returns the device address of Go memory, which the host device accepts like any
// other.
func at(b []byte) backend.Pointer {
	return backend.Pointer(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
}

func start(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }
