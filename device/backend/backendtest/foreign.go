package backendtest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// recordAll skips the test on a driver without EventRecordAll.
func recordAll(t *testing.T, d backend.Device, e backend.Event) {
	t.Helper()
	err := d.EventRecordAll(e)
	if errors.Is(err, backend.ErrNotSupported) {
		t.Skipf("no event for all streams: %v", err)
	}
	require.NoError(t, err)
}

// One event stands for the work of every stream, including streams that were destroyed
// with unfinished work.
func testEventRecordAll(t *testing.T, d backend.Device) {
	consumer, e := newStream(t, d), newEvent(t, d, false)
	recordAll(t, d, e)
	require.NoError(t, d.EventSynchronize(e), "there is no work")

	const streams = 4
	var sources [streams + 1]backend.Pointer
	var results [streams + 1][]byte
	for i := range sources {
		sources[i], results[i] = allocate(t, d, large), pinned(t, d, 4096)
	}
	for round := range 3 {
		value := func(i int) byte { return byte(10*round + i + 1) }
		for i := range streams {
			s, err := d.StreamCreate()
			require.NoError(t, err)
			require.NoError(t, d.MemsetAsync(sources[i], uint32(value(i)), 1, large, s))
			if i%2 == 0 {
				require.NoError(t, d.StreamDestroy(s))
			} else {
				defer func() { require.NoError(t, d.StreamDestroy(s)) }()
			}
		}
		require.NoError(t, d.MemsetAsync(sources[streams], uint32(value(streams)), 1, large, 0))
		require.NoError(t, d.EventRecordAll(e))
		require.NoError(t, d.StreamWaitEvent(consumer, e))
		for i, source := range sources {
			require.NoError(t, d.CopyToHostAsync(start(results[i]), source.Add(large-4096), 4096, consumer))
		}
		require.NoError(t, d.StreamSynchronize(consumer))
		for i, result := range results {
			requireFilled(t, value(i), result, "round %d, stream %d", round, i)
		}
		done, err := d.EventQuery(e)
		require.NoError(t, err)
		require.True(t, done, "what follows the event is done")
	}
}

// An event of all streams becomes one of a single stream when it is recorded there, and
// the reverse.
func testEventRecordAllAnew(t *testing.T, d backend.Device) {
	first, second, e := newStream(t, d), newStream(t, d), newEvent(t, d, false)
	p, result := allocate(t, d, large), pinned(t, d, 4096)
	recordAll(t, d, e)
	require.NoError(t, d.MemsetAsync(p, 1, 1, large, first))
	require.NoError(t, d.EventRecord(e, second))
	require.NoError(t, d.EventRecordAll(e))
	require.NoError(t, d.StreamWaitEvent(second, e))
	require.NoError(t, d.CopyToHostAsync(start(result), p.Add(large-4096), 4096, second))
	require.NoError(t, d.StreamSynchronize(second))
	requireFilled(t, 1, result, "an event of one stream, recorded for all")

	require.NoError(t, d.MemsetAsync(p, 2, 1, large, first))
	require.NoError(t, d.EventRecord(e, first))
	require.NoError(t, d.EventSynchronize(e))
	requireFilled(t, 2, download(t, d, p.Add(large-4096), 4096), "an event of all streams, recorded for one")
	require.ErrorIs(t, d.EventRecordAll(0), backend.ErrInvalidValue, "no event")
}

