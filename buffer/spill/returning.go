package spill

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// returning holds host blocks that are no longer needed, but that a copy may still
// use. A request waits for them only if host memory runs out.
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

// sweep releases all that are idle. It ignores errors of the driver's query, which
// drain will report.
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
	return release.All(idle) // a free may block in the driver
}

// hasBlocks reports whether blocks are left.
func (r *returning) hasBlocks() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.blocks) > 0
}

// drain waits for the current blocks and releases them.
func (r *returning) drain(ctx context.Context) error {
	r.mu.Lock()
	waiting := slices.Clone(r.blocks)
	r.mu.Unlock()
	err := synchronizeAll(ctx, waiting)
	return errors.Join(err, r.sweep())
}
