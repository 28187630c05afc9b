// Package measure times the answers of questions.
package measure

import (
	"context"
	"errors"
	"time"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/memory"
)

// Fastest answers a question after one warm-up and returns the fastest time of some rounds,
// and the number of rows.
func Fastest(ctx context.Context, mgr *memory.Manager, rounds int, answer func() (*buffer.Buffer, error)) (best time.Duration, rows int64, err error) {
	best = 1 << 62
	for i := range rounds + 1 {
		begin := time.Now()
		table, err := answer()
		if err != nil {
			return 0, 0, err
		}
		if err := mgr.Stream().Synchronize(ctx); err != nil {
			return 0, 0, errors.Join(err, table.Release())
		}
		if i > 0 { // the first call compiles kernels
			best = min(best, time.Since(begin))
		}
		rows, err = table.NumRows(ctx)
		if err = errors.Join(err, table.Release()); err != nil {
			return 0, 0, err
		}
	}
	return best, rows, nil
}
