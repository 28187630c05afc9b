package dlpack

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/memory"
)

// consumerStream returns the stream that the other library will work on, or nil
// where there is none to order by: in memory that the processor reads, and where
// the caller sees to the order himself.
func consumerStream(dev *device.Device, kind device.MemoryKind, given *device.Stream, noSync bool) (*device.Stream, error) {
	if given != nil {
		return given, checkStream(dev, given)
	}
	if noSync || dev.Kind() == device.Host || kind != device.MemoryDevice {
		return nil, nil
	}
	return dev.DefaultStream(), nil
}

// producerStream is the same for the stream that the other library has worked on.
// Managed memory is written by the device as a rule, though the processor reads it.
func producerStream(dev *device.Device, kind device.MemoryKind, given *device.Stream, noSync bool) (*device.Stream, error) {
	if kind == device.MemoryManaged {
		kind = device.MemoryDevice
	}
	return consumerStream(dev, kind, given, noSync)
}

func checkStream(dev *device.Device, given *device.Stream) error {
	if given.Device().Same(dev) {
		return nil
	}
	return faulty("options.Stream", "it belongs to %s, the memory to %s: %w", given.Device(), dev, device.ErrInvalidValue)
}

// perThread is CUDA's number of the default stream of the calling thread, which
// for a goroutine, or for a deleter, is a thread of nobody's choice. What is on
// any of these streams comes before what the legacy default stream does next, and
// after what it did last.
const perThread backend.Stream = 2

func isPerThread(stream *device.Stream) bool {
	return stream.Handle() == perThread && stream.Device().Kind() == device.CUDA
}

// settle makes the block's contents ready for the consumer: for work on its
// stream, or at once where it has none.
func settle(ctx context.Context, block *memory.Block, consumer *device.Stream) error {
	if consumer != nil {
		if isPerThread(consumer) {
			consumer = consumer.Device().DefaultStream()
		}
		return block.OrderBefore(consumer)
	}
	if ctx == nil {
		ctx = context.Background()
	}
	return block.Synchronize(ctx)
}

// orderAfter makes later work on the block, freeing it included, wait for what
// is on the other library's stream now. The stream is not remembered, unless it is
// the default one: its owner may destroy it.
func orderAfter(block *memory.Block, stream *device.Stream) error {
	own := block.Stream()
	if isPerThread(stream) {
		return orderAfterThreads(block, own)
	}
	if stream == stream.Device().DefaultStream() && !block.External() {
		// It lasts, and to remember it costs no call. Memory of others is given
		// back with a wait for all that is remembered, so there it would.
		return block.RecordUse(stream)
	}
	if done, err := stream.Done(); done && err == nil {
		return nil // nothing is on it, as a rule
	}
	err := own.WaitStream(stream)
	if errors.Is(err, device.ErrClosed) {
		return block.RecordUse(stream)
	}
	if err != nil {
		return err
	}
	return block.RecordUse(own)
}

// orderAfterThreads orders after the default streams of all threads. A mark on the
// legacy default stream is behind them all; whether that stream is idle tells
// nothing of them.
func orderAfterThreads(block *memory.Block, own *device.Stream) error {
	legacy := own.Device().DefaultStream()
	if own.Equal(legacy) || own.Closed() {
		return waitFor(legacy)
	}
	if err := own.WaitStream(legacy); err != nil {
		return err
	}
	return block.RecordUse(own)
}

// waitFor waits until what is on the other library's stream now is done.
func waitFor(stream *device.Stream) error {
	if isPerThread(stream) {
		stream = stream.Device().DefaultStream()
	}
	return stream.Synchronize(context.Background())
}
