package joins

import (
	"context"
	"errors"
	"time"

	"github.com/gpuframe/gpuframe/memory"
)

// Measure answers a question after one warm-up and returns the fastest time of some rounds,
// and the number of rows.
func (q Question) Measure(ctx context.Context, tables Loaded, mgr *memory.Manager, rounds int) (best time.Duration, rows int64, err error) {
	best = 1 << 62
	for i := range rounds + 1 {
		begin := time.Now()
		answer, err := q.Answer(ctx, tables)
		if err != nil {
			return 0, 0, err
		}
		if err := mgr.Stream().Synchronize(ctx); err != nil {
			return 0, 0, errors.Join(err, answer.Release())
		}
		if i > 0 { // the first call compiles kernels
			best = min(best, time.Since(begin))
		}
		rows, err = answer.NumRows(ctx)
		if err = errors.Join(err, answer.Release()); err != nil {
			return 0, 0, err
		}
	}
	return best, rows, nil
}
