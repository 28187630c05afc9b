package elementwise

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Number lists the element types of [Add]. Named types with these underlying types are
// left out, because each would need a separate kernel.
type Number interface {
	float32 | float64 | int64
}

// Add writes a + b to out, element by element. All three have the same length and are
// on the stream's device. out may be the same memory as a or b, but must not overlap
// them partially. Integers wrap around. A nil stream means the stream of out's block.
//
// # Waiting
//
// On a GPU Add enqueues a kernel and returns; it does not use the context. On the host
// it waits for pending work on the stream, or until the context is done, and returns
// when the sums are complete. It does not wait for work on other streams.
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
