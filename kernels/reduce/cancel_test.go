package reduce_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/memory"
)

// countdown is a context that is cancelled by the n-th call of Err.
type countdown struct {
	context.Context
	left   atomic.Int64
	cancel func()
}

func (c *countdown) Err() error {
	if c.left.Add(-1) == 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// TestCancelledReductions cancels a reduction on the host at each check of its context.
// The error wraps context.Canceled and the cause.
func TestCancelledReductions(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	const rows = 20_000 // several parts
	table := load(t, mgr, rows, arraytest.NewGenerator(1).Array(arrow.PrimitiveTypes.Int32, rows))
	defer func() { require.NoError(t, table.Release()) }()
	cause := errors.New("cause")
	cancelled := 0
	for n := int64(1); ; n++ {
		ctx, cancel := context.WithCancelCause(t.Context())
		c := &countdown{Context: ctx, cancel: func() { cancel(cause) }}
		c.left.Store(n)
		result, err := reduce.Table(c, table, []reduce.Aggregate{reduce.Sum(expr.Col("0").Mul(expr.Lit(2)))})
		cancel(nil)
		if err == nil {
			require.NoError(t, result.Release())
			break
		}
		cancelled++
		require.ErrorIs(t, err, context.Canceled, "place %d", n)
		require.ErrorIs(t, err, cause, "place %d", n)
	}
	require.Greater(t, cancelled, 3)
}
