package elementwise

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Number is what [Add] adds. Types made of these are left out, because each
// needs a kernel of its own.
type Number interface {
	float32 | float64 | int64
}

// Add writes a + b to out, element by element. All three are equally long and on
// the stream's device; out may be the same memory as a or b, but must not overlap
// them in part. Integers wrap around. A nil stream is that of out's block.
//
// On a GPU Add enqueues a kernel and returns; the context is not used. On the
// host it waits for what is on the stream, or until the context is done, and
// returns when the sums are there. Work on other streams is not waited for.
func Add[T Number](ctx context.Context, stream *device.Stream, out, a, b memory.Slice[T]) error {
	if err := add(ctx, stream, out, a, b); err != nil {
		return fmt.Errorf("elementwise: add: %w", err)
	}
	return nil
}

func add[T Number](ctx context.Context, stream *device.Stream, out, a, b memory.Slice[T]) error {
	if a.Len() != out.Len() || b.Len() != out.Len() {
		return fmt.Errorf("%d and %d elements into %d: %w", a.Len(), b.Len(), out.Len(), memory.ErrRange)
	}
	if out.Len() == 0 {
		return nil
	}
	for _, block := range []*memory.Block{out.Block(), a.Block(), b.Block()} {
		if err := block.Check(); err != nil {
			return err
		}
	}
	if out.Block().ReadOnly() {
		return fmt.Errorf("the output, %v: %w", out.Block(), memory.ErrReadOnly)
	}
	if stream == nil {
		stream = out.Block().Stream()
	}
	if stream.Device().Kind() == device.Host {
		return addOnHost(ctx, stream, out, a, b)
	}
	return addOnGPU(stream, out, a, b)
}
