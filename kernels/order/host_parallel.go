package order

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

// split returns the rows of a part of n rows. The parts begin at multiples of 64.
func split(n, part, parts int) (begin, end int) {
	at := func(part int) int {
		if part == parts {
			return n
		}
		return n / 64 * part / parts * 64
	}
	return at(part), at(part + 1)
}

// inParts runs f for each part of n rows, concurrently. It returns an error if the
// context is done, before or after.
func inParts(ctx context.Context, n, count int, f func(part, begin, end int)) error {
	if ctx.Err() != nil {
		return cancel.Error(ctx)
	}
	if count == 1 {
		f(0, 0, n)
	} else {
		var workers sync.WaitGroup
		for part := range count {
			begin, end := split(n, part, count)
			workers.Go(func() { f(part, begin, end) })
		}
		workers.Wait()
	}
	if ctx.Err() != nil {
		return cancel.Error(ctx)
	}
	return nil
}
