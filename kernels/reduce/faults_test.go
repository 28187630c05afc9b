package reduce_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/memory"
)

// reductions are reductions of one part of the rows, and of several parts, which use
// scratch memory.
func reductions() []faulttest.Operation {
	operation := func(name string, n, requests int) faulttest.Operation {
		return faulttest.Operation{
			Name: name, Says: "reduce", Requests: requests, Cancellable: true, Waits: true,
			Kernels: map[string]launchtest.Kernel{"reduce": {}},
			Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
				if n > 1000 && m.Device().Kind() == device.Host {
					return nil // as with few rows: only kernels use scratch memory
				}
				a := values(arraytest.NewGenerator(1), arrow.PrimitiveTypes.Float64, n)
				defer a.Release()
				table := load(t, m, n, a)
				t.Cleanup(func() { require.NoError(t, table.Release()) })
				aggregates := []reduce.Aggregate{reduce.Sum(expr.Col("0")), reduce.Max(expr.Col("0")).Where(expr.Col("0").Gt(expr.Lit(1)))}
				return func(ctx context.Context) (func(testing.TB), error) {
					result, err := reduce.Table(ctx, table, aggregates)
					if err != nil {
						return nil, err
					}
					return func(t testing.TB) {
						require.Equal(t, 2, result.NumColumns())
						require.NoError(t, result.Release())
					}, nil
				}
			},
		}
	}
	return []faulttest.Operation{operation("reduce few rows", 100, 1), operation("reduce many rows", 10_000, 2)}
}

func TestEveryAllocationFails(t *testing.T) { faulttest.EachAllocation(t, reductions()...) }

func TestEveryDriverCallFails(t *testing.T) { faulttest.EachCall(t, reductions()...) }

func TestTheDeviceIsLostAtEveryDriverCall(t *testing.T) { faulttest.EachCallLost(t, reductions()...) }

func TestTheContextEndsAtEveryDriverCall(t *testing.T) {
	faulttest.EachCallCancelled(t, reductions()...)
}
