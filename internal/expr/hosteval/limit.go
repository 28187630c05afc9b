package hosteval

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/memory"
)

type limitKey struct{}

// WithLimit returns a context of an evaluation with strings of at most a number of bytes in
// memory that no manager counts. Zero is no limit.
//
// # Errors
//
// An evaluation that exceeds it ends with an error that wraps memory.ErrBudget: fewer rows need less.
func WithLimit(ctx context.Context, bytes uint64) context.Context {
	if bytes == 0 {
		return ctx
	}
	left := new(atomic.Int64)
	left.Store(int64(min(bytes, math.MaxInt64)))
	return context.WithValue(ctx, limitKey{}, left)
}

func bytesLeft(ctx context.Context) *atomic.Int64 {
	left, _ := ctx.Value(limitKey{}).(*atomic.Int64)
	return left
}

// reserve counts the bytes of a string before it is made.
func (e *evaluation) reserve(bytes int) bool {
	if e.failure != nil {
		return false
	}
	if e.left != nil && e.left.Add(-int64(bytes)) < 0 {
		e.fail(fmt.Errorf("the strings take more bytes than the budget: %w", memory.ErrBudget))
		return false
	}
	return true
}
