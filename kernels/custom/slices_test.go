package custom_test

import (
	"context"
	"database/sql"
	"runtime"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/rows"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/custom"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

type point struct{ A, B int64 }

type pointRow struct {
	N *int64
	P *point
}

// loaded uploads rows to the host.
func loaded(t *testing.T, list []pointRow) *buffer.Buffer {
	record, err := rows.Record(nil, list)
	require.NoError(t, err)
	defer record.Release()
	table, err := buffer.FromRecord(devicetest.Manager(t, devicetest.Hosts(t, 1)[0], memory.Options{}), record)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, table.Release()) })
	return table
}

func TestNullsBesideTimes(t *testing.T) {
	second, fourth := int64(1), int64(3)
	f := custom.OnSlices("at", true, []custom.Argument{custom.ArgumentOf[int64]()}, func(_ context.Context, list []any, results []time.Time) error {
		for i, n := range list[0].([]int64) {
			results[i] = time.Unix(n, 0)
		}
		return nil
	})
	for _, list := range [][]pointRow{{{}, {N: &second}, {}, {N: &fourth}}, {{}, {}}} {
		got, err := evaluate(t, loaded(t, list), expr.Apply(f, expr.Col("N")))
		require.NoError(t, err)
		times, err := rows.Append[*time.Time](nil, got)
		require.NoError(t, err)
		for i, r := range list {
			if r.N == nil {
				require.Nil(t, times[i])
			} else {
				require.Equal(t, *r.N, times[i].Unix())
			}
		}
	}
}

func TestNullsOfNestedArguments(t *testing.T) {
	list := []pointRow{{P: &point{1, 2}}, {}, {P: &point{3, 4}}, {P: &point{5, 6}}, {}, {}, {P: &point{7, 8}}}
	f := custom.OnSlices("sum", true, []custom.Argument{custom.ArgumentOf[point]()}, func(_ context.Context, list []any, results []sql.Null[int64]) error {
		for i, p := range list[0].([]point) {
			results[i] = sql.Null[int64]{V: p.A + p.B, Valid: p.A != 3}
		}
		return nil
	})
	got, err := evaluate(t, loaded(t, list), expr.Apply(f, expr.Col("P")))
	require.NoError(t, err)
	sums, err := rows.Append[*int64](nil, got)
	require.NoError(t, err)
	for i, r := range list {
		if r.P == nil || r.P.A == 3 {
			require.Nil(t, sums[i])
		} else {
			require.Equal(t, r.P.A+r.P.B, *sums[i])
		}
	}
}

func TestFunctionThatEndsItsGoroutine(t *testing.T) {
	f := custom.OnHost("ends", custom.Signature{Arguments: []arrow.DataType{arrow.PrimitiveTypes.Int64}, Result: arrow.PrimitiveTypes.Int64},
		func(context.Context, []arrow.Array) (arrow.Array, error) {
			runtime.Goexit()
			return nil, nil
		})
	_, err := evaluate(t, loaded(t, []pointRow{{}, {}}), expr.Apply(f, expr.Col("N")))
	var failure *custom.Error
	require.ErrorAs(t, err, &failure)
	require.ErrorContains(t, err, "runtime.Goexit")
}

func TestBorrowedResult(t *testing.T) {
	number := int64(1)
	for _, retained := range []bool{true, false} {
		f := custom.OnColumns("same", custom.Signature{Result: arrow.PrimitiveTypes.Int64}, func(_ context.Context, table *buffer.Buffer) (*column.Column, error) {
			if !retained {
				return table.Column(0), nil
			}
			return table.Column(0), table.Column(0).Retain()
		})
		_, err := evaluate(t, loaded(t, []pointRow{{N: &number}, {}}), expr.Apply(f, expr.Col("N")))
		if retained {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, custom.ErrResult)
		require.ErrorContains(t, err, "retains it first")
	}
}
