package group_test

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// manyRows has more rows than those up to which no host waits, and integers with small and
// with large ranges.
func manyRows(n int) arrow.Record {
	r := rand.New(rand.NewPCG(7, 8))
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "small", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "tiny", Type: arrow.PrimitiveTypes.Uint8},
		{Name: "large", Type: arrow.PrimitiveTypes.Int32}, {Name: "none", Type: arrow.PrimitiveTypes.Int16, Nullable: true},
		{Name: "x", Type: arrow.PrimitiveTypes.Float64},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for range n {
		if small := b.Field(0).(*array.Int64Builder); r.IntN(50) == 0 {
			small.AppendNull()
		} else {
			small.Append(-1<<40 + r.Int64N(300))
		}
		b.Field(1).(*array.Uint8Builder).Append(uint8(r.IntN(9)))
		b.Field(2).(*array.Int32Builder).Append(int32(r.IntN(200)) * 10_000_000)
		b.Field(3).AppendNull()
		b.Field(4).(*array.Float64Builder).Append(r.NormFloat64())
	}
	return b.NewRecord()
}

// TestManyRows compares groups that are found by tables of places with those of the host.
func TestManyRows(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	mgr := devicetest.Manager(t, dev, memory.Options{})
	record := manyRows(66_000)
	defer record.Release()
	for i, keys := range [][]string{{"small", "tiny"}, {"tiny", "large"}, {"none"}} {
		if brief(mgr) && i > 0 {
			continue
		}
		var answers []arrow.Record
		for _, m := range []*memory.Manager{host, mgr} {
			table, err := buffer.FromRecord(m, record)
			require.NoError(t, err)
			made, err := group.By(table, group.Columns(keys...)...).Aggregate(t.Context(), []group.Aggregate{
				group.CountAll(), group.Sum(expr.Col("x")), group.Max(expr.Col("large")),
			})
			require.NoError(t, err)
			answers = append(answers, columntest.Fetch(t, made))
			require.NoError(t, table.Release())
		}
		require.True(t, array.RecordEqual(answers[0], answers[1]), "%v", keys)
	}
}
