package storage

import (
	"context"
	"math"
	"sync"
)

// Each calls f for the numbers below n, atATime of them at a time. It returns the first error.
func Each(ctx context.Context, atATime, n int, f func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	turns := make(chan struct{}, max(1, min(atATime, n, math.MaxInt16)))
	var group sync.WaitGroup
	for i := 0; i < n && ctx.Err() == nil; i++ {
		turns <- struct{}{}
		group.Go(func() {
			defer func() { <-turns }()
			if err := f(ctx, i); err != nil {
				stop(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
