package groupby

import (
	"context"
	"time"

	"github.com/gpuframe/gpuframe/bench/dbbenchmark/internal/measure"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/memory"
)

// Measure returns the fastest time of some rounds after a warm-up, and the number of groups.
func (q Question) Measure(ctx context.Context, x *buffer.Buffer, mgr *memory.Manager, rounds int) (best time.Duration, groups int64, err error) {
	return measure.Fastest(ctx, mgr, rounds, func() (*buffer.Buffer, error) { return q.Answer(ctx, x) })
}
