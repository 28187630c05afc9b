package expr_test

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/hosteval"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// onArrays evaluates over columns a, b and so on, without a device.
func onArrays(t testing.TB, e expr.Expr, arrays ...arrow.Array) arrow.Array {
	types := make([]arrow.DataType, len(arrays))
	for i, each := range arrays {
		types[i] = each.DataType()
	}
	program := exprtest.Program(t, schemaOf(types...), e)
	inputs := make([]arrow.Array, len(program.Inputs))
	for i, place := range program.Inputs {
		inputs[i] = arrays[place]
	}
	results, err := hosteval.Evaluate(ctx, program, inputs, arrays[0].Len())
	require.NoError(t, err)
	return results[0]
}

// rowsOn returns how many rows are few enough for the device.
func rowsOn(dev *device.Device, most int) int {
	if dev.Kind() == device.CUDA && !devicetest.Emulated(dev) {
		return most
	}
	return 5_003
}

// TestFunctionsAreClose has the functions that devices compute in their own ways
// differ by two units in the last place at most.
func TestFunctionsAreClose(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		rows := rowsOn(dev, 1_000_000)
		for _, dataType := range []arrow.DataType{f32, f64} {
			values := exprtest.NewValues(1)
			x, y := values.Array(dataType, rows), values.Array(dataType, rows)
			table := tableOf(t, mgr, x, y)
			for _, e := range []expr.Expr{a.Exp(), a.Log(), a.Sin(), a.Cos(), a.Pow(b), a.Abs().Pow(expr.Lit(0.5))} {
				got, err := expr.Evaluate(ctx, table, []expr.Expr{e})
				require.NoError(t, err)
				t.Log(e, "of", dataType)
				exprtest.Compare(t, onArrays(t, e, x, y), arrayOf(t, got[0]), 2)
				require.NoError(t, got[0].Release())
			}
		}
	})
}

// TestManyRows goes beyond what one round of a grid takes.
func TestManyRows(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		rows := rowsOn(dev, 10_000_019)
		// Values that take long to make are repeated.
		values := exprtest.NewValues(2)
		repeated := func(dataType arrow.DataType) arrow.Array {
			some := values.Array(dataType, min(rows, 100_003))
			all := make([]arrow.Array, (rows+some.Len()-1)/some.Len())
			for i := range all {
				all[i] = some
			}
			whole, err := array.Concatenate(all, arrowmemory.DefaultAllocator)
			require.NoError(t, err)
			return array.NewSlice(whole, 0, int64(rows))
		}
		x, y := repeated(f32), repeated(i64)
		values.Nulls = arraytest.NoneNull
		z := repeated(f32)
		table := tableOf(t, mgr, x, y, z)
		c := expr.Col("c")
		expressions := []expr.Expr{
			a.Mul(expr.Lit(2)).Add(c).Gt(expr.Lit(1)).And(a.Lt(c)),
			b.Div(expr.Lit(3)).Add(expr.Lit(1)).Mul(b),
			expr.If(b.IsNull(), c, a),
		}
		got, err := expr.Evaluate(ctx, table, expressions)
		require.NoError(t, err)
		for i, e := range expressions {
			exprtest.Compare(t, onArrays(t, e, x, y, z), arrayOf(t, got[i]), 0)
			require.NoError(t, got[i].Release())
		}
	})
}

// TestConcurrentEvaluate shares expressions, tables and compiled kernels between
// goroutines.
func TestConcurrentEvaluate(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		tables := []struct {
			table *buffer.Buffer
			want  string
		}{
			{tableOf(t, mgr, fromJSON(t, i32, "[1, 2]"), fromJSON(t, i32, "[10, 20]")), "[11 22]"},
			{tableOf(t, mgr, fromJSON(t, i64, "[5, null]"), fromJSON(t, i32, "[1, 1]")), "[6 (null)]"},
		}
		sum := a.Add(b)
		var all sync.WaitGroup
		for worker := range 4 {
			random := rand.New(rand.NewPCG(uint64(worker), 0))
			all.Go(func() {
				for range 20 {
					use := tables[random.IntN(2)]
					got, err := expr.Evaluate(ctx, use.table, []expr.Expr{sum})
					if !assert.NoError(t, err) {
						return
					}
					fetched, err := got[0].Array(ctx)
					assert.NoError(t, err)
					assert.Equal(t, use.want, fetched.String())
					assert.NoError(t, got[0].Release())
				}
			})
		}
		all.Wait()
	})
}
