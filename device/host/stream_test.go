package host

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/await"
)

func TestStreamQueryWhileWorkIsUnderWay(t *testing.T) {
	d := open(t)
	s := newTestStream(t, d)
	e := newTestEvent(t, d, true)
	unblock := block(t, d, s)
	require.NoError(t, d.EventRecord(e, s))

	done, err := d.StreamQuery(s)
	require.NoError(t, err)
	assert.False(t, done)
	done, err = d.EventQuery(e)
	require.NoError(t, err)
	assert.False(t, done)
	_, err = d.EventElapsed(e, e)
	assert.ErrorIs(t, err, backend.ErrInvalidValue, "not reached yet")

	unblock()
	require.NoError(t, d.EventSynchronize(e))
	done, err = d.StreamQuery(s)
	require.NoError(t, err)
	assert.True(t, done, "the record was the last step")
	elapsed, err := d.EventElapsed(e, e)
	require.NoError(t, err)
	assert.Zero(t, elapsed)
}

func TestWaitingForAStreamGivesItNoWork(t *testing.T) {
	d := open(t)
	handle := newTestStream(t, d)
	s, err := d.stream("test", handle)
	require.NoError(t, err)
	unblock := block(t, d, handle)
	end := s.tail()
	require.NotNil(t, end)
	assert.Equal(t, int64(1), d.unfinished.Load(), "the blocked step alone")
	unblock()
	end.wait()
	assert.Zero(t, d.unfinished.Load())
	assert.Nil(t, s.tail(), "nothing to wait for")
}

func TestStreamsDoNotWaitForEachOther(t *testing.T) {
	d := open(t)
	busy, free := newTestStream(t, d), newTestStream(t, d)
	block(t, d, busy)
	p := alloc(t, d, 16)
	require.NoError(t, d.MemsetAsync(p, 1, 1, 16, free))
	require.NoError(t, d.StreamSynchronize(free))
	require.NoError(t, d.Memset(p, 2, 1, 16), "nor does work without a stream")
	require.NoError(t, d.FreeAsync(p, free))
}

func TestSynchronousCopyWaitsForTheDefaultStream(t *testing.T) {
	d := open(t)
	unblock := block(t, d, 0)
	p := alloc(t, d, 16)
	require.NoError(t, d.MemsetAsync(p, 1, 1, 16, 0))
	result := make([]byte, 16)
	copied := make(chan error)
	go func() { copied <- d.CopyToHost(start(result), p, 16) }()
	unblock()
	require.NoError(t, <-copied)
	assert.Equal(t, byte(1), result[15])
	require.NoError(t, d.Free(p))
}

func TestEarlierWaitKeepsItsRecord(t *testing.T) {
	d := open(t)
	first, never, waiting := newTestStream(t, d), newTestStream(t, d), newTestStream(t, d)
	e := newTestEvent(t, d, false)
	unblock := block(t, d, first)
	require.NoError(t, d.EventRecord(e, first))
	require.NoError(t, d.StreamWaitEvent(waiting, e))
	block(t, d, never)
	require.NoError(t, d.EventRecord(e, never))

	unblock()
	require.NoError(t, d.StreamSynchronize(waiting), "the record it waits for is reached")
	done, err := d.EventQuery(e)
	require.NoError(t, err)
	assert.False(t, done, "the last record is not")
}

func TestWaitingStreamsHoldNoGoroutine(t *testing.T) {
	d := open(t)
	first := newTestStream(t, d)
	e := newTestEvent(t, d, false)
	unblock := block(t, d, first)
	require.NoError(t, d.EventRecord(e, first))
	before := runtime.NumGoroutine()

	const streams = 1000
	var ran atomic.Int64
	for range streams {
		s := newTestStream(t, d)
		require.NoError(t, d.StreamWaitEvent(s, e))
		run(t, d, s, func() { ran.Add(1) })
	}
	few := func() bool { return runtime.NumGoroutine() < before+streams/10 } // other tests' goroutines end and begin
	await.Until(t, few, "the goroutines of streams that wait have ended")
	assert.Zero(t, ran.Load())
	unblock()
	require.NoError(t, d.Synchronize())
	assert.Equal(t, int64(streams), ran.Load())
	await.Until(t, few, "the goroutines of all streams have ended")
}

func TestDestroyedStreamFinishes(t *testing.T) {
	d := open(t)
	s := newTestStream(t, d)
	unblock := block(t, d, s)
	var ran atomic.Bool
	run(t, d, s, func() { ran.Store(true) })
	require.NoError(t, d.StreamDestroy(s), "returns at once")
	require.ErrorIs(t, d.StreamDestroy(s), backend.ErrInvalidValue)
	require.Len(t, d.everyStream(), 2, "the default stream and the one that has work")

	unblock()
	require.NoError(t, d.Synchronize())
	assert.True(t, ran.Load())
	await.Until(t, func() bool { return len(d.everyStream()) == 1 }, "the destroyed stream is gone")
}

func TestUnknownHandles(t *testing.T) {
	d := open(t)
	s, e := newTestStream(t, d), newTestEvent(t, d, true)
	gone, lost := newTestStream(t, d), newTestEvent(t, d, true)
	require.NoError(t, d.StreamDestroy(gone))
	require.NoError(t, d.EventDestroy(lost))
	p := alloc(t, d, 16)
	defer func() { require.NoError(t, d.Free(p)) }()

	for _, stream := range []backend.Stream{gone, 1 << 30} {
		_, queried := d.StreamQuery(stream)
		_, allocated := d.AllocAsync(16, 0, stream)
		for name, err := range map[string]error{
			"StreamQuery":       queried,
			"StreamSynchronize": d.StreamSynchronize(stream),
			"StreamDestroy":     d.StreamDestroy(stream),
			"StreamWaitEvent":   d.StreamWaitEvent(stream, e),
			"EventRecord":       d.EventRecord(e, stream),
			"AllocAsync":        allocated,
			"FreeAsync":         d.FreeAsync(p, stream),
			"MemsetAsync":       d.MemsetAsync(p, 0, 1, 16, stream),
			"CopyOnDeviceAsync": d.CopyOnDeviceAsync(p, p, 16, stream),
		} {
			assert.ErrorIs(t, err, backend.ErrInvalidValue, "%s on stream %d", name, stream)
		}
	}
	for _, event := range []backend.Event{lost, 0, 1 << 30} {
		_, queried := d.EventQuery(event)
		_, from := d.EventElapsed(event, e)
		for name, err := range map[string]error{
			"EventQuery":       queried,
			"EventElapsed":     from,
			"EventSynchronize": d.EventSynchronize(event),
			"EventRecord":      d.EventRecord(event, s),
			"EventDestroy":     d.EventDestroy(event),
			"StreamWaitEvent":  d.StreamWaitEvent(s, event),
		} {
			assert.ErrorIs(t, err, backend.ErrInvalidValue, "%s of event %d", name, event)
		}
	}
	assert.ErrorIs(t, d.StreamDestroy(0), backend.ErrInvalidValue, "the default stream stays")
}
