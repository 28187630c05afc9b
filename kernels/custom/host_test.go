package custom_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/custom"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// filtered returns the rows of a condition, of which only the device knows the number.
func filtered(t *testing.T, table *buffer.Buffer, condition expr.Expr) *buffer.Buffer {
	kept, err := selection.Filter(t.Context(), table, condition)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, kept.Release()) })
	return kept
}

// texts describes numbers, null as "none".
func texts(_ context.Context, list []any, results []string) error {
	numbers, names := list[0].([]*float64), list[1].([]bool)
	for i, n := range numbers {
		if n == nil {
			results[i] = fmt.Sprint("none ", names[i])
		} else {
			results[i] = fmt.Sprint(*n, names[i])
		}
	}
	return nil
}

func TestSlices(t *testing.T) {
	f := custom.OnSlices("texts", true, []custom.Argument{custom.ArgumentOf[*float64](), custom.ArgumentOf[bool]()}, texts)
	assert.True(t, f.Pure())
	assert.Equal(t, "Go function", f.Kind())
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, n := range []int{0, 1, 100} {
			loaded, _ := table(t, mgr, n)
			for _, rows := range []*buffer.Buffer{loaded, filtered(t, loaded, expr.Col("b").Gt(expr.Lit(0.0)))} {
				got, err := evaluate(t, rows, expr.Apply(f, expr.Col("a"), expr.Col("t")))
				require.NoError(t, err)
				record, err := rows.Record(t.Context())
				require.NoError(t, err)
				numbers, names := record.Column(0).(*array.Float64), record.Column(2).(*array.Boolean)
				for i := range got.Len() {
					want := ""
					switch {
					case names.IsNull(i):
						assert.True(t, got.IsNull(i))
						continue
					case numbers.IsNull(i):
						want = fmt.Sprint("none ", names.Value(i))
					default:
						want = fmt.Sprint(numbers.Value(i), names.Value(i))
					}
					assert.Equal(t, want, got.(*array.String).Value(i))
				}
				record.Release()
			}
		}
	})
}

func TestResultsCanBeNull(t *testing.T) {
	f := custom.OnSlices("positive", false, []custom.Argument{custom.ArgumentOf[float64]()}, func(_ context.Context, list []any, results []*float64) error {
		for i, x := range list[0].([]float64) {
			if x > 0 {
				results[i] = &x
			}
		}
		return nil
	})
	dev := devicetest.Hosts(t, 1)[0]
	loaded, record := table(t, devicetest.Manager(t, dev, memory.Options{}), 50)
	got, err := evaluate(t, loaded, expr.Apply(f, expr.Col("a")))
	require.NoError(t, err)
	in := record.Column(0).(*array.Float64)
	for i := range in.Len() {
		assert.Equal(t, in.IsValid(i) && in.Value(i) > 0, got.IsValid(i))
	}
}

var errUser = errors.New("no model")

func TestFailures(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		loaded, _ := table(t, mgr, 10)
		run := func(f custom.HostFunc) error {
			_, err := evaluate(t, loaded, expr.Apply(custom.OnHost("model", floats, f), expr.Col("a"), expr.Col("b")))
			var failure *custom.Error
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, "model", failure.Function)
			return err
		}
		assert.ErrorIs(t, run(func(context.Context, []arrow.Array) (arrow.Array, error) { return nil, errUser }), errUser)
		assert.ErrorIs(t, run(func(context.Context, []arrow.Array) (arrow.Array, error) { panic(errUser) }), errUser)
		var thrown *custom.PanicError
		err := run(func(context.Context, []arrow.Array) (arrow.Array, error) { panic("no weights") })
		require.ErrorAs(t, err, &thrown)
		assert.Equal(t, "no weights", thrown.Value)
		assert.Contains(t, string(thrown.Stack), "TestFailures")
		assert.ErrorContains(t, err, "function model: panic: no weights")
		for _, result := range []arrow.Array{nil, (*array.Float64)(nil)} {
			assert.Error(t, run(func(context.Context, []arrow.Array) (arrow.Array, error) { return result, nil }))
		}
		assert.ErrorIs(t, run(func(_ context.Context, list []arrow.Array) (arrow.Array, error) {
			return array.NewSlice(list[0], 1, 3), nil
		}), custom.ErrResult)
		assert.ErrorIs(t, run(func(_ context.Context, list []arrow.Array) (arrow.Array, error) {
			return array.MakeArrayOfNull(arrowmemory.DefaultAllocator, arrow.PrimitiveTypes.Int64, list[0].Len()), nil
		}), custom.ErrResult)
	})
}

func TestHostRunsNoKernels(t *testing.T) {
	dev := devicetest.Hosts(t, 1)[0]
	loaded, _ := table(t, devicetest.Manager(t, dev, memory.Options{}), 3)
	_, err := evaluate(t, loaded, expr.Apply(custom.OnDevice("muladd", floats, custom.Kernel{PTX: muladd, Entry: "muladd"}), expr.Col("a"), expr.Col("b")))
	require.ErrorIs(t, err, device.ErrNotSupported)
	require.ErrorContains(t, err, "open a GPU, or set Host")
}
