package gpuframe_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/kernels/kerneltest"
)

func TestKernelsInQueries(t *testing.T) {
	record := counting(t, 300)
	id := gpuframe.Col("id")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		rows := e.Records(nil, record.NewSlice(0, 1), record.NewSlice(1, 200), record.NewSlice(200, 300))
		odd := gpuframe.If(id.Mod(2).Eq(1), id, nil)
		for name, query := range map[string]func(negated func(x gpuframe.Expr) gpuframe.Expr) gpuframe.Query{
			"rows": func(n func(gpuframe.Expr) gpuframe.Expr) gpuframe.Query { return rows.With(n(odd).As("x")) },
			"filtered": func(n func(gpuframe.Expr) gpuframe.Expr) gpuframe.Query {
				return rows.Filter(id.Gt(100), n(id).Gt(-120))
			},
			"groups": func(n func(gpuframe.Expr) gpuframe.Expr) gpuframe.Query {
				return rows.GroupBy(n(id.Mod(4)).As("k")).Agg(n(id).Sum().As("s")).Sort(gpuframe.Col("k"))
			},
		} {
			got, want := query(func(x gpuframe.Expr) gpuframe.Expr { return negate.Of(x) }), query(gpuframe.Expr.Neg)
			require.Equal(t, lines(t, want), lines(t, got), name)
		}
		plan, err := rows.Select(negate.Of(id)).Explain(t.Context())
		require.NoError(t, err)
		require.Contains(t, plan, "call CUDA kernel negate(id), pure")
	})
}

// TestKernelFaultsInQueries runs on the emulator alone: a fault makes a GPU unusable for its process.
func TestKernelFaultsInQueries(t *testing.T) {
	e := engineOn(t, kerneltest.Open(t, kerneltest.Options{Tolerant: true}))
	rows := e.Records(nil, counting(t, 300))
	short := gpuframe.Signature{Arguments: []arrow.DataType{arrow.PrimitiveTypes.Int64}, Result: arrow.PrimitiveTypes.Int64}
	for text, k := range map[string]gpuframe.Kernel{
		"negation":   {PTX: negatePTX, Entry: "negation"},
		"no version": {PTX: "no version", Entry: "negate"},
		"argument":   {PTX: negatePTX, Entry: "negate"},
	} {
		s := short
		s.SeesNulls = text == "argument"
		_, err := rows.Select(gpuframe.KernelFunc("f", s, k).Of(gpuframe.Col("id"))).Collect(t.Context())
		var failure *gpuframe.FunctionError
		require.ErrorAs(t, err, &failure, text)
		require.Equal(t, "f", failure.Function)
		if text == "negation" {
			require.ErrorIs(t, err, gpuframe.ErrKernelEntry)
		}
	}
}
