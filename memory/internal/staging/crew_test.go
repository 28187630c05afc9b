package staging

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/await"
)

func TestCrewDoesEveryTaskOnce(t *testing.T) {
	for _, size := range []int{1, 2, 7} {
		c := crew{size: size}
		for _, tasks := range []int{0, 1, 2, 100} {
			done := make([]atomic.Int32, tasks)
			require.NoError(t, c.run(context.Background(), tasks, func(task int) error {
				done[task].Add(1)
				return nil
			}))
			for task := range done {
				require.EqualValues(t, 1, done[task].Load(), "task %d of %d", task, tasks)
			}
		}
		assert.LessOrEqual(t, c.alive.Load(), int64(size-1))
	}
}

func TestCrewServesSeveralCallers(t *testing.T) {
	c := crew{size: 4}
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for range 200 {
				var done atomic.Int64
				assert.NoError(t, c.run(context.Background(), 10, func(int) error {
					done.Add(1)
					return nil
				}))
				assert.EqualValues(t, 10, done.Load(), "all tasks have ended when run returns")
			}
		})
	}
	callers.Wait()
}

func TestCrewStopsAtTheFirstError(t *testing.T) {
	c := crew{size: 3}
	reason := errors.New("broken")
	var begun atomic.Int64
	err := c.run(context.Background(), 1_000_000, func(task int) error {
		begun.Add(1)
		if task == 5 {
			return reason
		}
		return await.Happens(func() bool { return task < 5 || c.current.Load().failed.Load() })
	})
	require.ErrorIs(t, err, reason)
	assert.LessOrEqual(t, begun.Load(), int64(6+2), "six tasks up to the failure, and one of each other worker")

	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(reason)
	require.ErrorIs(t, c.run(ctx, 3, func(int) error { t.Error("begun after the end"); return nil }), reason)
}

func BenchmarkCrew(b *testing.B) {
	for _, size := range []int{2, 4, 8, 12} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			c := crew{size: size}
			for b.Loop() {
				_ = c.run(context.Background(), 2*size, func(int) error { return nil })
			}
		})
	}
}
