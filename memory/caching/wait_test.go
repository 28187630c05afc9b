package caching_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/caching"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// A request that waits for the device ends with its context, and other requests
// continue meanwhile.
func TestWaitForCachedMemory(t *testing.T) {
	for name, mode := range map[string]caching.SegmentMode{"fixed": caching.FixedSegments, "expandable": caching.ExpandableSegments} {
		t.Run(name, func(t *testing.T) {
			caching.SkipFewAddresses(t, mode)
			dev := devicetest.Open(t, "host")
			pool, err := caching.New(dev, caching.Options{LimitBytes: 100 << 20, Segments: mode})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, pool.Close()) })
			m := devicetest.Manager(t, dev, memory.Options{Budget: 200 << 20, Resource: pool})
			busy, err := dev.NewStream()
			require.NoError(t, err)
			side, err := dev.NewStream()
			require.NoError(t, err)
			var blocks [2]*memory.Block
			for i := range blocks {
				blocks[i], err = m.Allocate(40<<20, memory.AllocateOptions{Stream: busy})
				require.NoError(t, err)
			}
			release := holdStream(t, dev, busy)
			releaseSide := holdStream(t, dev, side)
			require.NoError(t, blocks[1].RecordUse(side)) // one is held, one is free with pending work
			for _, b := range blocks {
				require.NoError(t, b.Release())
			}
			cause := errors.New("the user left")
			ctx, cancel := context.WithCancelCause(t.Context())
			failed := make(chan error, 1)
			go func() {
				_, err := resource.AllocateFrom(ctx, pool, 60<<20, m.Stream())
				failed <- err
			}()
			small, err := m.Allocate(3<<20, memory.AllocateOptions{})
			require.NoError(t, err, "20 MB are free of the limit")
			// Idle fixed segments would first be returned to the driver, which waits
			// for all work of the device to free memory.
			defer func() { require.NoError(t, small.Release()) }()
			cancel(cause)
			err = <-failed
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, err, cause)

			expired, cancelExpired := context.WithTimeout(t.Context(), time.Nanosecond)
			defer cancelExpired()
			_, err = resource.AllocateFrom(expired, pool, 60<<20, m.Stream())
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, pool.PrimeContext(expired, 60<<20), context.DeadlineExceeded)

			got := make(chan *memory.Block, 1)
			go func() {
				b, _ := m.Allocate(60<<20, memory.AllocateOptions{})
				got <- b
			}()
			release()
			releaseSide()
			b := <-got
			require.NotNil(t, b, "without a context the wait ends with the work")
			require.NoError(t, b.Release())
			require.NoError(t, busy.Close())
			require.NoError(t, side.Close())
			require.NoError(t, dev.Synchronize(t.Context()))
		})
	}
}

// holdStream stops a stream until release is called.
func holdStream(t *testing.T, dev *device.Device, stream *device.Stream) (release func()) {
	t.Helper()
	release, err := dev.Driver().(interface {
		HoldStream(backend.Stream) (func(), error)
	}).HoldStream(stream.Handle())
	require.NoError(t, err)
	return release
}
