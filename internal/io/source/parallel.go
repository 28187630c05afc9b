package source

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// defaultRows is the number of rows of a table if a request does not give one.
const defaultRows = 1 << 20

// inParallel calls f for 0 to n-1 on several goroutines and returns the error of the
// smallest index that failed. After an error no further calls begin.
func inParallel(ctx context.Context, n int, f func(i int) error) error {
	return concurrently(ctx, n, runtime.GOMAXPROCS(0), f)
}

// concurrently is inParallel on a number of goroutines at most.
func concurrently(ctx context.Context, n, most int, f func(i int) error) error {
	failures := make([]error, n)
	var next atomic.Int64
	var failed atomic.Bool
	work := func() {
		for i := int(next.Add(1)) - 1; i < n && !failed.Load(); i = int(next.Add(1)) - 1 {
			err := cancel.Error(ctx)
			if err == nil {
				err = f(i)
			}
			if failures[i] = err; err != nil {
				failed.Store(true)
			}
		}
	}
	var workers sync.WaitGroup
	for range min(n, most) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}
