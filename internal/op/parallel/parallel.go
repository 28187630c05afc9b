// Package parallel divides the rows of an operator on the host among goroutines.
package parallel

import (
	"context"
	"runtime"
	"sync"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// PartRows is the smallest number of rows that is worth a goroutine.
const PartRows = 1 << 14

// Parts returns the number of goroutines for n rows.
func Parts(n int) int { return max(1, min(runtime.GOMAXPROCS(0), n/PartRows)) }

// Split returns the rows of a part of n rows. The parts begin at multiples of 64, so that
// no two of them share a word of a bitmap.
func Split(n, part, parts int) (begin, end int) {
	at := func(part int) int {
		if part == parts {
			return n
		}
		return n / 64 * part / parts * 64
	}
	return at(part), at(part + 1)
}

// Run runs f for each part of n rows, concurrently. It returns an error if the context is
// done, before or after.
func Run(ctx context.Context, n, parts int, f func(part, begin, end int)) error {
	if ctx.Err() != nil {
		return cancel.Error(ctx)
	}
	var workers sync.WaitGroup
	for part := 1; part < parts; part++ {
		begin, end := Split(n, part, parts)
		workers.Go(func() { f(part, begin, end) })
	}
	begin, end := Split(n, 0, parts)
	f(0, begin, end)
	workers.Wait()
	if ctx.Err() != nil {
		return cancel.Error(ctx)
	}
	return nil
}
