package arrowdev

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// consumerStream returns the stream that the consumer works on, or nil where there
// is none to order by: what the processor reads on the host device.
func consumerStream(dev *device.Device, given *device.Stream) (*device.Stream, error) {
	switch {
	case dev == nil:
		return nil, nil
	case given != nil && !given.Device().Same(dev):
		return nil, faulty("options.Stream", "it belongs to %s, the memory to %s: %w", given.Device(), dev, device.ErrInvalidValue)
	case given != nil:
		return given, nil
	case dev.Kind() == device.Host:
		return nil, nil
	}
	return dev.DefaultStream(), nil
}

// orderAll makes later work on the blocks, freeing them included, wait for what
// is on the consumer's stream now. The stream is not remembered: its owner may
// destroy it.
func orderAll(blocks []*memory.Block, consumer *device.Stream) error {
	if consumer == nil || len(blocks) == 0 {
		return nil
	}
	if done, err := consumer.Done(); done && err == nil {
		return nil // nothing is on it, as a rule
	}
	var failures []error
	for _, block := range blocks {
		if err := orderAfter(block, consumer); err != nil {
			failures = append(failures, err)
		}
	}
	if failures == nil {
		return nil
	}
	if consumer.Synchronize(context.Background()) == nil {
		return nil // what cannot be ordered after the consumer's work is done after it
	}
	return errors.Join(failures...)
}

func orderAfter(block *memory.Block, stream *device.Stream) error {
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
