package group

import (
	"context"
	"runtime"
	"sync"

	"github.com/gpuframe/gpuframe/internal/cancel"
)

// partRows is the smallest number of rows that is worth a goroutine.
const partRows = 1 << 14

// parts returns the number of goroutines for n rows.
func parts(n int) int { return max(1, min(runtime.GOMAXPROCS(0), n/partRows)) }

// inParts runs f for each part of n things, concurrently. The parts begin at multiples of
// 64. It returns an error if the context is done, before or after.
func inParts(ctx context.Context, n, count int, f func(part, begin, end int)) error {
	if ctx.Err() != nil {
		return cancel.Error(ctx)
	}
	at := func(part int) int {
		if part == count {
			return n
		}
		return n / 64 * part / count * 64
	}
	var workers sync.WaitGroup
	for part := 1; part < count; part++ {
		workers.Go(func() { f(part, at(part), at(part+1)) })
	}
	f(0, 0, at(1))
	workers.Wait()
	if ctx.Err() != nil {
		return cancel.Error(ctx)
	}
	return nil
}