// Identities differ even if a handle is issued again.
func testStreamIdentity(t *testing.T, d backend.Device) {
	byDefault, err := d.StreamIdentity(0)
	if errors.Is(err, backend.ErrNotSupported) {
		t.Skipf("streams have no identity: %v", err)
	}
	require.NoError(t, err)
	lasting := newStream(t, d)
	first, err := d.StreamIdentity(lasting)
	require.NoError(t, err)
	seen := map[uint64]bool{byDefault: true, first: true}
	require.Len(t, seen, 2)
	handles := map[backend.Stream]bool{}
	for range 32 {
		s, err := d.StreamCreate()
		require.NoError(t, err)
		handles[s] = true
		identity, err := d.StreamIdentity(s)
		require.NoError(t, err)
		require.False(t, seen[identity], "stream %#x has the identity %d of another one", s, identity)
		seen[identity] = true
		again, err := d.StreamIdentity(s)
		require.NoError(t, err)
		require.Equal(t, identity, again)
		require.NoError(t, d.StreamDestroy(s))
	}
	t.Logf("%d handles for 32 streams", len(handles))
	again, err := d.StreamIdentity(lasting)
	require.NoError(t, err)
	assert.Equal(t, first, again, "after others were made and destroyed")
}

// capturing queries the capture state of a stream.
func capturing(t *testing.T, d backend.Device, s backend.Stream) bool {
	t.Helper()
	captured, err := d.StreamCapturing(s)
	require.NoError(t, err)
	return captured
}

func testStreamCapturing(t *testing.T, d backend.Device) {
	s, joined, other := newStream(t, d), newStream(t, d), newStream(t, d)
	forked, back, all := newEvent(t, d, false), newEvent(t, d, false), newEvent(t, d, false)
	for _, each := range []backend.Stream{0, s, joined, other} {
		require.False(t, capturing(t, d, each), "nothing is captured")
	}
	err := d.StreamBeginCapture(s)
	if errors.Is(err, backend.ErrNotSupported) {
		return // nothing ever is
	}
	require.NoError(t, err)
	p := allocate(t, d, 4096)
	require.NoError(t, d.MemsetAsync(p, 5, 1, 4096, s))
	require.True(t, capturing(t, d, s))
	require.False(t, capturing(t, d, joined))
	if err := d.EventRecord(forked, s); errors.Is(err, backend.ErrCapturing) {
		// The emulator captures single streams: no other stream can join a capture.
		_, err = d.StreamEndCapture(s)
		require.Error(t, err, "the capture was lost")
		require.False(t, capturing(t, d, s))
		return
	} else {
		require.NoError(t, err)
	}
	require.NoError(t, d.StreamWaitEvent(joined, forked))
	require.True(t, capturing(t, d, joined), "a stream that waits for a captured one is captured too")
	require.False(t, capturing(t, d, other))
	require.NoError(t, d.EventRecord(back, joined))
	require.NoError(t, d.StreamWaitEvent(s, back))
	graph, err := d.StreamEndCapture(s)
	require.NoError(t, err, "asking breaks no capture")
	executable, err := d.GraphInstantiate(graph)
	require.NoError(t, err)
	require.NoError(t, d.GraphDestroy(graph))
	for _, each := range []backend.Stream{0, s, joined, other} {
		require.False(t, capturing(t, d, each), "after the capture")
	}
	require.NoError(t, d.GraphLaunch(executable, other))
	require.False(t, capturing(t, d, other), "launching a graph captures nothing")
	require.NoError(t, d.StreamSynchronize(other))
	requireFilled(t, 5, download(t, d, p, 4096), "what was captured")
	require.NoError(t, d.GraphExecutableDestroy(executable))

	// EventRecordAll is refused while a stream is captured, and may invalidate the
	// capture.
	require.NoError(t, d.StreamBeginCapture(s))
	err = d.EventRecordAll(all)
	if graph, ending := d.StreamEndCapture(s); ending == nil {
		require.NoError(t, d.GraphDestroy(graph))
	} else {
		require.ErrorIs(t, ending, backend.ErrCapturing)
	}
	require.False(t, capturing(t, d, s), "after a capture that may be lost")
	if errors.Is(err, backend.ErrNotSupported) {
		return
	}
	require.ErrorIs(t, err, backend.ErrCapturing)
	require.NoError(t, d.EventRecordAll(all), "after the capture")
	require.NoError(t, d.EventSynchronize(all))
}
