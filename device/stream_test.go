package device_test

import (
	"context"
	"errors"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// relay is memory that one stream fills and another copies out.
type relay struct {
	dev    *device.Device
	memory device.Pointer
	pinned unsafe.Pointer
	bytes  uint64
}

func newRelay(t *testing.T, dev *device.Device) *relay {
	t.Helper()
	r := &relay{dev: dev, bytes: 8 << 20}
	var err error
	r.memory, err = dev.Driver().Alloc(r.bytes)
	require.NoError(t, err)
	r.pinned, err = dev.Driver().HostAlloc(r.bytes)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, dev.Driver().Free(r.memory))
		require.NoError(t, dev.Driver().HostFree(r.pinned))
	})
	return r
}

func (r *relay) fill(stream *device.Stream, value byte) error {
	return stream.Enqueue(func(handle backend.Stream) error {
		return r.dev.Driver().MemsetAsync(r.memory, uint32(value), 1, r.bytes, handle)
	})
}

// requireFetched copies the memory on the stream and requires one value in it.
func (r *relay) requireFetched(t *testing.T, stream *device.Stream, value byte) {
	t.Helper()
	require.NoError(t, stream.Enqueue(func(handle backend.Stream) error {
		return r.dev.Driver().CopyToHostAsync(r.pinned, r.memory, r.bytes, handle)
	}))
	require.NoError(t, stream.Synchronize(t.Context()))
	for i, got := range unsafe.Slice((*byte)(r.pinned), r.bytes) {
		if got != value {
			require.Equal(t, value, got, "byte %d", i)
		}
	}
}

func TestStreamRunsItsWork(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		r := newRelay(t, dev)
		stream := newStream(t, dev)
		assert.Same(t, dev, stream.Device())
		assert.Contains(t, stream.String(), dev.Name())
		for value := range byte(3) {
			require.NoError(t, r.fill(stream, value))
			r.requireFetched(t, stream, value)
			done, err := stream.Done()
			require.NoError(t, err)
			assert.True(t, done)
		}
		require.ErrorIs(t, stream.Enqueue(func(backend.Stream) error { return errInjected }), errInjected)
		require.NoError(t, stream.Close())
	})
}

func TestStreamWaitsForAnother(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		r := newRelay(t, dev)
		for value := range byte(10) {
			first, second := newStream(t, dev), newStream(t, dev)
			require.NoError(t, r.fill(first, value))
			closed := value%2 == 1 // its work goes on
			if closed {
				require.NoError(t, first.Close())
			}
			require.NoError(t, second.WaitStream(first))
			r.requireFetched(t, second, value)
			if !closed {
				require.NoError(t, first.Close())
			}
			require.NoError(t, second.Close())
		}
	})
}

func TestStreamWaitsForAnEvent(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		r := newRelay(t, dev)
		first, second := newStream(t, dev), newStream(t, dev)
		require.NoError(t, r.fill(first, 9))
		event, err := first.Record()
		require.NoError(t, err)
		require.NoError(t, second.Wait(event))
		require.NoError(t, event.Close(), "who waits goes on waiting")
		r.requireFetched(t, second, 9)
		require.NoError(t, first.Close())
		require.NoError(t, second.Close())
	})
}

func TestClosedStream(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		r := newRelay(t, dev)
		stream, other := newStream(t, dev), newStream(t, dev)
		require.NoError(t, r.fill(stream, 5))
		require.NoError(t, stream.Close())
		require.ErrorIs(t, stream.Close(), device.ErrClosed)

		require.ErrorIs(t, stream.Enqueue(func(backend.Stream) error {
			t.Error("the handle is gone")
			return nil
		}), device.ErrClosed)
		_, err := stream.Record()
		require.ErrorIs(t, err, device.ErrClosed)
		require.ErrorIs(t, stream.WaitStream(other), device.ErrClosed)
		event := newEvent(t, dev)
		require.ErrorIs(t, stream.Wait(event), device.ErrClosed)
		require.ErrorIs(t, event.Record(stream), device.ErrClosed)
		require.NoError(t, event.Close())

		require.NoError(t, stream.Synchronize(t.Context()), "its work can be waited for")
		done, err := stream.Done()
		require.NoError(t, err)
		assert.True(t, done)
		r.requireFetched(t, other, 5)
		require.NoError(t, other.Close())
	})
}

func TestDefaultStream(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		r := newRelay(t, dev)
		stream := dev.DefaultStream()
		assert.Same(t, stream, dev.DefaultStream())
		assert.Same(t, stream, dev.WrapStream(0))
		assert.Zero(t, stream.Handle())
		for range 2 {
			require.NoError(t, stream.Close(), "it is the device's")
			require.NoError(t, r.fill(stream, 3))
			r.requireFetched(t, stream, 3)
		}
	})
}

func TestWrappedStream(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		r := newRelay(t, dev)
		handle, err := dev.Driver().StreamCreate() // another library's
		require.NoError(t, err)
		wrapped, again := dev.WrapStream(handle), dev.WrapStream(handle)
		assert.Equal(t, handle, wrapped.Handle())
		assert.True(t, wrapped.Equal(again))
		assert.False(t, wrapped.Equal(dev.DefaultStream()))
		assert.False(t, wrapped.Equal(nil))
		require.NoError(t, wrapped.Close())
		require.NoError(t, wrapped.Close())
		require.NoError(t, r.fill(wrapped, 8))
		r.requireFetched(t, again, 8)
		require.NoError(t, dev.Driver().StreamDestroy(handle))
	})
}

