package memory_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// holdStream blocks the work that is enqueued on a host stream from now on.
func holdStream(t *testing.T, dev *device.Device, stream *device.Stream) (release func()) {
	t.Helper()
	release, err := dev.Driver().(interface {
		HoldStream(backend.Stream) (func(), error)
	}).HoldStream(stream.Handle())
	require.NoError(t, err)
	return release
}

// Reused memory is written on a stream other than its own. Pending work of the
// previous use must not overwrite the new contents.
func TestWritesComeAfterPendingWork(t *testing.T) {
	const n = 1024
	for name, write := range map[string]func(ctx context.Context, s memory.Slice[int32], on *device.Stream) error{
		"Upload": func(ctx context.Context, s memory.Slice[int32], on *device.Stream) error {
			return s.Upload(ctx, on, sevens(n))
		},
		"UploadPadded": func(ctx context.Context, s memory.Slice[int32], on *device.Stream) error {
			return s.UploadPadded(ctx, on, sevens(n/2), 7)
		},
		"Fill": func(_ context.Context, s memory.Slice[int32], on *device.Stream) error { return s.Fill(on, 7) },
		"CopyFrom": func(ctx context.Context, s memory.Slice[int32], on *device.Stream) error {
			source, err := memory.NewSlice[int32](s.Block().Manager(), n, memory.AllocateOptions{Stream: on})
			if err != nil {
				return err
			}
			return errors.Join(source.Upload(ctx, nil, sevens(n)), s.CopyFrom(on, source), source.Release())
		},
		"Batch": func(ctx context.Context, s memory.Slice[int32], on *device.Stream) error {
			var batch memory.Batch
			return errors.Join(memory.AddUpload(&batch, s, sevens(n)), batch.Run(ctx, on))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dev := devicetest.Open(t, "host")
			m := devicetest.Manager(t, dev, memory.Options{Budget: 1 << 20})
			side, err := dev.NewStream()
			require.NoError(t, err)
			former, err := memory.NewSlice[int32](m, n, memory.AllocateOptions{})
			require.NoError(t, err)
			release := holdStream(t, dev, m.Stream())
			require.NoError(t, former.Fill(nil, -1))
			require.NoError(t, former.Release())

			s, err := memory.NewSlice[int32](m, n, memory.AllocateOptions{})
			require.NoError(t, err)
			done := make(chan error, 1)
			go func() { done <- write(context.Background(), s, side) }()
			go release()
			require.NoError(t, <-done)
			require.NoError(t, dev.Synchronize(t.Context()))
			got := make([]int32, n)
			require.NoError(t, s.Download(t.Context(), nil, got))
			require.Equal(t, sevens(n), got)
			require.NoError(t, s.Release())
			require.NoError(t, side.Close())
		})
	}
}

// A read on another stream sees the writes that were enqueued before it.
func TestReadsComeAfterPendingWork(t *testing.T) {
	const n = 1024
	for name, read := range map[string]func(t *testing.T, s memory.Slice[int32], on *device.Stream, got []int32){
		"Download": func(t *testing.T, s memory.Slice[int32], on *device.Stream, got []int32) {
			assert.NoError(t, s.Download(t.Context(), on, got))
		},
		"CopyFrom": func(t *testing.T, s memory.Slice[int32], on *device.Stream, got []int32) {
			target, err := memory.NewSlice[int32](s.Block().Manager(), n, memory.AllocateOptions{Stream: on})
			assert.NoError(t, err)
			assert.NoError(t, target.CopyFrom(nil, s))
			assert.NoError(t, target.Download(t.Context(), nil, got))
			assert.NoError(t, target.Release())
		},
		"Batch": func(t *testing.T, s memory.Slice[int32], on *device.Stream, got []int32) {
			var batch memory.Batch
			assert.NoError(t, memory.AddDownload(&batch, s, got))
			assert.NoError(t, batch.Run(t.Context(), on))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dev := devicetest.Open(t, "host")
			m := devicetest.Manager(t, dev, memory.Options{Budget: 1 << 20})
			own, err := dev.NewStream()
			require.NoError(t, err)
			side, err := dev.NewStream()
			require.NoError(t, err)
			s, err := memory.NewSlice[int32](m, n, memory.AllocateOptions{Stream: own})
			require.NoError(t, err)
			require.NoError(t, s.Fill(nil, 1))
			require.NoError(t, dev.Synchronize(t.Context()))
			release := holdStream(t, dev, own)
			require.NoError(t, s.Fill(nil, 7))
			got := make([]int32, n)
			done := make(chan struct{})
			go func() {
				defer close(done)
				read(t, s, side, got)
			}()
			go release()
			<-done
			require.Equal(t, sevens(n), got)
			require.NoError(t, s.Release())
			require.NoError(t, own.Close())
			require.NoError(t, side.Close())
		})
	}
}

// An unordered slice waits for nothing.
func TestUnordered(t *testing.T) {
	dev := devicetest.Open(t, "host")
	m := devicetest.Manager(t, dev, memory.Options{Budget: 1 << 20})
	side, err := dev.NewStream()
	require.NoError(t, err)
	s, err := memory.NewSlice[int32](m, 100, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, s.Fill(nil, 7))
	require.NoError(t, m.Stream().Synchronize(t.Context()))
	release := holdStream(t, dev, m.Stream())
	require.NoError(t, s.Block().RecordUse(nil))
	half, err := s.Unordered().Slice(0, 50)
	require.NoError(t, err)
	got := make([]int32, 50)
	require.NoError(t, half.Download(t.Context(), side, got), "it would wait for ever")
	require.Equal(t, sevens(50), got)
	bytes, err := memory.Reinterpret[uint8](s.Unordered())
	require.NoError(t, err)
	require.NoError(t, bytes.AsBytes().Download(t.Context(), side, make([]uint8, 400)))
	release()
	require.NoError(t, s.Release())
	require.NoError(t, side.Close())
}

func TestOrderBeforeNoStream(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{Budget: 1 << 20})
		b, err := m.Allocate(100, memory.AllocateOptions{})
		require.NoError(t, err)
		require.ErrorIs(t, b.OrderBefore(nil), device.ErrInvalidValue)
		require.NoError(t, b.Release())
	})
}

func sevens(n int) []int32 {
	values := make([]int32, n)
	for i := range values {
		values[i] = 7
	}
	return values
}

func TestAllocateOnAClosedStream(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{Budget: 1 << 20})
		closed, err := dev.NewStream()
		require.NoError(t, err)
		require.NoError(t, closed.Close())
		_, err = m.Allocate(100, memory.AllocateOptions{Stream: closed})
		require.ErrorIs(t, err, memory.ErrClosed)
		require.Zero(t, m.Stats().InUse)
	})
}
