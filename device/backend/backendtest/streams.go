package backendtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// large makes an operation take so long that work which fails to wait for it is
// detected.
const large = 32 << 20

// requireFilled checks that every byte has the value.
func requireFilled(t *testing.T, value byte, got []byte, message string, arguments ...any) {
	t.Helper()
	want := make([]byte, len(got))
	for i := range want {
		want[i] = value
	}
	requireBytes(t, want, got, message, arguments...)
}

func testStreamOrder(t *testing.T, d backend.Device) {
	s := newStream(t, d)
	work := allocate(t, d, large)
	const rounds = 6
	copies := make([]backend.Pointer, rounds)
	for i := range copies {
		copies[i] = allocate(t, d, 4096)
	}
	// Each copy must see the fill before it and not the one after it. It reads the last
	// bytes, which a fill writes last.
	for i, p := range copies {
		require.NoError(t, d.MemsetAsync(work, uint32(i+1), 1, large, s))
		require.NoError(t, d.CopyOnDeviceAsync(p, work.Add(large-4096), 4096, s))
	}
	require.NoError(t, d.StreamSynchronize(s))
	for i, p := range copies {
		requireFilled(t, byte(i+1), download(t, d, p, 4096), "round %d", i)
	}
}

func testDefaultStream(t *testing.T, d backend.Device) {
	p := allocate(t, d, large)
	require.NoError(t, d.MemsetAsync(p, 1, 1, large, 0))
	require.NoError(t, d.MemsetAsync(p, 2, 1, large, 0))
	// A copy without a stream is ordered after the work of the default stream.
	requireFilled(t, 2, download(t, d, p.Add(large-4096), 4096), "copied without synchronisation")
	require.NoError(t, d.StreamSynchronize(0))
	done, err := d.StreamQuery(0)
	require.NoError(t, err)
	assert.True(t, done)
}

func testStreamQuery(t *testing.T, d backend.Device) {
	s := newStream(t, d)
	done, err := d.StreamQuery(s)
	require.NoError(t, err)
	require.True(t, done, "a new stream has no work")

	p := allocate(t, d, large)
	for range 3 {
		require.NoError(t, d.MemsetAsync(p, 9, 1, large, s))
	}
	require.NoError(t, d.StreamSynchronize(s))
	done, err = d.StreamQuery(s)
	require.NoError(t, err)
	require.True(t, done, "after the stream was waited for")

	// If a query reports done, the work must be done.
	require.NoError(t, d.MemsetAsync(p, 10, 1, large, s))
	for done = false; !done; {
		done, err = d.StreamQuery(s)
		require.NoError(t, err)
	}
	requireFilled(t, 10, download(t, d, p.Add(large-4096), 4096), "after the query said done")
}

func testStreamDestroy(t *testing.T, d backend.Device) {
	p := allocate(t, d, large)
	result := pinned(t, d, 4096)
	s, err := d.StreamCreate()
	require.NoError(t, err)
	require.NoError(t, d.MemsetAsync(p, 3, 1, large, s))
	require.NoError(t, d.CopyToHostAsync(start(result), p.Add(large-4096), 4096, s))
	require.NoError(t, d.StreamDestroy(s))
	require.NoError(t, d.Synchronize())
	requireFilled(t, 3, result, "work of a stream that was destroyed at once")
}

func testSynchronize(t *testing.T, d backend.Device) {
	var results [4][]byte
	for i := range results {
		s, p := newStream(t, d), allocate(t, d, large/4)
		results[i] = pinned(t, d, 4096)
		require.NoError(t, d.MemsetAsync(p, uint32(i+1), 1, large/4, s))
		require.NoError(t, d.CopyToHostAsync(start(results[i]), p.Add(large/4-4096), 4096, s))
	}
	require.NoError(t, d.Synchronize())
	for i, result := range results {
		requireFilled(t, byte(i+1), result, "stream %d", i)
	}
}
