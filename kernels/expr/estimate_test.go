package expr_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// check compares an estimate with the memory that a run uses. On the host the estimate is
// a bound: it has up to one bitmap more for each output, and pads buffers to 256 bytes.
func check(t *testing.T, dev *device.Device, mgr *memory.Manager, name string, n, outputs int, run func(kernels.Options) (*buffer.Buffer, error)) {
	t.Helper()
	if dev.Kind() == device.Host {
		columntest.CheckBound(t, mgr, name, uint64(outputs*(n/8+3*256)), run)
		return
	}
	columntest.CheckEstimate(t, mgr, name, run)
}

func TestEstimates(t *testing.T) {
	expressions := map[string][]expr.Expr{
		"one":      {a.Add(expr.Lit(1))},
		"several":  {a.Mul(b), a, a.IsNull(), b.Gt(expr.Lit(0)), a.Cast(arrow.PrimitiveTypes.Int16)},
		"passed":   {a, b},
		"literals": {expr.Lit(1), expr.Lit(true)},
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, n := range []int{0, 1, 1000, 10_000} {
			g := arraytest.NewGenerator(3)
			table := tableOf(t, mgr, g.Array(i64, n), g.Array(f32, n))
			for name, list := range expressions {
				check(t, dev, mgr, fmt.Sprintf("%s of %d rows", name, n), n, len(list), func(o kernels.Options) (*buffer.Buffer, error) {
					return expr.Project(ctx, table, list, o)
				})
			}
		}
	})
}

// TestEstimateOfDictionaries has an expression that is computed for the values of a
// dictionary first. The results of that are scratch memory.
func TestEstimateOfDictionaries(t *testing.T) {
	of := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: text}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		const n = 1 << 16 // fewer rows are computed directly
		table := tableOf(t, mgr, arraytest.NewGenerator(3).Array(of, n), arraytest.NewGenerator(4).Array(of, n))
		check(t, dev, mgr, "dictionaries", n, 1, func(o kernels.Options) (*buffer.Buffer, error) {
			return expr.Project(ctx, table, []expr.Expr{a.Eq(expr.Lit("x")).Or(b.HasPrefix(expr.Lit("y")))}, o)
		})
	})
}
