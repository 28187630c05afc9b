package kernels

import (
	"fmt"

	"github.com/gpuframe/gpuframe/memory"
)

// Output marks an argument of [Function.Launch] as memory that the kernel writes to. The
// launch refuses it with an error that wraps memory.ErrReadOnly if the memory's owner
// forbids writing, as for some imported tensors. Otherwise it is passed like the region
// itself.
func Output(region memory.Region) any { return output{region} }

type output struct{ region memory.Region }

func (o output) check() error {
	if o.region == nil {
		return fmt.Errorf("the output is nil: %w", memory.ErrReleased)
	}
	if block := o.region.Block(); block != nil && block.ReadOnly() {
		return fmt.Errorf("the output, %v: %w", block, memory.ErrReadOnly)
	}
	return nil
}
