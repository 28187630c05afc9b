package selection_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// TestFilterSelect selects columns that the predicate reads, and others, in any order.
func TestFilterSelect(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		for _, n := range []int{0, 1, 1000, 3*3584 + 511} {
			b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
				{Name: "a", Type: arrow.PrimitiveTypes.Float64},
				{Name: "b", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
				{Name: "c", Type: arrow.BinaryTypes.String, Nullable: true},
				{Name: "d", Type: arrow.PrimitiveTypes.Int64},
			}, nil))
			defer b.Release()
			r := rand.New(rand.NewPCG(uint64(n), 11))
			for i := range n {
				b.Field(0).(*array.Float64Builder).Append(r.Float64())
				if b.Field(3).(*array.Int64Builder).Append(int64(i)); r.IntN(5) == 0 {
					b.Field(1).AppendNull()
				} else {
					b.Field(1).(*array.Int32Builder).Append(r.Int32N(10))
				}
				b.Field(2).(*array.StringBuilder).Append(fmt.Sprint("text ", i))
			}
			record := b.NewRecord()
			defer record.Release()
			mgr := devicetest.Manager(t, dev, memory.Options{})
			table, err := buffer.FromRecord(mgr, record)
			require.NoError(t, err)
			one := expr.Col("a").Lt(expr.Lit(0.3))
			for _, predicate := range []expr.Expr{one, one.And(expr.Col("b").Gt(expr.Lit(4)))} {
				for _, columns := range [][]string{{"d"}, {"a"}, {"c"}, {"b", "a"}, {"d", "c", "b"}, {"c", "d", "a", "b"}} {
					made, err := selection.FilterSelect(t.Context(), table, predicate, columns)
					require.NoError(t, err)
					all, err := selection.Filter(t.Context(), table, predicate)
					require.NoError(t, err)
					want, err := all.Select(columns...)
					require.NoError(t, err)
					require.NoError(t, all.Release())
					requireEqualRecords(t, want, made)
				}
			}
			_, err = selection.FilterSelect(t.Context(), table, one, nil)
			require.ErrorIs(t, err, device.ErrInvalidValue)
			_, err = selection.FilterSelect(t.Context(), table, one, []string{"e"})
			require.ErrorIs(t, err, buffer.ErrSchema)
			require.NoError(t, table.Release())
		}
	})
}

// requireEqualRecords compares two tables and releases them.
func requireEqualRecords(t *testing.T, want, got *buffer.Buffer) {
	t.Helper()
	expected, err := want.Record(t.Context())
	require.NoError(t, err)
	defer expected.Release()
	record, err := got.Record(t.Context())
	require.NoError(t, err)
	defer record.Release()
	require.Equal(t, expected.Schema().Fields(), record.Schema().Fields())
	require.True(t, array.RecordEqual(expected, record), "%v\n%v", expected, record)
	require.NoError(t, want.Release())
	require.NoError(t, got.Release())
}
