package staging

import (
	"context"

	"github.com/gpuframe/gpuframe/device"
)

// drain makes a staged download. Each worker enqueues the copy of a lot to a chunk,
// waits for it and empties the chunk.
func (e *Engine) drain(ctx context.Context, stream *device.Stream, s *sequence) error {
	step := downloadLot(s.bytes, e.ring.chunkBytes, e.crew.size)
	return e.crew.run(ctx, count(s.bytes, step), func(task int) error {
		position := uint64(task) * step
		return e.receive(ctx, stream, s, position, min(step, s.bytes-position))
	})
}

// receive copies a range of the sequence through a chunk to host memory.
func (e *Engine) receive(ctx context.Context, stream *device.Stream, s *sequence, position, bytes uint64) error {
	ring := e.ringFor(s)
	c, err := ring.take(ctx)
	if err != nil {
		return err
	}
	err = c.enqueue(stream, s, position, bytes, e.device.Driver(), fromDevice)
	if err == nil {
		err = c.event.Wait(ctx)
	}
	if err == nil {
		c.done = true
		s.scatter(c.memory[:bytes], position)
	}
	ring.giveBack(c, stream, err)
	return err
}
