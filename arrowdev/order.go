package arrowdev

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/memory"
)

// consumerStream returns the stream that the consumer works on, or nil if no order is
// needed: on the host device the consumer reads with the processor.
func consumerStream(dev *device.Device, given *device.Stream) (*device.Stream, error) {
	switch {
	case dev == nil:
		return nil, nil
	case given != nil && !given.Device().Same(dev):
		return nil, faulty("options.Stream", "a stream of %s, expected one of %s: %w", given.Device(), dev, device.ErrInvalidValue)
	case given != nil:
		return given, nil
	case dev.Kind() == device.Host:
		return nil, nil
	}
	return dev.DefaultStream(), nil
}

// perThread is CUDA's number of the default stream of the calling thread. Goroutines
// and releases run on arbitrary threads, so no call may use it.
const perThread backend.Stream = 2

func isPerThread(stream *device.Stream) bool {
	return stream.Handle() == perThread && stream.Device().Kind() == device.CUDA
}

// orderAll makes later work on the blocks, including their free, wait for the work
// that the consumer has enqueued. It makes no driver call, so a deleter may call it:
// the consumer may have destroyed its stream.
func orderAll(blocks []*memory.Block, consumer *device.Stream) error {
	if consumer == nil {
		return nil
	}
	var failures []error
	for _, block := range blocks {
		if err := orderAfter(block, consumer); err != nil {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

func orderAfter(block *memory.Block, stream *device.Stream) error {
	if streamwork.Foreign(stream) || isPerThread(stream) {
		return block.RecordForeignUse()
	}
	return block.RecordUse(stream)
}
