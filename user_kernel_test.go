package gpuframe_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/kernels/kerneltest"
)

// negatePTX is a kernel that negates 64-bit integers.
const negatePTX = `
.version 7.0
.target sm_70
.address_size 64
.visible .entry negate(.param .u64 out, .param .u64 in, .param .u64 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .b64 %d<9>;
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %ntid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r3, %r0, %r1, %r2;
	cvt.u64.u32 %d0, %r3;
	ld.param.u64 %d1, [n];
	setp.ge.u64 %p0, %d0, %d1;
	@%p0 ret;
	shl.b64 %d2, %d0, 3;
	ld.param.u64 %d3, [in];
	add.u64 %d4, %d3, %d2;
	ld.global.u64 %d5, [%d4];
	neg.s64 %d6, %d5;
	ld.param.u64 %d7, [out];
	add.u64 %d8, %d7, %d2;
	st.global.u64 [%d8], %d6;
	ret;
}
`

// negate is a function of the kernel, and of Go on the host.
var negate = gpuframe.KernelFunc("negate", gpuframe.Signature{
	Arguments: []arrow.DataType{arrow.PrimitiveTypes.Int64}, Result: arrow.PrimitiveTypes.Int64, Pure: true,
}, gpuframe.Kernel{PTX: negatePTX, Entry: "negate", Host: func(_ context.Context, list []arrow.Array) (arrow.Array, error) {
	in, builder := list[0].(*array.Int64), array.NewInt64Builder(arrowmemory.DefaultAllocator)
	defer builder.Release()
	for i := range in.Len() {
		if in.IsNull(i) {
			builder.AppendNull()
		} else {
			builder.Append(-in.Value(i))
		}
	}
	return builder.NewArray(), nil
}})

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
