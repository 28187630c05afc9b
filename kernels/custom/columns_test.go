package custom_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/custom"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// sum adds the arguments on the device.
func sum(ctx context.Context, arguments *buffer.Buffer) (*column.Column, error) {
	columns, err := expr.Evaluate(ctx, arguments, []expr.Expr{expr.Col("0").Add(expr.Col("1"))})
	if err != nil {
		return nil, err
	}
	return columns[0], nil
}

// TestColumns compares a function of columns with an expression, also if only the device knows the rows.
func TestColumns(t *testing.T) {
	f := custom.OnColumns("sum", custom.Signature{Result: arrow.PrimitiveTypes.Float64}, sum)
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		loaded, _ := table(t, mgr, 200)
		for _, rows := range []*buffer.Buffer{loaded, filtered(t, loaded, expr.Col("b").Gt(expr.Lit(0.0)))} {
			got, err := evaluate(t, rows, expr.Apply(f, expr.Col("a"), expr.Col("b")))
			require.NoError(t, err)
			want, err := evaluate(t, rows, expr.Col("a").Add(expr.Col("b")))
			require.NoError(t, err)
			assert.True(t, array.Equal(want, got), "%v\n%v", want, got)
		}
	})
}

func TestColumnFailures(t *testing.T) {
	dev := devicetest.Hosts(t, 1)[0]
	loaded, _ := table(t, devicetest.Manager(t, dev, memory.Options{}), 10)
	run := func(f custom.ColumnFunc) error {
		s := custom.Signature{Arguments: floats.Arguments[:1], Result: arrow.PrimitiveTypes.Float64}
		_, err := evaluate(t, loaded, expr.Apply(custom.OnColumns("model", s, f), expr.Col("a")))
		return err
	}
	part := func(ctx context.Context, e expr.Expr, arguments *buffer.Buffer) (*column.Column, error) {
		columns, err := expr.Evaluate(ctx, arguments, []expr.Expr{e})
		require.NoError(t, err)
		return columns[0], nil
	}
	assert.ErrorIs(t, run(func(context.Context, *buffer.Buffer) (*column.Column, error) { return nil, errUser }), errUser)
	assert.ErrorIs(t, run(func(context.Context, *buffer.Buffer) (*column.Column, error) { panic(errUser) }), errUser)
	assert.ErrorIs(t, run(func(context.Context, *buffer.Buffer) (*column.Column, error) { return nil, nil }), custom.ErrResult)
	assert.ErrorIs(t, run(func(ctx context.Context, b *buffer.Buffer) (*column.Column, error) {
		return part(ctx, expr.Col("0").IsNull(), b)
	}), custom.ErrResult)
	assert.ErrorIs(t, run(func(_ context.Context, b *buffer.Buffer) (*column.Column, error) { return b.Column(0).Slice(1, 3) }), custom.ErrResult)
	assert.ErrorContains(t, run(nil), "the Go function is nil")
}
