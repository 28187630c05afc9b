package device_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

func TestEventMarksWork(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		r := newRelay(t, dev)
		stream, event := newStream(t, dev), newEvent(t, dev)
		for _, ctx := range []context.Context{context.Background(), t.Context()} {
			for range 3 {
				require.NoError(t, r.fill(stream, 1))
				require.NoError(t, event.Record(stream))
				require.NoError(t, event.Wait(ctx))
				done, err := event.Done()
				require.NoError(t, err)
				assert.True(t, done)
				done, err = stream.Done()
				require.NoError(t, err)
				assert.True(t, done, "there was nothing behind the mark")
			}
		}
		require.NoError(t, event.Close())
		require.NoError(t, stream.Close())
	})
}

func TestEventThatWasNeverRecordedIsReached(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		timing, err := dev.NewTimingEvent()
		require.NoError(t, err)
		for _, event := range []*device.Event{newEvent(t, dev), timing} {
			done, err := event.Done()
			require.NoError(t, err)
			assert.True(t, done)
			require.NoError(t, event.Wait(context.Background()))
			require.NoError(t, event.Wait(t.Context()))
			require.NoError(t, dev.DefaultStream().Wait(event))
			require.NoError(t, event.Close())
		}
	})
}

// A handle from the cache may hold the mark of its former event, which the new event
// must ignore.
func TestNewEventDoesNotKnowItsHandlesPast(t *testing.T) {
	dev, fake := openFake(t)
	fake.pending.Store(true)
	former, err := dev.DefaultStream().Record()
	require.NoError(t, err)
	handle := former.Handle()
	require.NoError(t, former.Close())

	event := newEvent(t, dev)
	require.Equal(t, handle, event.Handle())
	done, err := event.Done()
	require.NoError(t, err)
	assert.True(t, done)
	require.NoError(t, event.Wait(t.Context()))
	stream := newStream(t, dev)
	require.NoError(t, stream.Wait(event))
	assert.Zero(t, fake.waits.Load())

	require.NoError(t, event.Record(stream))
	done, err = event.Done()
	require.NoError(t, err)
	assert.False(t, done)
	require.NoError(t, dev.DefaultStream().Wait(event))
	assert.EqualValues(t, 1, fake.waits.Load())
	require.NoError(t, event.Close())
	require.NoError(t, stream.Close())
	require.NoError(t, dev.Close())
}

func TestElapsed(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		r := newRelay(t, dev)
		stream := newStream(t, dev)
		start, err := dev.NewTimingEvent()
		require.NoError(t, err)
		end, err := dev.NewTimingEvent()
		require.NoError(t, err)
		require.NoError(t, start.Record(stream))
		require.NoError(t, r.fill(stream, 1))
		require.NoError(t, end.Record(stream))
		require.NoError(t, end.Wait(t.Context()))
		forward, err := end.Elapsed(start)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, forward, float32(0))

		plain := newEvent(t, dev)
		for _, pair := range [][2]*device.Event{{plain, end}, {end, plain}, {plain, plain}} {
			_, err = pair[0].Elapsed(pair[1])
			require.ErrorIs(t, err, device.ErrInvalidValue)
			require.ErrorContains(t, err, "NewTimingEvent")
		}
		require.NoError(t, plain.Close())
		require.NoError(t, start.Close())
		_, err = end.Elapsed(start)
		require.ErrorIs(t, err, device.ErrClosed)
		_, err = start.Elapsed(end)
		require.ErrorIs(t, err, device.ErrClosed)
		require.NoError(t, end.Close())
		require.NoError(t, stream.Close())
	})
}

func TestClosedEvent(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		timing, err := dev.NewTimingEvent()
		require.NoError(t, err)
		for _, event := range []*device.Event{newEvent(t, dev), timing} {
			require.NoError(t, event.Close())
			require.ErrorIs(t, event.Close(), device.ErrClosed)
			require.ErrorIs(t, event.Record(dev.DefaultStream()), device.ErrClosed)
			require.ErrorIs(t, dev.DefaultStream().Wait(event), device.ErrClosed)
			require.ErrorIs(t, event.Wait(context.Background()), device.ErrClosed)
			require.ErrorIs(t, event.Wait(t.Context()), device.ErrClosed)
			_, err := event.Done()
			require.ErrorIs(t, err, device.ErrClosed)
			require.ErrorContains(t, err, dev.Name())
		}
	})
}

func TestClosedEventsAreUsedAgain(t *testing.T) {
	dev, fake := openFake(t)
	stream := newStream(t, dev)
	for range 500 {
		event, err := stream.Record()
		require.NoError(t, err)
		require.NoError(t, event.Wait(t.Context()))
		require.NoError(t, event.Close())
	}
	assert.EqualValues(t, 1, fake.eventsCreated.Load())
	for range 3 {
		events := make([]*device.Event, 1100)
		for i := range events {
			events[i] = newEvent(t, dev)
		}
		for _, event := range events {
			require.NoError(t, event.Close())
		}
	}
	const cached = 1024
	assert.EqualValues(t, 1100+2*(1100-cached), fake.eventsCreated.Load())
	assert.EqualValues(t, fake.eventsCreated.Load()-cached, fake.eventsDestroyed.Load())
	require.NoError(t, stream.Close())
	require.NoError(t, dev.Close())
	// The stream keeps the mark of its end until it is collected.
	assert.GreaterOrEqual(t, fake.eventsDestroyed.Load(), fake.eventsCreated.Load()-1)
}

func TestTimingEventsAreNotMixedWithOthers(t *testing.T) {
	dev, fake := openFake(t)
	for range 3 {
		event, err := dev.NewTimingEvent()
		require.NoError(t, err)
		require.NoError(t, event.Close())
	}
	assert.EqualValues(t, 3, fake.eventsCreated.Load())
	assert.EqualValues(t, 3, fake.eventsDestroyed.Load())
	require.NoError(t, dev.Close())
}

func TestWaitingForAnEventCanBeGivenUp(t *testing.T) {
	dev, fake := openFake(t)
	event, err := dev.DefaultStream().Record()
	require.NoError(t, err)
	fake.pending.Store(true)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errInjected)
	require.ErrorIs(t, event.Wait(ctx), errInjected)
	fake.pending.Store(false)
	require.NoError(t, event.Wait(context.Background()))
	require.NoError(t, event.Wait(ctx), "it is reached, whatever the context says")
	require.NoError(t, event.Close())
	require.NoError(t, dev.Close())
}

func TestManyGoroutines(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		shared := newStream(t, dev)
		var group errgroup.Group
		for range 8 {
			group.Go(func() error {
				for range 50 {
					stream, err := dev.NewStream()
					if err != nil {
						return err
					}
					if err := shared.WaitStream(stream); err != nil {
						return err
					}
					if err := stream.WaitStream(shared); err != nil {
						return err
					}
					if err := stream.Close(); err != nil {
						return err
					}
					if err := stream.Synchronize(t.Context()); err != nil {
						return err
					}
				}
				return nil
			})
		}
		require.NoError(t, group.Wait())
		require.NoError(t, shared.Synchronize(t.Context()))
		require.NoError(t, shared.Close())
	})
}
