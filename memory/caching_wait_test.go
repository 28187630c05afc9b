package memory_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// A request that has to wait for the device ends with its context, and others go on
// meanwhile.
func TestWaitForCachedMemory(t *testing.T) {
	for name, mode := range map[string]memory.SegmentMode{"fixed": memory.FixedSegments, "expandable": memory.ExpandableSegments} {
		t.Run(name, func(t *testing.T) {
			memory.SkipFewAddresses(t, mode)
			dev := devicetest.Open(t, "host")
			pool, err := memory.NewCachingResource(dev, memory.CachingOptions{LimitBytes: 100 << 20, Segments: mode})
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
			require.NoError(t, blocks[1].RecordUse(side)) // one is held, one free in an epoch
			for _, b := range blocks {
				require.NoError(t, b.Release())
			}
			cause := errors.New("the user left")
			ctx, cancel := context.WithCancelCause(t.Context())
			failed := make(chan error, 1)
			go func() {
				_, err := memory.AllocateFrom(ctx, pool, 60<<20, m.Stream())
				failed <- err
			}()
			small, err := m.Allocate(3<<20, memory.AllocateOptions{})
			require.NoError(t, err, "20 MB are free of the limit")
			// Fixed segments that are idle would go back to the driver first, which waits
			// for all of the device's work to free memory.
			defer func() { require.NoError(t, small.Release()) }()
			cancel(cause)
			err = <-failed
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, err, cause)

			expired, cancelExpired := context.WithTimeout(t.Context(), time.Nanosecond)
			defer cancelExpired()
			_, err = memory.AllocateFrom(expired, pool, 60<<20, m.Stream())
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

// A transfer that is given up says so, whatever cause the context has.
func TestCancelledTransfers(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{Budget: 1 << 20})
		s, err := memory.NewSlice[int32](m, 10, memory.AllocateOptions{})
		require.NoError(t, err)
		cause := errors.New("the user left")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		for name, err := range map[string]error{
			"upload":   s.Upload(ctx, nil, make([]int32, 10)),
			"download": s.Download(ctx, nil, make([]int32, 10)),
		} {
			require.ErrorIs(t, err, context.Canceled, name)
			require.ErrorIs(t, err, cause, name)
		}
		require.NoError(t, s.Release())
	})
}
