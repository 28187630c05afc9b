package expr_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// evaluation evaluates two expressions and passes a column on.
func evaluation(onlyHost bool) faulttest.Operation {
	return faulttest.Operation{
		Name: "Evaluate", Says: "expr: evaluate: ", Requests: 1, Cancellable: true,
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			if onlyHost && m.Device().Kind() != device.Host {
				return nil // what passes for a GPU runs no PTX
			}
			table := tableOf(t, m, fromJSON(t, i32, "[1, null, 3]"), fromJSON(t, arrow.PrimitiveTypes.Float64, "[1, 2, 0.5]"))
			expressions := []expr.Expr{a.Mul(b), b, a.IsNull()}
			return func(ctx context.Context) (func(testing.TB), error) {
				columns, err := expr.Evaluate(ctx, table, expressions)
				if err != nil {
					assert.Nil(t, columns)
					return nil, err
				}
				return func(t testing.TB) {
					for i, want := range []string{"[1 (null) 1.5]", "[1 2 0.5]", "[false true false]"} {
						require.Equal(t, want, arrayOf(t, columns[i]).String())
						require.NoError(t, columns[i].Release())
					}
				}, nil
			}
		},
	}
}

func TestFailingAllocations(t *testing.T) { faulttest.EachAllocation(t, evaluation(false)) }

func TestFailingCalls(t *testing.T) { faulttest.EachCall(t, evaluation(true)) }

func TestCancelledCalls(t *testing.T) { faulttest.EachCallCancelled(t, evaluation(true)) }
