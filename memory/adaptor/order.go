package adaptor

import (
	"errors"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// enqueueAfterUses calls f with a stream on which work that f enqueues comes after
// all uses of the memory. It is the memory's stream or, if that stream is closed or
// was destroyed by another library, the default stream. The result is the list of
// further streams for freeing the memory, including the default stream if it was
// used.
func enqueueAfterUses(allocation resource.Allocation, further []*device.Stream, f func(backend.Stream) error) ([]*device.Stream, error) {
	err := enqueueAfter(streamwork.Past(allocation.Stream), further, f)
	if !errors.Is(err, resource.ErrClosed) {
		return further, err
	}
	uses := append(slices.Clone(further), streamwork.Past(allocation.Stream))
	fallback := allocation.Stream.Device().DefaultStream()
	return append(slices.Clone(further), fallback), enqueueAfter(fallback, uses, f)
}

func enqueueAfter(stream *device.Stream, others []*device.Stream, f func(backend.Stream) error) error {
	for _, other := range others {
		if err := stream.WaitStream(other); err != nil {
			return err
		}
	}
	return streamwork.EnqueueUncaptured(stream, f)
}
