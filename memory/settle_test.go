package memory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/stall"
	"github.com/gpuframe/gpuframe/memory"
)

// TestSettle orders streams that read memory: after the writes before it was settled, and not after
// each other. Work that may write waits for all, and ends that the memory is settled.
func TestSettle(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		gates := stall.New(t, dev)
		writer, reader, other := newStream(t, dev), newStream(t, dev), newStream(t, dev)
		block, err := mgr.Allocate(64, memory.AllocateOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, block.Release()) }()
		written := gates.Hold(writer)
		require.NoError(t, block.RecordUse(writer))
		require.NoError(t, block.Settle())
		require.NoError(t, block.OrderRead(reader))
		require.False(t, isDone(t, reader), "a reader does not wait for the work before")
		written.Release()
		require.NoError(t, reader.Synchronize(t.Context()))

		reading := gates.Hold(reader)
		require.NoError(t, block.RecordRead(reader))
		require.NoError(t, block.OrderRead(other))
		require.True(t, isDone(t, other), "readers wait for each other")
		require.NoError(t, block.OrderBefore(other))
		require.False(t, isDone(t, other), "a writer does not wait for readers")
		reading.Release()
		require.NoError(t, other.Synchronize(t.Context()))

		again := gates.Hold(other)
		require.NoError(t, block.RecordUse(other))
		require.NoError(t, block.OrderRead(reader))
		require.False(t, isDone(t, reader), "memory that was written again counts as settled")
		again.Release()
		require.NoError(t, reader.Synchronize(t.Context()))
	})
}

// TestSettleUnmarked settles memory of which the work before cannot be marked, which changes nothing:
// of a stream that its owner has closed, and of another owner that comes later.
func TestSettleUnmarked(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		gates := stall.New(t, dev)
		mine, reader := newStream(t, dev), newStream(t, dev)
		block, err := mgr.Allocate(64, memory.AllocateOptions{Stream: mine})
		require.NoError(t, err)
		closed := gates.Hold(mine)
		require.NoError(t, block.RecordUse(mine))
		require.NoError(t, mine.Close())
		require.NoError(t, block.Settle())
		require.NoError(t, block.OrderRead(reader))
		require.False(t, isDone(t, reader), "a reader does not wait for the closed stream")
		closed.Release()
		require.NoError(t, reader.Synchronize(t.Context()))
		require.NoError(t, block.Release())

		at := devicetest.Foreign(t, dev, make([]byte, 64))
		arriving := gates.Hold(dev.DefaultStream())
		adopted, err := mgr.Adopt(memory.ForeignMemory{Pointer: at, Bytes: 64, Kind: dev.MemoryKind(), Arrival: memory.AfterDefaultStreams})
		require.NoError(t, err)
		late := newStream(t, dev)
		require.NoError(t, adopted.Settle())
		require.NoError(t, adopted.OrderRead(late))
		require.False(t, isDone(t, late), "a reader does not wait for the arrival")
		arriving.Release()
		require.NoError(t, late.Synchronize(t.Context()))
		require.NoError(t, adopted.Release())
	})
}

func newStream(t *testing.T, dev *device.Device) *device.Stream {
	t.Helper()
	stream, err := dev.NewStream()
	require.NoError(t, err)
	t.Cleanup(func() { _ = stream.Close() }) // a test may have closed it
	return stream
}

func isDone(t *testing.T, stream *device.Stream) bool {
	t.Helper()
	done, err := stream.Done()
	require.NoError(t, err)
	return done
}
