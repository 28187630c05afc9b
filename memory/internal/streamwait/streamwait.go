// Package streamwait waits for the work that must complete before memory is freed.
package streamwait

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
)

// All waits for a stream and for the further ones. It takes no context: giving up the
// wait would leak the memory.
func All(stream *device.Stream, further []*device.Stream) error {
	failures := []error{One(context.Background(), stream)}
	for _, other := range further {
		failures = append(failures, One(context.Background(), other))
	}
	return errors.Join(failures...)
}

// One waits for the known work on a stream.
func One(ctx context.Context, stream *device.Stream) error {
	err := streamwork.SynchronizeUncaptured(streamwork.Past(stream), ctx)
	// Waiting for a stream needs an event; waiting for the device does not. If both
	// fail, the device is lost.
	if err != nil && ctx.Err() == nil && stream.Device().Synchronize(ctx) == nil {
		return nil
	}
	return err
}
