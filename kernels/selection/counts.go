package selection

import (
	"context"

	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// count describes a row count on the device that is computed from another one: min(size
// × rows + more, most).
type count struct {
	rows             memory.Slice[int64]
	capacity         int
	size, more, most uint64
}

// counted returns the computed row count, which is empty if c.rows is empty.
func (g *gatherer) counted(c count) (memory.Slice[int64], error) {
	if c.rows.Len() == 0 {
		return c.rows, nil
	}
	buffers, err := g.scratch(8)
	if err != nil || g.estimating() {
		return c.rows, err
	}
	computed, err := memory.Reinterpret[int64](buffers[0])
	if err != nil {
		return c.rows, err
	}
	if g.call.OnHost() {
		return computed, c.onHost(computed)
	}
	return computed, launch(g.call, takeFile, "scale_rows", 1, 1, computed, c.rows, uint64(c.capacity), c.size, c.more, c.most)
}

func (c count) onHost(out memory.Slice[int64]) error {
	rows, err := countOnHost(c.rows, uint64(c.capacity))
	if err != nil {
		return err
	}
	to, err := out.Host()
	if err == nil {
		to[0] = int64(min(rows*c.size+c.more, c.most))
	}
	return err
}

// newGatherer returns the gatherer of a call. The caller releases it.
func newGatherer(ctx context.Context, call *op.Call) *gatherer {
	return &gatherer{ctx: ctx, call: call}
}
