package elementwise

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/memory"
)

func addOnHost[T Number](ctx context.Context, stream *device.Stream, out, a, b memory.Slice[T]) error {
	for _, s := range []memory.Slice[T]{out, a, b} {
		if dev := s.Block().Device(); !dev.Same(stream.Device()) {
			return fmt.Errorf("the memory is on %s, the stream on %s: %w", dev, stream.Device(), device.ErrInvalidValue)
		}
	}
	// Synchronize would accept a closed stream, which a launch refuses.
	if err := stream.Enqueue(func(backend.Stream) error { return nil }); err != nil {
		return err
	}
	if err := stream.Synchronize(ctx); err != nil {
		return err
	}
	sums, outErr := out.Host()
	left, leftErr := a.Host()
	right, rightErr := b.Host()
	if err := errors.Join(outErr, leftErr, rightErr); err != nil {
		return err
	}
	for i := range sums {
		sums[i] = left[i] + right[i]
	}
	return nil
}