func TestStreamsOfOneHandleNeedNotWait(t *testing.T) {
	dev, fake := openFake(t)
	handle, err := dev.Driver().StreamCreate()
	require.NoError(t, err)
	require.NoError(t, dev.WrapStream(handle).WaitStream(dev.WrapStream(handle)))
	require.NoError(t, dev.DefaultStream().WaitStream(dev.DefaultStream()))
	stream := newStream(t, dev)
	require.NoError(t, stream.WaitStream(stream))
	assert.Zero(t, fake.records.Load())
	assert.Zero(t, fake.waits.Load())
	require.NoError(t, stream.WaitStream(dev.DefaultStream()))
	assert.EqualValues(t, 1, fake.records.Load())
	assert.EqualValues(t, 1, fake.waits.Load())
	require.NoError(t, stream.Close())
	require.NoError(t, dev.Close())
}

// The owner of a handle may destroy it and get the same one again, so a stream
// that was made here equals only itself.
func TestOwnedStreamsEqualThemselvesOnly(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		stream := newStream(t, dev)
		assert.True(t, stream.Equal(stream))
		assert.False(t, stream.Equal(dev.WrapStream(stream.Handle())))
		assert.False(t, dev.WrapStream(stream.Handle()).Equal(stream))
		require.NoError(t, stream.Close())
	})
}

func TestSynchronizingAStreamCanBeGivenUp(t *testing.T) {
	for _, closed := range []bool{false, true} {
		dev, fake := openFake(t)
		stream := newStream(t, dev)
		if closed {
			require.NoError(t, stream.Close())
		}
		fake.pending.Store(true)
		ctx, cancel := context.WithCancelCause(t.Context())
		queries := 0
		fake.onQuery = func() {
			if queries++; queries == 300 { // past those without a pause
				cancel(errInjected)
			}
		}
		require.ErrorIs(t, stream.Synchronize(ctx), errInjected)
		assert.LessOrEqual(t, 300, queries)
		require.ErrorIs(t, stream.Synchronize(ctx), errInjected)
		if closed {
			done, err := stream.Done()
			require.NoError(t, err)
			assert.False(t, done, "closing is not waiting")
		}
		fake.pending.Store(false)
		require.NoError(t, stream.Synchronize(t.Context()))
		require.NoError(t, dev.Close())
	}
}

func TestStreamThatCannotMarkItsEndStaysOpen(t *testing.T) {
	dev, fake := openFake(t)
	stream := newStream(t, dev)
	fake.failRecord.Store(true)
	require.ErrorIs(t, stream.Close(), errInjected)
	_, err := stream.Record()
	require.ErrorIs(t, err, errInjected)
	require.ErrorIs(t, dev.DefaultStream().WaitStream(stream), errInjected)
	assert.Zero(t, fake.streamsDestroyed.Load())
	fake.failRecord.Store(false)
	require.NoError(t, stream.Close())
	assert.EqualValues(t, 1, fake.streamsDestroyed.Load())
	assert.EqualValues(t, 2, fake.eventsCreated.Load(), "one went back to the cache, one is the stream's own")
	require.NoError(t, dev.Close())
}

// The work of a stream that is closed at the wrong moment must not be missed:
// memory that it uses might be freed.
func TestWaitForAStreamThatIsBeingClosed(t *testing.T) {
	dev, fake := openFake(t)
	var events []*device.Event
	for name, wait := range map[string]func(*device.Stream) error{
		"WaitStream":  dev.DefaultStream().WaitStream,
		"Synchronize": func(stream *device.Stream) error { return stream.Synchronize(t.Context()) },
	} {
		stream := newStream(t, dev)
		held, err := stream.Record() // leaves the cache empty
		require.NoError(t, err)
		created := fake.eventsCreated.Load()
		fake.onCreate = func() {
			fake.onCreate = nil
			assert.NoError(t, stream.Close(), name)
		}
		before := fake.waits.Load()
		require.NoError(t, wait(stream), name)
		require.Greater(t, fake.eventsCreated.Load(), created, "it was closed")
		require.ErrorIs(t, stream.Close(), device.ErrClosed, name)
		if name == "WaitStream" {
			assert.Equal(t, before+1, fake.waits.Load())
		}
		events = append(events, held, newEvent(t, dev)) // that of the failed attempt
	}
	for _, event := range events {
		require.NoError(t, event.Close())
	}
	require.NoError(t, dev.Close())
}

func TestCloseWhileOthersEnqueue(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for range 20 {
			stream, other := newStream(t, dev), newStream(t, dev)
			var group errgroup.Group
			for range 4 {
				group.Go(func() error {
					for {
						if err := other.WaitStream(stream); err != nil {
							return err // a closed stream can be waited for
						}
						if err := stream.Synchronize(t.Context()); err != nil {
							return err
						}
						err := stream.Enqueue(func(handle backend.Stream) error {
							_, err := dev.Driver().StreamQuery(handle)
							return err
						})
						if errors.Is(err, device.ErrClosed) {
							return nil
						}
						if err != nil {
							return err
						}
					}
				})
			}
			require.NoError(t, stream.Close())
			require.NoError(t, group.Wait())
			require.NoError(t, other.Close())
		}
	})
}
