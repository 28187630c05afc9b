package dlpack

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// peerStream returns the stream that the other library works on, or nil where
// there is none to order by: in memory that the processor reads, and where the
// caller sees to the order himself.
func peerStream(dev *device.Device, kind device.MemoryKind, given *device.Stream, noSync bool) (*device.Stream, error) {
	switch {
	case given != nil && !given.Device().Same(dev):
		return nil, faulty("options.Stream", "it belongs to %s, the memory to %s: %w", given.Device(), dev, device.ErrInvalidValue)
	case given != nil:
		return given, nil
	case noSync || dev.Kind() == device.Host || kind != device.MemoryDevice:
		return nil, nil
	}
	return dev.DefaultStream(), nil
}

// settle makes the block's contents ready for the consumer: for work on its
// stream, or at once where it has none.
func settle(ctx context.Context, block *memory.Block, consumer *device.Stream) error {
	if consumer != nil {
		return block.OrderBefore(consumer)
	}
	if ctx == nil {
		ctx = context.Background()
	}
	return block.Synchronize(ctx)
}

// orderAfter makes later work on the block, freeing it included, wait for what
// is on the other library's stream now. The stream is not remembered: its owner
// may destroy it.
func orderAfter(block *memory.Block, stream *device.Stream) error {
	if done, err := stream.Done(); done && err == nil {
		return nil // nothing is on it, as a rule
	}
	own := block.Stream()
	err := own.WaitStream(stream)
	if errors.Is(err, device.ErrClosed) {
		return block.RecordUse(stream)
	}
	if err != nil {
		return err
	}
	return block.RecordUse(own)
}
