package gpuframe_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

// sketched returns rows of a key of 0 to 2, a part, and strings and numbers with repeated values and nulls.
func sketched(t *testing.T, rows int) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}, {Name: "part", Type: arrow.PrimitiveTypes.Int64},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true}}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i % 3))
		b.Field(1).(*array.Int64Builder).Append(int64(i / 3 % 4))
		if i%7 == 0 {
			b.Field(2).AppendNull()
			b.Field(3).AppendNull()
			continue
		}
		b.Field(2).(*array.StringBuilder).Append(fmt.Sprint("value ", i%1000*(i%3)))
		b.Field(3).(*array.Float64Builder).Append(float64(i%500) - 100)
	}
	r := b.NewRecord()
	t.Cleanup(r.Release)
	return r
}

// TestSketchesOfGroups compares estimates with the exact numbers, and merged sketches with those of all rows.
func TestSketchesOfGroups(t *testing.T) {
	record := sketched(t, 6000)
	k, part, s, x, sketch := gpuframe.Col("k"), gpuframe.Col("part"), gpuframe.Col("s"), gpuframe.Col("x"), gpuframe.Col("sketch")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		q := e.Records(nil, record.NewSlice(0, 1000), record.NewSlice(1000, 1001), record.NewSlice(1001, 6000))
		for name, value := range map[string]gpuframe.Expr{"strings": s, "floats": x, "integers": x.Cast(arrow.PrimitiveTypes.Int16)} {
			for _, row := range cells(t, q.GroupBy(k).Agg(value.ApproxCountDistinct().As("n"), value.CountDistinct().As("exact"))) {
				exact := float64(row[2].(int64))
				require.InDelta(t, exact, row[1], math.Max(0.08*exact, 0.5), name)
			}
			whole := q.GroupBy(k).Agg(value.HLLSketch(11).As("sketch")).Sort(k)
			merged := q.GroupBy(k, part).Agg(value.HLLSketch(11).As("sketch")).GroupBy(k).Agg(sketch.HLLMerge()).Sort(k)
			require.Equal(t, cells(t, whole), cells(t, merged), name)
			require.Equal(t, cells(t, q.Select(value.HLLSketch(11).As("sketch"))), cells(t, whole.Select(sketch.HLLMerge())), name)
		}
		require.Equal(t, [][]any{{int64(0), 0.0}}, cells(t, q.Filter(k.Lt(0)).Select(s.ApproxCountDistinct().As("n"), s.HLLSketch(12).HLLEstimate().As("e"))), "no rows")
		require.Equal(t, [][]any{{nil}}, cells(t, q.Filter(k.Lt(0)).Select(s.Unhex().HLLMerge().As("m"))), "no sketches")
		mixed := q.Head(1).Select(s.FillNull("00ff").Unhex().As("sketch"))
		require.Equal(t, [][]any{{nil}}, cells(t, mixed.Select(sketch.HLLEstimate().As("e"))), "other bytes")
	})
}

// TestSketchesRefused tests parameters and types.
func TestSketchesRefused(t *testing.T) {
	record := sketched(t, 10)
	s, x := gpuframe.Col("s"), gpuframe.Col("x")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		for message, refused := range map[string]gpuframe.Expr{
			"lg_k is 3, expected 4 to 21":  x.HLLSketch(3),
			"lg_k is 22, expected 4 to 21": s.HLLSketch(22),
			"expected sketches":            x.HLLMerge(),
			"which are binary":             s.HLLEstimate(),
		} {
			_, err := e.Records(nil, record).Select(refused.As("y")).Schema(t.Context())
			require.ErrorContains(t, err, message)
		}
	})
}
