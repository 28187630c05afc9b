package gpuframe_test

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// TestPassesKeepResults compares queries with and without the optimizer that it once changed.
func TestPassesKeepResults(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	small, large := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "b", Type: arrow.PrimitiveTypes.Float64, Nullable: true}}, nil),
		arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "v", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil)
	few, many := array.NewRecordBuilder(arrowmemory.DefaultAllocator, small), array.NewRecordBuilder(arrowmemory.DefaultAllocator, large)
	defer few.Release()
	defer many.Release()
	few.Field(0).(*array.Int32Builder).AppendValues([]int32{1, 2, 3, 4, 0}, []bool{true, true, true, true, false})
	few.Field(1).(*array.Float64Builder).AppendValues([]float64{2, 4, 5, 6, 7}, nil)
	for i := range int32(40) {
		many.Field(0).(*array.Int32Builder).Append(i % 3)
		many.Field(1).(*array.Int32Builder).AppendValues([]int32{i}, []bool{i%4 > 0})
	}
	left, right := few.NewRecord(), many.NewRecord()
	defer left.Release()
	defer right.Release()
	a, b, v := gpuframe.Col("a"), gpuframe.Col("b"), gpuframe.Col("v")
	of := e.Records(small, left)
	joined := of.Join(e.Records(large, right), gpuframe.Left, gpuframe.On(a, gpuframe.Col("k")))
	window := func(w gpuframe.Window) gpuframe.Query {
		return of.With(b.Sum().Over(w).As("sum")).Filter(a.Gt(1))
	}
	zero := func(sign float64) gpuframe.Expr {
		return gpuframe.Lit(1.0).Div(b.Mul(0).Mul(gpuframe.Lit(math.Copysign(0, sign)))).Gt(0)
	}
	for name, q := range map[string]gpuframe.Query{
		"computed key of a window":          window(gpuframe.By(a.Mod(2))),
		"computed key of an ordered window": of.With(b.CumSum().Over(gpuframe.By(a.Mod(2)).OrderBy(b)).As("sum")).Filter(a.Gt(1)),
		"renamed key of a window":           window(gpuframe.By(b.As("a"))),
		"groups of rows without a match":    joined.GroupBy(v.IsNull().As("none")).Agg(v.Sum().As("sum"), v.Count().As("n")).Sort(gpuframe.Col("none")),
		"values of rows without a match":    joined.GroupBy(a).Agg(v.FillNull(1000).Sum().As("sum"), v.IsNull().Count().As("n")).Sort(a),
		"sums of terms and constants": of.GroupBy(b.Gt(4).As("g")).Agg(
			gpuframe.Count().As("n"), a.Cast(arrow.PrimitiveTypes.Int64).Add(7).Sum().As("s7"), a.Cast(arrow.PrimitiveTypes.Int64).Sub(9).Sum().As("s9"),
			gpuframe.Lit(1).Sub(a).Sum().As("other"), a.Sum().As("s"), a.Cast(arrow.PrimitiveTypes.Int64).Add(1).Sum().Where(a.Gt(99)).As("none"),
			a.Cast(arrow.PrimitiveTypes.Int64).Add(2).Sum().Where(a.Gt(99)).As("none 2"), a.Cast(arrow.PrimitiveTypes.Int64).Sum().Where(a.Gt(99)).As("none 3")).Sort(gpuframe.Col("g")),
		"conditions on both zeros": of.Filter(zero(1)).Filter(zero(-1)),
	} {
		plain, err := q.Without(t.Context(), plan.Passes()...)
		require.NoError(t, err)
		require.Equal(t, collect(t, plain), collect(t, q), name)
	}
}
