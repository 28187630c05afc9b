package dlpack

import (
	"context"

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

// usedBy notes that what the other library's stream has now uses the block. The
// stream still exists: the caller has named it.
func usedBy(block *memory.Block, stream *device.Stream) error {
	if !isPerThread(stream) {
		return block.RecordUse(stream)
	}
	// A mark on the legacy default stream is behind the default streams of all
	// threads. Whether it is idle says nothing of them.
	legacy, own := stream.Device().DefaultStream(), block.Stream()
	if own.Equal(legacy) || own.Closed() {
		return legacy.Synchronize(context.Background())
	}
	if err := own.WaitStream(legacy); err != nil {
		return err
	}
	return block.RecordUse(own)
}

// orderAfter makes later work on the block, freeing it included, wait for what the
// other library has enqueued by now. It makes no call of the driver, so that it suits
// deleters: its owner may have destroyed the stream, and a stream may be captured.
func orderAfter(block *memory.Block, stream *device.Stream) error {
	if stream.Foreign() || isPerThread(stream) {
		return block.RecordForeignUse()
	}
	return block.RecordUse(stream)
}
