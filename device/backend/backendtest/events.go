package backendtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

func testEventJoinsStreams(t *testing.T, d backend.Device) {
	producer, consumer := newStream(t, d), newStream(t, d)
	full, empty := newEvent(t, d, false), newEvent(t, d, false)
	shared := allocate(t, d, large)
	const rounds = 5
	var results [rounds][]byte
	for i := range results {
		results[i] = pinned(t, d, 4096)
	}
	// One block is used alternately; only the two events keep a fill from overtaking
	// the copy of the round before it.
	for i, result := range results {
		require.NoError(t, d.StreamWaitEvent(producer, empty))
		require.NoError(t, d.MemsetAsync(shared, uint32(i+1), 1, large, producer))
		require.NoError(t, d.EventRecord(full, producer))
		require.NoError(t, d.StreamWaitEvent(consumer, full))
		require.NoError(t, d.CopyToHostAsync(start(result), shared.Add(large-4096), 4096, consumer))
		require.NoError(t, d.EventRecord(empty, consumer))
	}
	require.NoError(t, d.EventSynchronize(empty))
	for i, result := range results {
		requireFilled(t, byte(i+1), result, "round %d", i)
	}
	done, err := d.EventQuery(full)
	require.NoError(t, err)
	assert.True(t, done)
}

func testEventRecordedAnew(t *testing.T, d backend.Device) {
	first, second := newStream(t, d), newStream(t, d)
	e := newEvent(t, d, false)
	p := allocate(t, d, large)
	result := pinned(t, d, 4096)

	require.NoError(t, d.MemsetAsync(p, 1, 1, large, first))
	require.NoError(t, d.EventRecord(e, first))
	require.NoError(t, d.MemsetAsync(p, 2, 1, large, first))
	require.NoError(t, d.EventRecord(e, first))
	require.NoError(t, d.StreamWaitEvent(second, e))
	require.NoError(t, d.CopyToHostAsync(start(result), p.Add(large-4096), 4096, second))
	require.NoError(t, d.StreamSynchronize(second))
	requireFilled(t, 2, result, "the event stands for its last record")

	// A waiter keeps the record that it found. If the second stream waited for the new
	// record, it would wait for itself.
	require.NoError(t, d.MemsetAsync(p, 3, 1, large, first))
	require.NoError(t, d.EventRecord(e, first))
	require.NoError(t, d.StreamWaitEvent(second, e))
	require.NoError(t, d.MemsetAsync(p, 4, 1, large, second))
	require.NoError(t, d.EventRecord(e, second))
	require.NoError(t, d.StreamWaitEvent(first, e))
	require.NoError(t, d.CopyToHostAsync(start(result), p.Add(large-4096), 4096, first))
	require.NoError(t, d.StreamSynchronize(first))
	requireFilled(t, 4, result, "an event used in both directions")
}

func testEventNeverRecorded(t *testing.T, d backend.Device) {
	e, s := newEvent(t, d, true), newStream(t, d)
	done, err := d.EventQuery(e)
	require.NoError(t, err)
	require.True(t, done)
	require.NoError(t, d.EventSynchronize(e))
	require.NoError(t, d.StreamWaitEvent(s, e))
	require.NoError(t, d.StreamSynchronize(s))
	_, err = d.EventElapsed(e, e)
	require.ErrorIs(t, err, backend.ErrInvalidValue)
}

func testEventElapsed(t *testing.T, d backend.Device) {
	s := newStream(t, d)
	begin, end, untimed := newEvent(t, d, true), newEvent(t, d, true), newEvent(t, d, false)
	p := allocate(t, d, large)
	require.NoError(t, d.EventRecord(begin, s))
	require.NoError(t, d.MemsetAsync(p, 1, 1, large, s))
	require.NoError(t, d.EventRecord(end, s))
	require.NoError(t, d.EventRecord(untimed, s))
	require.NoError(t, d.EventSynchronize(end))

	milliseconds, err := d.EventElapsed(begin, end)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, milliseconds, float32(0))
	backwards, err := d.EventElapsed(end, begin)
	require.NoError(t, err)
	assert.LessOrEqual(t, backwards, float32(0))

	require.NoError(t, d.EventSynchronize(untimed))
	_, err = d.EventElapsed(begin, untimed)
	require.ErrorIs(t, err, backend.ErrInvalidValue, "an event without timing")
}

func testEventDestroy(t *testing.T, d backend.Device) {
	first, second := newStream(t, d), newStream(t, d)
	p, result := allocate(t, d, large), pinned(t, d, 4096)
	e, err := d.EventCreate(false)
	require.NoError(t, err)
	require.NoError(t, d.MemsetAsync(p, 6, 1, large, first))
	require.NoError(t, d.EventRecord(e, first))
	require.NoError(t, d.StreamWaitEvent(second, e))
	require.NoError(t, d.EventDestroy(e))
	require.NoError(t, d.CopyToHostAsync(start(result), p.Add(large-4096), 4096, second))
	require.NoError(t, d.StreamSynchronize(second))
	requireFilled(t, 6, result, "a wait outlives its event")
}
