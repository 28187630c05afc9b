package dlpack

import (
	"context"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/memory"
)

// consumerStream returns the stream that the other library will work on, or nil if no
// stream is to be ordered: for memory that the processor reads, and if the caller
// orders the work.
func consumerStream(dev *device.Device, kind device.MemoryKind, given *device.Stream, noSync bool) (*device.Stream, error) {
	if given != nil {
		return given, checkStream(dev, given)
	}
	if noSync || dev.Kind() == device.Host || kind != device.MemoryDevice {
		return nil, nil
	}
	return dev.DefaultStream(), nil
}

// producerStream is consumerStream for the stream that the other library has worked
// on. Managed memory is usually written by the device, although the processor can
// access it.
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
	return faulty("options.Stream", "a stream of %s, expected one of %s: %w", given.Device(), dev, device.ErrInvalidValue)
}

// perThread is CUDA's number of the default stream of the calling thread. A goroutine
// and a deleter run on arbitrary threads. Work on any of these streams runs before
// the next work on the legacy default stream, and after the previous work on it.
const perThread backend.Stream = 2

func isPerThread(stream *device.Stream) bool {
	return stream.Handle() == perThread && stream.Device().Kind() == device.CUDA
}

// onDefault reports whether the stream is one of the default streams.
func onDefault(stream *device.Stream) bool {
	return stream.Equal(stream.Device().DefaultStream()) || isPerThread(stream)
}

// makeReady makes the block's contents ready for the consumer: for work on its stream,
// or immediately if it has no stream.
func makeReady(ctx context.Context, block *memory.Block, consumer *device.Stream) error {
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

// recordForeignUse records the other library's pending work as a use of the block.
// The stream still exists, because the caller has named it.
func recordForeignUse(block *memory.Block, stream *device.Stream) error {
	if !isPerThread(stream) {
		return block.RecordUse(stream)
	}
	// An event on the legacy default stream follows the default streams of all
	// threads. Its idleness does not imply theirs.
	legacy, own := stream.Device().DefaultStream(), block.Stream()
	if own.Equal(legacy) || own.Closed() {
		return legacy.Synchronize(context.Background())
	}
	if err := own.WaitStream(legacy); err != nil {
		return err
	}
	return block.RecordUse(own)
}

// orderAfter makes later work on the block, including its free, wait for the work
// that the other library has enqueued. It makes no driver call, so a deleter may call
// it: the owner may have destroyed the stream, and a stream may be captured.
func orderAfter(block *memory.Block, stream *device.Stream) error {
	if streamwork.Foreign(stream) || isPerThread(stream) {
		return block.RecordForeignUse()
	}
	return block.RecordUse(stream)
}
