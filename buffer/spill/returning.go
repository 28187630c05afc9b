package spill

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/gpuframe/gpuframe/memory"
)

// returning are blocks of host memory that are not needed any more, but that a
// copy may still be using. Nobody waits for that until the memory is wanted.
type returning struct {
	mu     sync.Mutex
	blocks []*memory.Block
}

// add takes blocks over, and releases all that are idle.
func (r *returning) add(blocks []*memory.Block) error {
	r.mu.Lock()
	r.blocks = append(r.blocks, blocks...)
	r.mu.Unlock()
	return r.sweep()
}

// sweep releases all that are idle. An error of the driver's, who cannot tell, is
// left to those who wait.
func (r *returning) sweep() error {
	r.mu.Lock()
	var idle []*memory.Block
	r.blocks = slices.DeleteFunc(r.blocks, func(block *memory.Block) bool {
		if isBusy(block) {
			return false
		}
		idle = append(idle, block)
		return true
	})
	r.mu.Unlock()
	return releaseAll(idle) // which may take the driver a while
}

// some reports whether there are any.
func (r *returning) some() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.blocks) > 0
}

// drain waits for the blocks that there are now, and releases them.
func (r *returning) drain(ctx context.Context) error {
	r.mu.Lock()
	waiting := slices.Clone(r.blocks)
	r.mu.Unlock()
	err := synchronizeAll(ctx, waiting)
	return errors.Join(err, r.sweep())
}
