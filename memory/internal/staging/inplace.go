package staging

import (
	"context"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

// write gathers a sequence into memory that the processor can access, after the
// stream's work has completed.
func (e *Engine) write(ctx context.Context, stream *device.Stream, s *sequence) error {
	return e.inPlace(ctx, stream, s, func(each stretch) {
		each.gather(each.memory(), each.offset, through)
	})
}

// read scatters a sequence from memory that the processor can access, after the
// stream's work has completed.
func (e *Engine) read(ctx context.Context, stream *device.Stream, s *sequence) error {
	return e.inPlace(ctx, stream, s, func(each stretch) {
		each.scatter(each.memory(), each.offset)
	})
}

func (e *Engine) inPlace(ctx context.Context, stream *device.Stream, s *sequence, do func(each stretch)) error {
	if s.bytes == 0 {
		return nil
	}
	if err := stream.Synchronize(ctx); err != nil {
		return err
	}
	step := portionBytes(s.bytes, e.crew.enough(s.bytes))
	return e.crew.run(ctx, count(s.bytes, step), func(task int) error {
		position := uint64(task) * step
		for each := range s.within(position, min(step, s.bytes-position)) {
			do(each)
		}
		return nil
	})
}

// memory returns the stretch's bytes. The processor must be able to access them.
func (s stretch) memory() []byte { return address.Bytes(s.base.Add(s.offset), s.bytes) }
